/**
 * Readers of single fields. They throw a `Fault`, which `RowDecoder.ts` turns into a `Malformed` row; nothing else sees it. Written by
 * hand for speed: of the same statement entries (ten fields, three amounts) `effect/Schema` decoded about 60,000 a second and
 * these decode 210,000, and a sync that makes 10,000 of them durable has more to do than decode.
 */
import { Either, Option } from "effect"
import { scaleOf } from "../../Common/Currency.ts"
import * as Money from "../../Common/Money.ts"
import { dayText } from "../../Common/Time.ts"
import { uuidOf } from "../../Common/Uuid.ts"
import type { AccountRef } from "../../Partner.ts"
import type { Interface } from "../../Settings/Interface.ts"
import type { Instant } from "../Instant.ts"
import * as Instants from "./Instant.ts"

export type Fields = Readonly<Record<string, unknown>>
export type MoneyFields = Interface["money"]
export type Sign = "any" | "notNegative" | "positive"

/** Why a row cannot be understood, and where in it. Not an Error: nobody reads the stack trace, and it costs time per row. */
export class Fault {
  readonly path: string
  readonly reason: string
  constructor(path: string, reason: string) {
    this.path = path
    this.reason = reason
  }
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const kindOf = (value: unknown): string => {
  if (value === undefined) return "nothing"
  if (value === null) return "null"
  if (Array.isArray(value)) return "an array"
  return typeof value === "object" ? "an object" : `a ${typeof value}`
}

const refuse = (at: string, key: string, reason: string): never => {
  throw new Fault(`${at}.${key}`, reason)
}

/** Null counts as absent, and so does empty text. */
export const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === ""

export const text = (row: Fields, key: string, at = "$"): string => {
  const value = row[key]
  return typeof value === "string" ? value : refuse(at, key, `expected a string, found ${kindOf(value)}`)
}

/** Far above any code that a service gives, and far below what an index of the tables can hold. */
const longestCode = 255

/** A code that things are looked up by: a row whose code no index can hold would stop the whole stream. */
export const code = (row: Fields, key: string, at = "$"): string => {
  const value = text(row, key, at)
  return value.length <= longestCode ? value : refuse(at, key, `has more than ${longestCode} characters`)
}

/** A field that may be absent. */
export const optional = <A>(
  row: Fields,
  key: string,
  read: (row: Fields, key: string, at: string) => A,
  at = "$",
): Option.Option<A> => (isAbsent(row[key]) ? Option.none() : Option.some(read(row, key, at)))

export const optionalText = (row: Fields, key: string, at = "$"): Option.Option<string> =>
  optional(row, key, text, at)

export const object = (row: Fields, key: string, at = "$"): Fields => {
  const value = row[key]
  return isFields(value) ? value : refuse(at, key, `expected an object, found ${kindOf(value)}`)
}

/** An identifier in lower case, however the service spelled it, so that two spellings are one identifier. */
export const uuid = (row: Fields, key: string, at = "$"): string => {
  return uuidOf(text(row, key, at)) ?? refuse(at, key, "is not a UUID")
}

export const instant = (row: Fields, key: string, at = "$"): Instant => {
  const parsed = Instants.parse(text(row, key, at))
  return Either.isRight(parsed) ? parsed.right : refuse(at, key, parsed.left)
}

/** No time zone is a whole day away from UTC, so only the first and the last day may lie outside the years that the books have. */
const isBookDay = (at: Instant, timeZone: string): boolean => {
  if (at >= "1970-01-02" && at < "2199-12-31") return true
  const day = dayText(at, timeZone)
  return day >= "1970-01-01" && day <= "2199-12-31"
}

/** One that dates the books: they refuse the day before 1970 that it is in a time zone west of UTC, and would stop the whole stream. */
export const bookedInstant = (row: Fields, key: string, at: string, timeZone: string): Instant => {
  const read = instant(row, key, at)
  return isBookDay(read, timeZone) ? read : refuse(at, key, `${Instants.outside} in ${timeZone}`)
}

export const currency = (row: Fields, key: string, at = "$"): string => {
  const code = text(row, key, at)
  return scaleOf(code) === undefined ? refuse(at, key, "is not a known upper-case currency code") : code
}

/**
 * The most digits before the point. The tables hold 30 (`drizzle/0000_tables.sql`): what is left is for sums, since a row that
 * they refuse would stop the whole stream.
 */
const maximumWhole = 24

const isTooLarge = (text: string): boolean => {
  if (text.length <= maximumWhole) return false
  const point = text.indexOf(".")
  return (point < 0 ? text.length : point) - (text.startsWith("-") ? 1 : 0) > maximumWhole
}

/** A plain decimal. A JSON number is refused: its digits may already be lost. */
export const decimal = (row: Fields, key: string, at: string, sign: Sign): Money.Amount => {
  const value = row[key]
  if (typeof value !== "string")
    return refuse(at, key, `expected a decimal in a string, found ${kindOf(value)}`)
  const parsed = Money.parse(value)
  if (Either.isLeft(parsed)) return refuse(at, key, parsed.left)
  if (isTooLarge(value)) return refuse(at, key, `has more than ${maximumWhole} digits before the point`)
  const amount = parsed.right
  if (sign === "positive" && amount.value <= 0n) return refuse(at, key, "is not positive")
  if (sign === "notNegative" && amount.value < 0n) return refuse(at, key, "is negative")
  return amount
}

/** An amount in the major unit of `code`, with no more significant decimals than that currency has. */
export const amount = (row: Fields, key: string, at: string, code: string, sign: Sign): Money.Amount => {
  const read = decimal(row, key, at, sign)
  const scale = scaleOf(code) ?? 0
  if (read.scale > scale && Money.significantDecimals(read) > scale) {
    return refuse(at, key, `has more decimals than ${code} has (${scale})`)
  }
  return read
}

/** A Money object, by the field names of the profile. */
export const money = (row: Fields, key: string, at: string, names: MoneyFields, sign: Sign): Money.Money => {
  const value = object(row, key, at)
  const inside = `${at}.${key}`
  const code = currency(value, names.currencyField, inside)
  return { amount: amount(value, names.amountField, inside, code, sign), currency: code }
}

/** Refuses an amount in any other currency than the expected one. */
export const inCurrency = (
  value: Money.Money,
  expected: string,
  path: string,
  subject: string,
): Money.Money => {
  if (value.currency === expected) return value
  // Nothing is nothing in any currency.
  if (Money.isZero(value.amount)) return { ...value, currency: expected }
  throw new Fault(path, `is in ${value.currency}, but ${subject} is in ${expected}`)
}

/** Of a deposit or withdrawal: one that moved nothing, or nothing yet, may say so by its amount. */
export const movedSign = (status: string): Sign => (status === "COMPLETED" ? "positive" : "notNegative")

export const accountRef = (row: Fields, key: string, at = "$"): AccountRef => {
  const value = object(row, key, at)
  const inside = `${at}.${key}`
  return {
    accountId: uuid(value, "accountId", inside),
    currency: currency(value, "currency", inside),
    paymentRails: text(value, "paymentRails", inside),
  }
}
