/** Logs repeated failures. */
import { Clock, Effect } from "effect"

/** Warns once a minute of failures for the same reason, or an outage of a night would fill the log. */
export const warnEachMinute = (textOf: (why: string) => string) => {
  let last = { text: "", at: Number.NEGATIVE_INFINITY }
  return ({ message }: { readonly message: string }): Effect.Effect<void> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const text = textOf(message)
      if (text === last.text && now - last.at < 60_000) return Effect.logDebug(text)
      last = { text, at: now }
      return Effect.logWarning(text)
    })
}
