/** The exchange rates that a campaign's database has from the start, and the changes of a history. */
import { Effect } from "effect"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import { seedOf } from "./Random.ts"

const base: Readonly<Record<string, number>> = { USD: 9_100, GBP: 11_700, JPY: 62, USDT: 9_090, USDC: 9_095 }

const days = (from: string, to: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (let at = Date.parse(from); at <= Date.parse(to); at += 86_400_000) {
    found.push(new Date(at).toISOString().slice(0, 10))
  }
  return found
}

/** EUR for one unit of the currency on that day. */
export const rateOf = (currency: string, date: string): string => {
  const middle = base[currency] ?? 10_000
  const moved =
    middle +
    (seedOf(`${currency} ${date}`) % 401) * Math.ceil(middle / 10_000) -
    200 * Math.ceil(middle / 10_000)
  const size =
    currency === "JPY" ? Math.max(40, Math.min(80, middle + (seedOf(`${currency} ${date}`) % 17) - 8)) : moved
  return `${Math.floor(size / 10_000)}.${String(size % 10_000).padStart(4, "0")}`
}

const row = (date: string, from: string, rate: string) => ({
  date,
  from,
  to: "EUR",
  rate,
  source: "campaign",
})

/** Rates for every day that a history can reach, including today, since a move out of a closed month is dated today. */
export const standardRates = Effect.suspend(() => {
  const soon = new Date(Date.now() + 62 * 86_400_000).toISOString().slice(0, 10)
  return addRates(
    days("2024-10-01", soon > "2026-06-30" ? soon : "2026-06-30").flatMap((date) =>
      Object.keys(base).map((currency) => row(date, currency, rateOf(currency, date))),
    ),
  )
})

export const correctRate = (date: string, currency: string, rate: string) =>
  Effect.map(addRates([row(date, currency, rate)]), (version) => `version ${version}`)
