import type { NonEmpty } from "./Random.ts"

/** A currency of the sandbox. Amounts are integers of 10^-`scale` of it. */
export interface Currency {
  readonly code: "USD" | "EUR" | "GBP" | "JPY" | "USDT" | "USDC"
  readonly digital: boolean
  readonly scale: number
  /** The smallest amount that counts as ordinary business, as a power of ten of minor units. */
  readonly smallest: number
  /** Millionths of this currency per unit of a digital currency. */
  readonly price: number
}

// In this order the first two accounts can already convert into each other.
export const currencies: NonEmpty<Currency> = [
  { code: "USD", digital: false, scale: 2, smallest: 2, price: 1_000_400 },
  { code: "USDT", digital: true, scale: 8, smallest: 8, price: 1_000_000 },
  { code: "EUR", digital: false, scale: 2, smallest: 2, price: 921_530 },
  { code: "USDC", digital: true, scale: 8, smallest: 8, price: 1_000_000 },
  { code: "GBP", digital: false, scale: 2, smallest: 2, price: 787_310 },
  { code: "JPY", digital: false, scale: 0, smallest: 2, price: 149_352_000 },
]

const banks: NonEmpty<string> = ["NORTHBANK", "HARBOR_TRUST", "LAKESIDE", "MERIDIAN"]
const networks: NonEmpty<string> = ["TRON", "AVALANCHE"]

/** The settlement channel of the `group`-th account of a currency: a bank, or a network for digital currencies. */
export const railOf = (currency: Currency, group: number): string => {
  const names = currency.digital ? networks : banks
  const round = Math.floor(group / names.length)
  const name = names[group % names.length] ?? names[0]
  return round === 0 ? name : `${name}_${round + 1}`
}

/** The network of the `group`-th account of a digital currency. */
export const networkOf = (group: number): string => networks[group % networks.length] ?? networks[0]

/**
 * Prints minor units at the currency's scale: JPY without decimals, fiat with two, digital currencies with six, or with
 * eight where the amount needs them.
 */
export const printAmount = (minor: bigint, currency: Currency): string => {
  const { scale } = currency
  const digits = minor.toString()
  if (scale === 0) return digits
  const padded = digits.length > scale ? digits : digits.padStart(scale + 1, "0")
  const whole = padded.slice(0, -scale)
  const fraction = padded.slice(-scale)
  return `${whole}.${scale === 8 && fraction.endsWith("00") ? fraction.slice(0, 6) : fraction}`
}
