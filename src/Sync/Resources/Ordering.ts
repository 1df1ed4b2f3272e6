/** How a list is ordered by creation time. The interface does not say, so it is learned from the list itself. */
import { Option } from "effect"
import { byInstant } from "../../Common/Time.ts"
import type { Instant } from "../../Partner/Instant.ts"
import type { Ordering } from "../Statements/Checkpoint.ts"

/** The ordering that items show, given what earlier pages showed and the creation time of the last item before them. */
export const orderingOf = (
  before: Option.Option<Ordering>,
  lastCreatedAt: Option.Option<Instant>,
  created: ReadonlyArray<Instant>,
): Option.Option<Ordering> => {
  let ordering = before
  let previous = Option.getOrNull(lastCreatedAt)
  for (const instant of created) {
    if (previous !== null && instant !== previous) {
      const shown: Ordering = byInstant(instant, previous) > 0 ? "oldest-first" : "newest-first"
      if (Option.isNone(ordering)) ordering = Option.some(shown)
      else if (ordering.value !== shown) return Option.some("unordered")
    }
    previous = instant
  }
  return ordering
}
