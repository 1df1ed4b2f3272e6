import { type SecretForm, withoutSecrets } from "../Common/SecretForms.ts"
import { isFields } from "./Wire/Fields.ts"

const controls = /[^\p{L}\p{N}\p{P}\p{S} ]+/gu

/** A short piece of what a server said, on one line, safe to print: no control characters, none of the secrets. */
export const sanitize = (text: string, secrets: ReadonlyArray<SecretForm>, length: number): string => {
  // Cut only after the secrets are gone: a cut could leave half of one.
  const clean = withoutSecrets(text.slice(0, length * 50), secrets)
    .replace(controls, " ")
    .replace(/ {2,}/g, " ")
    .trim()
  return clean.length > length ? `${clean.slice(0, length)}…` : clean
}

const short = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" && value.length <= 200 ? value : undefined

/** The code and message of a JSON error answer, where they are short. The envelope is not documented. */
export const complaint = (body: string): string | undefined => {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return undefined
  }
  if (!isFields(parsed)) return undefined
  const inner = isFields(parsed.error) ? parsed.error : parsed
  const parts = [
    short(inner.code) ?? short(inner.error),
    short(inner.message) ?? short(inner.error_description),
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : parts.join(": ")
}
