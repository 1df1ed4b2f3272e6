/**
 * What a process that asks alone has learned of a service's limit, for the next one: where a limit is known, it begins below that
 * instead of running into it anew, which costs a refusal and a second's pause each time.
 */
import type { Effect } from "effect"
import type { RateState } from "./RateState.ts"
import { Rate, safely } from "./RequestRate.ts"

export interface PaceMemory {
  /** What was kept last; null: nothing, or it cannot be read. */
  readonly known: Effect.Effect<RateState | null>
  readonly keep: (learned: RateState) => Effect.Effect<void>
}

/** Requests a second: whoever refuses even this refuses for another reason than its limit, which a restart forgets. */
const lowestLimit = 1

/**
 * Only a limit is worth remembering that the rate has come close to again: one that was just met is a guess yet, and a service that
 * never refused is approached slowly each time.
 */
const isWorthKeeping = ({ bad, rate }: RateState): boolean =>
  bad !== null && bad >= lowestLimit && rate >= safely * bad

/** The rate that a process begins with. What was of another time, and of another clock, is left out. */
export const resumed = (known: RateState | null, startRate: number, allowed: number | null): Rate => {
  if (known === null || !isWorthKeeping(known)) return Rate.starting(startRate, allowed)
  const { current } = Rate.starting(startRate)
  const { bad, betweenProbes, climbed, rate, successes } = known
  return Rate.of(
    { ...current, bad, betweenProbes, climbed, rate, successes, allowed: known.allowed },
    allowed,
  )
}

/** What to keep of it, where that is anything new. */
export const news = (learned: RateState, known: RateState | null): RateState | null =>
  isWorthKeeping(learned) && (learned.rate !== known?.rate || learned.successes !== known.successes)
    ? learned
    : null
