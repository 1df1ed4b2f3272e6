/** The token of the status page, required where others can reach it. */
import { Option } from "effect"
import { isLoopback } from "./Loopback.ts"
import type { Mistake } from "./Mistake.ts"

/** Characters: a shorter token could be guessed. */
const leastToken = 16

/** What is wrong with the token, which no message repeats. */
export const tokenMistakes = (token: Option.Option<string>, host: string): ReadonlyArray<Mistake> => {
  const path = ["TIEOUT_STATUS_TOKEN"]
  if (Option.isNone(token)) {
    return isLoopback(host)
      ? []
      : [
          {
            path,
            text: `is not set, but status.host is ${host}: whoever can reach it must show a token`,
          },
        ]
  }
  return token.value.length < leastToken || /[^\x21-\x7e]/.test(token.value)
    ? [{ path, text: `expected at least ${leastToken} letters, digits and signs without a space` }]
    : []
}
