/** The token of the status page, required where others can reach it. */
import { Option } from "effect"
import { isLoopback } from "./Loopback.ts"
import type { Mistake } from "./Mistake.ts"

/** A token with fewer random bits could be guessed. */
const leastBits = 128

/** The bits per character of a random token over these characters; a token of few different ones is not random. */
const alphabets: ReadonlyArray<readonly [characters: RegExp, bits: number]> = [
  [/^\d+$/, Math.log2(10)],
  [/^[0-9a-f]+$|^[0-9A-F]+$/, 4],
  [/^[a-z]+$|^[A-Z]+$/, Math.log2(26)],
  [/^[a-z0-9]+$|^[A-Z0-9]+$/, Math.log2(36)],
  [/^[\x21-\x7e]+$/, 6],
]

const leastDifferent = 8

const isStrong = (token: string): boolean => {
  const [, bits = 0] = alphabets.find(([characters]) => characters.test(token)) ?? []
  return token.length * bits >= leastBits && new Set(token).size >= leastDifferent
}

/** The settings that decide who needs the token. */
interface Reach {
  readonly host: string
  readonly open: boolean
}

/** What is wrong with the token, which no message repeats, or with a page that does not ask for one. */
export const tokenMistakes = (
  token: Option.Option<string>,
  { host, open }: Reach,
): ReadonlyArray<Mistake> => {
  const path = ["TIEOUT_STATUS_TOKEN"]
  if (open && !isLoopback(host)) {
    return [{ path: ["status", "open"], text: `is true, but status.host is ${host}: others can reach it` }]
  }
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
  return isStrong(token.value)
    ? []
    : [
        {
          path,
          text: `expected ${leastBits} random bits without a space, as 32 hexadecimal digits or 22 letters and digits hold`,
        },
      ]
}
