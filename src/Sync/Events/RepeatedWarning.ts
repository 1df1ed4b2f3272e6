import { Effect } from "effect"
import { inOneLine } from "../../Common/Text.ts"
import { steadyMillis } from "../../Common/Time.ts"

/** Milliseconds. */
const quiet = 60_000

/** Warns once a minute of failures for the same reason, or an outage of a night would fill the log. */
export const warnEachMinute = (textOf: (why: string) => string) => {
  let last = { text: "", at: Number.NEGATIVE_INFINITY }
  return ({ message }: { readonly message: string }): Effect.Effect<void> =>
    Effect.flatMap(steadyMillis, (now) => {
      const text = textOf(inOneLine(message))
      if (text === last.text && now - last.at < quiet) return Effect.logDebug(text)
      last = { text, at: now }
      return Effect.logWarning(text)
    })
}
