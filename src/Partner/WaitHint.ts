/** How long a service asks us to wait: `Retry-After` and rate-limit headers. Malformed ones are ignored. Milliseconds. */
import type { Headers } from "./Transport.ts"

const header = (headers: Headers, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === "string" ? value.trim() : undefined
}

const digits = (text: string | undefined): number | undefined =>
  text !== undefined && /^[0-9]{1,15}$/.test(text) ? Number(text) : undefined

/** An IMF-fixdate of RFC 9110, to the letter: its weekday must be that date's. Epoch milliseconds. */
const httpDate = (text: string | undefined): number | undefined => {
  if (text === undefined || text.length !== 29) return undefined
  const time = Date.parse(text)
  return Number.isFinite(time) && new Date(time).toUTCString() === text ? time : undefined
}

/** Many answers come within one second, all with the same `Date`. */
let latest: { readonly text: string | undefined; readonly time: number | undefined } = {
  text: undefined,
  time: undefined,
}

/** When the service answered, by its own clock (`Date`). Epoch milliseconds. */
export const servedAt = (headers: Headers): number | undefined => {
  const text = header(headers, "date")
  if (text !== latest.text) latest = { text, time: httpDate(text) }
  return latest.time
}

/** `Retry-After` in milliseconds from now; the past is 0. A date counts from the answer's own `Date` where it has one. */
export const retryAfter = (headers: Headers, now: number): number | undefined => {
  const text = header(headers, "retry-after")
  const seconds = digits(text)
  if (seconds !== undefined) return seconds * 1000
  const date = httpDate(text)
  return date === undefined ? undefined : Math.max(0, date - (httpDate(header(headers, "date")) ?? now))
}

export interface Quota {
  readonly remaining: number
  /** Until the quota is full again. */
  readonly reset: number
}

/** `limit=100, remaining=0, reset=5` and `"default";r=0;t=5`: the two structured forms of the IETF drafts. */
const structured = (text: string | undefined): Quota | undefined => {
  if (text === undefined) return undefined
  const number = (pattern: RegExp) => digits(pattern.exec(text)?.[1])
  const remaining = number(/(?:^|[;,\s])(?:remaining|r)=([0-9]+)(?=$|[;,\s])/)
  const reset = number(/(?:^|[;,\s])(?:reset|t)=([0-9]+)(?=$|[;,\s])/)
  return remaining === undefined || reset === undefined ? undefined : { remaining, reset: reset * 1000 }
}

const separate = (headers: Headers, prefix: string, now: number): Quota | undefined => {
  const remaining = digits(header(headers, `${prefix}-remaining`))
  const reset = digits(header(headers, `${prefix}-reset`))
  if (remaining === undefined || reset === undefined) return undefined
  // A number too large to be a span is a point in time: epoch seconds, as several services send it.
  return { remaining, reset: reset > 1_000_000_000 ? Math.max(0, reset * 1000 - now) : reset * 1000 }
}

/** `RateLimit`, `RateLimit-Remaining`/`-Reset`, `X-RateLimit-Remaining`/`-Reset`, in this order. */
export const quota = (headers: Headers, now: number): Quota | undefined =>
  structured(header(headers, "ratelimit")) ??
  separate(headers, "ratelimit", now) ??
  separate(headers, "x-ratelimit", now)

/** How long to wait before the next request: by `Retry-After`, else until a quota that is used up is full again. */
export const wait = (headers: Headers, now: number): number | undefined => {
  const after = retryAfter(headers, now)
  if (after !== undefined) return after
  const left = quota(headers, now)
  return left !== undefined && left.remaining === 0 ? left.reset : undefined
}
