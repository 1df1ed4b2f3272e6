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

/** Errors of fields that are shown, and how deep they are looked for. */
const mostFields = 3
const deepestField = 8

/** `max (at most 50 rows)` of the interface's ValidationError; undefined: it is none. */
const fieldError = (value: unknown): string | undefined => {
  if (!isFields(value)) return undefined
  const code = short(value.code)
  const message = short(value.message)
  return code === undefined || message === undefined ? code : `${code} (${message})`
}

/** The interface's ValidationFieldErrors, wherever they stand in the answer: arrays below the names of fields, or numbers of items. */
const fieldErrors = (value: unknown, path: ReadonlyArray<string> = []): ReadonlyArray<string> => {
  if (path.length > deepestField) return []
  const named = Array.isArray(value) ? value.map(fieldError) : []
  const errors = named.filter((error) => error !== undefined)
  if (errors.length > 0) return [`${path.join(".")}: ${errors.slice(0, mostFields).join(", ")}`]
  if (!isFields(value)) return []
  return Object.entries(value).flatMap(([name, inner]) => fieldErrors(inner, [...path, name]))
}

/** What a JSON error answer says of the error, where it is short. Its envelope is not documented, but for that of fields. */
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
    short(inner.message) ?? short(inner.error_description) ?? short(inner.detail) ?? short(inner.title),
    ...fieldErrors(parsed).slice(0, mostFields),
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : parts.join(": ")
}
