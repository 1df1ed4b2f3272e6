/**
 * Amounts as whole numbers of a currency's smallest unit, for the sums and running balances of an export. Exact at any size,
 * and much faster than a general decimal: an export touches every posting of the ledger.
 */

const zeros = "0".repeat(64)

/** An amount with more significant decimals than its currency has: refused, never rounded. */
export class TooPrecise extends Error {
  override readonly name = "TooPrecise"
}

/** Reads a plain decimal (`-?digits[.digits]`) in the major unit of a currency with `scale` decimals. */
export const parse = (text: string, scale: number): bigint => {
  const point = text.indexOf(".")
  if (point < 0) return BigInt(text + zeros.slice(0, scale))
  const decimals = text.length - point - 1
  if (decimals <= scale) {
    return BigInt(text.slice(0, point) + text.slice(point + 1) + zeros.slice(0, scale - decimals))
  }
  const end = point + 1 + scale
  if (/[^0]/.test(text.slice(end))) throw new TooPrecise(`${text} has more than ${scale} decimals`)
  return BigInt(text.slice(0, point) + text.slice(point + 1, end))
}

/** Prints at exactly `scale` decimals, as `Money.format` does. */
export const print = (minor: bigint, scale: number): string => {
  if (scale === 0) return minor.toString()
  const negative = minor < 0n
  const digits = (negative ? -minor : minor).toString()
  const padded = digits.length > scale ? digits : zeros.slice(0, scale + 1 - digits.length) + digits
  const at = padded.length - scale
  return `${negative ? "-" : ""}${padded.slice(0, at)}.${padded.slice(at)}`
}

/** `-1234567.80` → `-1,234,567.80`. The text stays exact. */
export const grouped = (amount: string): string => {
  const [whole = "", fraction] = amount.split(".")
  const digits = whole.replace(/\B(?=(?:\d{3})+$)/g, ",")
  return fraction === undefined ? digits : `${digits}.${fraction}`
}
