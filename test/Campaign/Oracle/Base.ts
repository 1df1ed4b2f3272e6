/**
 * The base-currency books: the sums of the valued entries, and what a month's end revalues.
 *
 * Choice: a month's end takes the account's balance (transit in one) × the rate of the last day, rounded, less its carrying
 * amount; so conversions that offset each other are not revalued. It is reversed the day after, so that only the
 * books as of a month's last day show it. The settlements of the month's end come before it.
 */
import type { BaseSettings, ExpectedBaseBalance, NativeEntryFact } from "../Facts.ts"
import { byText, keyOf } from "./Balances.ts"
import { centsOf, ofAmount, textOfCents, times } from "./Decimal.ts"
import { type Booked, isHeld, Valuation } from "./Valuation.ts"

/** The last day of a month (`YYYY-MM`). */
export const lastDayOf = (month: string): string => {
  const [year = 0, number = 0] = month.split("-").map(Number)
  return new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10)
}

const isLastOfMonth = (date: string): boolean =>
  new Date(Date.parse(`${date}T00:00:00Z`) + 86_400_000).getUTCDate() === 1

/** The base books with all entries dated at or before a day (`YYYY-MM-DD`), and the revaluation that stands that day. */
export const expectedBaseAt = (
  entries: ReadonlyArray<NativeEntryFact>,
  settings: BaseSettings,
  asOf: string | null,
): ReadonlyArray<ExpectedBaseBalance> => {
  const valuation = new Valuation(settings, entries)
  const sums = new Map<string, Booked>()
  const add = ({ account, amount, cents }: Booked) => {
    const before = sums.get(keyOf(account))
    sums.set(keyOf(account), {
      account,
      amount: (before?.amount ?? 0n) + amount,
      cents: (before?.cents ?? 0n) + cents,
    })
  }
  const endOf = (month: string): void => {
    if (month > settings.through) return
    const settled = valuation.settled()
    if (asOf === null || lastDayOf(month) <= asOf) settled.forEach(add)
  }
  let month = entries[0]?.date.slice(0, 7)
  for (const fact of entries) {
    if (month !== undefined && month < fact.date.slice(0, 7)) endOf(month)
    month = fact.date.slice(0, 7)
    const booked = valuation.entry(fact)
    if (asOf === null || fact.date <= asOf) booked.forEach(add)
  }
  if (month !== undefined) endOf(month)
  if (asOf !== null && isLastOfMonth(asOf) && asOf.slice(0, 7) <= settings.through)
    for (const { account, amount, cents } of [...sums.values()]) {
      if (!isHeld(account) || !settings.monetaryRoles.includes(account.role)) continue
      if (account.currency === settings.baseCurrency) continue
      const gain = centsOf(times(ofAmount(amount), valuation.rate(account.currency, asOf))) - cents
      add({ account, amount: 0n, cents: gain })
      add({ account: valuation.own("fx_unrealized"), amount: 0n, cents: -gain })
    }
  return [...sums]
    .filter(([, { cents }]) => cents !== 0n)
    .sort(([a], [b]) => byText(a, b))
    .map(([, { account, cents }]) => ({ ...account, balance: textOfCents(cents) }))
}

/** The base books after the last entry, with every revaluation reversed. */
export const expectedBase = (
  entries: ReadonlyArray<NativeEntryFact>,
  settings: BaseSettings,
): ReadonlyArray<ExpectedBaseBalance> => expectedBaseAt(entries, settings, null)
