/** Notes events that name nothing known, and logs those and what was left to the next sync, so that none is finished silently. */
import { Effect, Option } from "effect"
import type { Book } from "../../Book.ts"
import { count } from "../../Common/Text.ts"
import type { WaitingEvent } from "../../Webhook/Inbox.ts"
import type { Hint } from "./EventHint.ts"

/** How many kinds of events are logged one by one. */
const mostListed = 10

/** Of an event that names nothing known: the note that the inbox keeps with it. Only its own book was looked at. */
export const noteOf = ({ unknown }: Hint, { code }: Book): Option.Option<string> =>
  Option.map(unknown, (why) => `${why}: everything new of book ${code} was looked at`)

/**
 * One line for each type and note, with the first such event; events without a note are what they seem. The type is the
 * service's own.
 */
export const tellNotes = Effect.fn("Events.tellNotes")(function* (
  noted: ReadonlyArray<{ readonly event: WaitingEvent; readonly note: Option.Option<string> }>,
) {
  const kinds = new Map<string, { readonly first: WaitingEvent; readonly note: string; events: number }>()
  for (const { event, note } of noted) {
    if (Option.isNone(note)) continue
    const key = `${event.type}\n${note.value}`
    const kind = kinds.get(key)
    if (kind === undefined) kinds.set(key, { first: event, note: note.value, events: 1 })
    else kind.events += 1
  }
  const listed = [...kinds.values()].slice(0, mostListed)
  for (const { events, first, note } of listed) {
    const others = events === 1 ? "" : ` and ${count(events - 1)} more like it`
    yield* Effect.logInfo(`Event ${first.eventId} of type ${first.type}${others}: ${note}.`)
  }
  if (kinds.size > listed.length)
    yield* Effect.logInfo(
      `Events of ${count(kinds.size - listed.length)} more kinds have notes; tieout webhook events lists them.`,
    )
})
