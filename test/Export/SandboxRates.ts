/** Rates of the days that the sandbox's books are about. */
import type { RateRow } from "../../src/Valuation/Rates/RateTable.ts"

/** Rates that vary a little around a price; those of USD and JPY are inverted, as central banks publish them. */
export const sandboxRates: ReadonlyArray<RateRow> = Array.from({ length: 61 }, (_, day) => {
  const date = new Date(Date.UTC(2026, 8, 1 + day)).toISOString().slice(0, 10)
  const of = (from: string, to: string, price: number) => ({
    date,
    from,
    to,
    rate: (price * (1 + ((day * 37) % 23) / 1000)).toFixed(5),
    source: "test",
  })
  return [
    of("EUR", "USD", 1.087),
    of("EUR", "JPY", 163),
    of("GBP", "EUR", 1.17),
    of("USDT", "EUR", 0.919),
    of("USDC", "EUR", 0.92),
  ]
}).flat()
