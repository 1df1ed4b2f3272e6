/**
 * Exact decimals. An amount of money is never a JavaScript number: it is parsed by grammar into an unscaled bigint and
 * a scale, calculated exactly, and printed at a fixed scale.
 */
import { BigDecimal, Either } from "effect"

/** An exact decimal number, positive or negative, without a currency. */
export type Amount = BigDecimal.BigDecimal

/** An amount in the major unit of its currency (`12.50` in `EUR` is twelve euros fifty). */
export interface Money {
  readonly amount: Amount
  readonly currency: string
}

/** The most digits, before and after the point together, that an amount may have. */
const maximumDigits = 38

// `-0` is refused: it is not a number that a ledger can hold and give back unchanged.
const grammar = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/
const padded = /^-?0[0-9]+(?:\.[0-9]+)?$/
const negativeZero = /^-0(?:\.0+)?$/

const faultOf = (text: string): string | undefined => {
  if (padded.test(text)) return "begins with a zero that says nothing"
  if (!grammar.test(text)) return "is not a plain decimal number (-?digits[.digits])"
  return negativeZero.test(text) ? "is a negative zero" : undefined
}

const read = (text: string): Amount => {
  const point = text.indexOf(".")
  return point < 0
    ? BigDecimal.make(BigInt(text), 0)
    : BigDecimal.make(BigInt(text.slice(0, point) + text.slice(point + 1)), text.length - point - 1)
}

/**
 * Parses `-?digits[.digits]`: no exponent, no plus sign, no grouping, no padding, no negative zero, at most 38 digits.
 * Left: the reason, for a person.
 */
export const parse = (text: string): Either.Either<Amount, string> => {
  const fault = faultOf(text)
  if (fault !== undefined) return Either.left(fault)
  if (text.length > maximumDigits && text.replace(/[-.]/g, "").length > maximumDigits) {
    return Either.left(`has more than ${maximumDigits} digits`)
  }
  return Either.right(read(text))
}

/**
 * Parses text that our own database or code produced; anything else is a defect. It may have more digits than an amount that
 * is sent: a sum is as long as the longest amount before the point and the longest behind it.
 */
export const fromTrusted = (text: string): Amount => {
  const fault = faultOf(text)
  if (fault === undefined) return read(text)
  throw new Error(`the amount ${JSON.stringify(text.slice(0, 50))} ${fault}`)
}

/** The number of decimals that carry information: trailing zeros do not. */
export const significantDecimals = (amount: Amount): number => Math.max(0, BigDecimal.normalize(amount).scale)

const digitsAt = (unscaled: bigint, scale: number): string => {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, "0")
  const sign = unscaled < 0n ? "-" : ""
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

/** Prints at exactly `scale` decimals; an amount with more significant decimals than that is a defect, never rounded. */
export const format = (amount: Amount, scale: number): string => {
  if (significantDecimals(amount) > scale) {
    throw new Error(
      `an amount with ${significantDecimals(amount)} decimals cannot be printed exactly at ${scale}`,
    )
  }
  return digitsAt(BigDecimal.scale(amount, scale).value, scale)
}

/** Prints the amount at its own scale, `10.50` as `10.50`: the form that is sent to the database, which keeps it. */
export const toText = (amount: Amount): string =>
  amount.scale < 0 ? format(amount, 0) : digitsAt(amount.value, amount.scale)

/** Without trailing zeros: equal numbers print as equal texts. */
export const plain = (amount: Amount): Amount => BigDecimal.scale(amount, significantDecimals(amount))

export const zero: Amount = BigDecimal.make(0n, 0)

// Amounts of one currency mostly have one scale, and every statement entry passes through these many times: then there is
// nothing to rescale.
export const add = (left: Amount, right: Amount): Amount =>
  left.scale === right.scale
    ? BigDecimal.make(left.value + right.value, left.scale)
    : BigDecimal.sum(left, right)
export const subtract = (left: Amount, right: Amount): Amount =>
  left.scale === right.scale
    ? BigDecimal.make(left.value - right.value, left.scale)
    : BigDecimal.subtract(left, right)
export const negate = (amount: Amount): Amount => BigDecimal.make(-amount.value, amount.scale)
export const equals = (left: Amount, right: Amount): boolean =>
  left.scale === right.scale || left.value === 0n || right.value === 0n
    ? left.value === right.value
    : BigDecimal.equals(left, right)
/** `rate` percent of an amount, truncated (towards zero) to `scale` decimals. */
export const percent = (amount: Amount, rate: Amount, scale: number): Amount => {
  const product = BigDecimal.multiply(amount, rate)
  return BigDecimal.scale(BigDecimal.make(product.value, product.scale + 2), scale)
}
/** Rounded half-even to `scale` decimals: for what a person reads, never for what is booked. */
export const rounded = (amount: Amount, scale: number): string =>
  format(BigDecimal.round(amount, { scale, mode: "half-even" }), scale)
export const multiply = BigDecimal.multiply
export const isZero = (amount: Amount): boolean => amount.value === 0n
export const isPositive = (amount: Amount): boolean => amount.value > 0n
export const max = (left: Amount, right: Amount): Amount => (isPositive(subtract(left, right)) ? left : right)
export const min = (left: Amount, right: Amount): Amount => (isPositive(subtract(left, right)) ? right : left)
export const isNegative = (amount: Amount): boolean => amount.value < 0n
export const total = (amounts: Iterable<Amount>): Amount => {
  let sum = zero
  for (const amount of amounts) sum = add(sum, amount)
  return sum
}
