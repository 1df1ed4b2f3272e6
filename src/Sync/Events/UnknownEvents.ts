/** Logs events that name nothing known or were left to the next sync, so that none is finished silently. */
import { Effect, Option } from "effect"
import { count } from "../../Common/Text.ts"
import type { WaitingEvent } from "../../Webhook/Inbox.ts"
import type { Hint } from "./EventHint.ts"

interface Hinted {
  readonly event: WaitingEvent
  readonly hint: Hint
}

/** How many kinds of events, or reasons, are logged one by one. */
const mostListed = 10

/** The note that the inbox keeps with the event. */
export const noteOf = ({ unknown }: Hint): Option.Option<string> =>
  Option.map(unknown, (why) => `${why}: everything new was looked at`)

/** One line for each type, whose first event it names; the type is the service's own. */
export const tellUnknown = Effect.fn("Events.tellUnknown")(function* (hinted: ReadonlyArray<Hinted>) {
  const kinds = new Map<string, { readonly first: Hinted; readonly why: string; events: number }>()
  for (const one of hinted) {
    if (Option.isNone(one.hint.unknown)) continue
    const kind = kinds.get(one.event.type)
    if (kind === undefined) kinds.set(one.event.type, { first: one, why: one.hint.unknown.value, events: 1 })
    else kind.events += 1
  }
  const listed = [...kinds.values()].slice(0, mostListed)
  for (const { events, first, why } of listed) {
    const others = events === 1 ? "" : ` and ${count(events - 1)} more like it`
    yield* Effect.logInfo(
      `Event ${first.event.eventId} of type ${first.event.type}${others}: ${why}; everything new was looked at.`,
    )
  }
  if (kinds.size > listed.length)
    yield* Effect.logInfo(
      `Events of ${count(kinds.size - listed.length)} more types name nothing that is known; tieout webhook events lists them.`,
    )
})

/** One line for each reason, with the first event that was left to the next sync for it. */
export const tellLeft = Effect.fn("Events.tellLeft")(function* (
  left: ReadonlyArray<Hinted & { readonly note: Option.Option<string> }>,
) {
  const reasons = new Map<string, Array<Hinted>>()
  for (const one of left) {
    const reason = Option.getOrElse(one.note, () => "")
    const others = reasons.get(reason)
    if (others === undefined) reasons.set(reason, [one])
    else others.push(one)
  }
  for (const [reason, [first, ...others]] of [...reasons].slice(0, mostListed)) {
    if (first === undefined) continue
    const more = others.length === 0 ? "" : ` and ${count(others.length)} more like it`
    yield* Effect.logInfo(`Event ${first.event.eventId} of type ${first.event.type}${more}: ${reason}.`)
  }
})
