/** The key that processes encrypt the service's token with to share it; without it each process gets its own token. */
import { Option } from "effect"
import type { Mistake } from "./Mistake.ts"

export const tokenKeyVariable = "TIEOUT_TOKEN_KEY"

/** AES-256. */
const bytes = 32

/** 64 hexadecimal digits, or base64 of either alphabet. */
export const tokenKeyOf = (text: string): Option.Option<Buffer> => {
  const key = /^[0-9a-fA-F]{64}$/.test(text)
    ? Buffer.from(text, "hex")
    : /^[A-Za-z0-9+/_-]{43}=?$/.test(text)
      ? Buffer.from(text, "base64")
      : Buffer.alloc(0)
  // A key of few different bytes was typed and not drawn at random.
  return key.length === bytes && new Set(key).size >= bytes / 4 ? Option.some(key) : Option.none()
}

/** No message repeats the key. */
export const tokenKeyMistakes = (key: Option.Option<string>): ReadonlyArray<Mistake> =>
  Option.exists(key, (text) => Option.isNone(tokenKeyOf(text)))
    ? [
        {
          path: [tokenKeyVariable],
          text: "expected 32 random bytes in base64, as openssl rand -base64 32 makes them",
        },
      ]
    : []
