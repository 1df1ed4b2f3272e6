/** The kinds of values in the settings; the description of each says what it expects. */
import { Duration, Option, ParseResult, Schema } from "effect"
import { isCron } from "./CronText.ts"
import { isKnown } from "./Currency.ts"
import { isUuidInAnyCase } from "./Uuid.ts"

/** A key that may be left out: then its default applies. */
export const withDefault = <A, I>(schema: Schema.Schema<A, I>, value: NoInfer<A>) =>
  Schema.optionalWith(schema, { default: () => value })

/** A key that may be left out, and then has no value. */
export const optionalKey = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

/** A section whose keys may all be left out: its defaults, which never change, are then decoded once. */
export const section = <A, I>(schema: Schema.Schema<A, I>) => {
  let defaults: A | undefined
  return Schema.optionalWith(schema, {
    default: () => {
      defaults ??= Schema.decodeUnknownSync(schema)({})
      return defaults
    },
  })
}

export const Text = Schema.NonEmptyTrimmedString.annotations({
  description: "text that is not empty and has no space around it (in quotes if it looks like a number)",
})

/** An identifier of the service's, in capitals or not. */
export const Identifier = Schema.String.pipe(Schema.filter(isUuidInAnyCase)).annotations({
  description: "an identifier of the service, a UUID",
})

const isTimeZone = (name: string): boolean => {
  // The default: to ask `Intl`, which loads its data first, takes a tenth of the time in which a command starts.
  if (name === "UTC") return true
  // Offsets such as +02:00 are accepted by newer engines, but have no daylight saving and are not IANA names.
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat("en", { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** An IANA time zone. */
export const TimeZone = Schema.String.pipe(Schema.filter(isTimeZone)).annotations({
  description: "an IANA time zone such as Europe/Berlin or UTC",
})

export const currencyCodeExpected = "an ISO 4217 currency code such as EUR (or USDT, USDC)"

/** A currency whose minor unit is known: ISO 4217, USDT or USDC. */
export const CurrencyCode = Schema.String.pipe(Schema.filter(isKnown)).annotations({
  description: currencyCodeExpected,
})

const percentText = /^(?:0|[1-9]\d{0,2})(?:\.\d{1,12})?$/

/** An exact decimal, kept as text: it is never a JS number. */
export const Percentage = Schema.String.pipe(Schema.pattern(percentText)).annotations({
  description: 'a decimal from 0 to 999 with at most 12 decimals, in quotes, such as "0.05"',
})

export const Port = Schema.Int.pipe(Schema.between(0, 65_535)).annotations({
  description: "a port, a whole number from 0 to 65535",
})

export const Count = Schema.Int.pipe(Schema.between(1, Number.MAX_SAFE_INTEGER)).annotations({
  description: "a whole number of at least 1",
})

/** Units that `Duration.decodeUnknown` understands; the number may have decimals. */
const durationText = /^(\d+(?:\.\d+)?) ?(millis|milliseconds?|seconds?|minutes?|hours?|days?|ms|s|m|min|h|d)$/
const unitMillis: Record<string, number> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

const parseDuration = (text: string): Option.Option<Duration.Duration> => {
  const [, count, unit] = durationText.exec(text) ?? []
  if (count === undefined || unit === undefined) return Option.none()
  const key = unit.startsWith("mill") || unit === "ms" ? "ms" : unit.charAt(0)
  const millis = Number(count) * (unitMillis[key] ?? Number.NaN)
  return Number.isFinite(millis) ? Option.some(Duration.millis(millis)) : Option.none()
}

const span = (atLeastMillis: number, what: string) =>
  Schema.transformOrFail(Schema.String, Schema.DurationFromSelf, {
    strict: true,
    decode: (text, _options, ast) =>
      Option.match(
        Option.filter(parseDuration(text), (found) => Duration.toMillis(found) >= atLeastMillis),
        {
          onNone: () => ParseResult.fail(new ParseResult.Type(ast, text)),
          onSome: ParseResult.succeed,
        },
      ),
    encode: (found) => ParseResult.succeed(`${Duration.toMillis(found)} ms`),
  }).annotations({ description: `${what} with its unit, such as "30 seconds", "5 m" or "2 hours"` })

/** A span of time, written with its unit. */
export const Span = span(Number.MIN_VALUE, "a span of time above zero")

/** A span of time that may be zero (`0 s`). */
export const Wait = span(0, "a span of time")

const cannotBeRead = (text: string): string | undefined => {
  try {
    new RegExp(text, "u")
    return undefined
  } catch (cause) {
    return `a regular expression (${cause instanceof Error ? cause.message : "it cannot be read"})`
  }
}

/** A regular expression, with Unicode rules; it matches anywhere unless it is anchored. */
export const Pattern = Schema.String.pipe(Schema.filter(cannotBeRead)).annotations({
  description: "a regular expression in quotes",
})

/** Five fields: minute, hour, day of month, month, day of week. */
export const Schedule = Schema.String.pipe(Schema.filter(isCron)).annotations({
  description:
    'five cron fields such as "30 3 * * *" (minute 0-59, hour 0-23, day 1-31, month 1-12, weekday 0-7)',
})
