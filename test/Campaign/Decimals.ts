/** The service's amounts: exact, in smallest units, as the service writes them. Shares nothing with `src/Money`. */

const scales: Readonly<Record<string, number>> = { USD: 2, EUR: 2, GBP: 2, JPY: 0, USDT: 8, USDC: 8 }

export const scaleOf = (currency: string): number => scales[currency] ?? 2

/** `12.5` in USD is 1250. */
export const units = (text: string, currency: string): bigint => {
  const scale = scaleOf(currency)
  const negative = text.startsWith("-")
  const [whole = "0", decimals = ""] = (negative ? text.slice(1) : text).split(".")
  if (decimals.length > scale) throw new Error(`${text} has more decimals than ${currency}`)
  const found = BigInt(whole + decimals.padEnd(scale, "0"))
  return negative ? -found : found
}

/** 1250 in USD is `12.50`. */
export const decimal = (amount: bigint, currency: string): string => {
  const scale = scaleOf(currency)
  const digits = (amount < 0n ? -amount : amount).toString().padStart(scale + 1, "0")
  const sign = amount < 0n ? "-" : ""
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

/** Writes equal numbers as equal text: without zeros at the end of the decimals. */
export const plain = (text: string): string => {
  const short = text.includes(".") ? text.replace(/\.?0+$/, "") : text
  return short === "-0" ? "0" : short
}
