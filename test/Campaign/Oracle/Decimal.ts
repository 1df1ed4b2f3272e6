/**
 * Exact arithmetic of the oracle's own: amounts as whole numbers of 10^-18, and fractions for what is divided. Nothing is
 * rounded on the way; whoever wants cents asks for them.
 */
import type { Decimal } from "../Facts.ts"

const places = 18
const unit = 10n ** BigInt(places)

export const amountOf = (text: Decimal): bigint => {
  const match = /^(-?)(\d+)(?:\.(\d{1,18}))?$/.exec(text)
  if (match === null) throw new Error(`not an amount of at most ${places} decimals: ${JSON.stringify(text)}`)
  const units = BigInt((match[2] ?? "") + (match[3] ?? "").padEnd(places, "0"))
  return match[1] === "-" ? -units : units
}

const printed = (value: bigint, scale: number, least: number): Decimal => {
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, "0")
  const decimals = digits
    .slice(digits.length - scale)
    .replace(/0+$/, "")
    .padEnd(least, "0")
  return `${value < 0n ? "-" : ""}${digits.slice(0, digits.length - scale)}${decimals === "" ? "" : `.${decimals}`}`
}

/** Without trailing zeros: `"1.5"`, `"2050"`. */
export const textOf = (amount: bigint): Decimal => printed(amount, places, 0)

/** Always two decimals: `"1.50"`. */
export const textOfCents = (cents: bigint): Decimal => printed(cents, 2, 2)

export const absolute = (value: bigint): bigint => (value < 0n ? -value : value)
export const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)
export const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)
export const total = (values: ReadonlyArray<bigint>): bigint => values.reduce((sum, value) => sum + value, 0n)

/** Rounds an amount towards zero at a number of decimals. */
export const cut = (amount: bigint, decimals: number): bigint =>
  amount - (amount % 10n ** BigInt(places - decimals))

export interface Fraction {
  readonly n: bigint
  /** Above zero. */
  readonly d: bigint
}

const divisor = (a: bigint, b: bigint): bigint => (b === 0n ? a : divisor(b, a % b))

export const fraction = (n: bigint, d: bigint): Fraction => {
  const common = divisor(absolute(n), absolute(d)) * (d < 0n ? -1n : 1n)
  return { n: n / common, d: d / common }
}

export const nothing: Fraction = { n: 0n, d: 1n }
export const ofAmount = (amount: bigint): Fraction => fraction(amount, unit)
export const ofCents = (cents: bigint): Fraction => fraction(cents, 100n)
export const plus = (a: Fraction, b: Fraction): Fraction => fraction(a.n * b.d + b.n * a.d, a.d * b.d)
export const minus = (a: Fraction, b: Fraction): Fraction => plus(a, { n: -b.n, d: b.d })
export const times = (a: Fraction, b: Fraction): Fraction => fraction(a.n * b.n, a.d * b.d)
export const over = (a: Fraction, b: Fraction): Fraction => fraction(a.n * b.d, a.d * b.n)

/** To cents, half to even. */
export const centsOf = (value: Fraction): bigint => {
  const hundredfold = absolute(value.n) * 100n
  const whole = hundredfold / value.d
  const twice = (hundredfold % value.d) * 2n
  const cents = twice > value.d || (twice === value.d && whole % 2n === 1n) ? whole + 1n : whole
  return value.n < 0n ? -cents : cents
}
