/**
 * The base-currency books: the sums of the valued entries, and what a month's end revalues.
 *
 * Choice: a month's end takes the account's balance (transit in one) × the rate of the last day, rounded, less its carrying
 * amount. It is reversed the day after, so only the books as of a month's last day show it.
 */
import type { BaseSettings, ExpectedBaseBalance, NativeEntryFact } from "../Facts.ts"
import { byText, keyOf } from "./Balances.ts"
import { centsOf, ofAmount, textOfCents, times } from "./Decimal.ts"
import { type Booked, Valuation } from "./Valuation.ts"

const isLastOfMonth = (date: string): boolean =>
  new Date(Date.parse(`${date}T00:00:00Z`) + 86_400_000).getUTCDate() === 1

/** The base books with all entries dated at or before a day (`YYYY-MM-DD`), and the revaluation that stands that day. */
export const expectedBaseAt = (
  entries: ReadonlyArray<NativeEntryFact>,
  settings: BaseSettings,
  asOf: string | null,
): ReadonlyArray<ExpectedBaseBalance> => {
  const valuation = new Valuation(settings)
  const sums = new Map<string, Booked>()
  const add = ({ account, amount, cents }: Booked) => {
    const before = sums.get(keyOf(account))
    sums.set(keyOf(account), {
      account,
      amount: (before?.amount ?? 0n) + amount,
      cents: (before?.cents ?? 0n) + cents,
    })
  }
  for (const fact of entries) {
    const booked = valuation.entry(fact)
    if (asOf === null || fact.date <= asOf) booked.forEach(add)
  }
  if (asOf !== null && isLastOfMonth(asOf) && asOf.slice(0, 7) <= settings.through)
    for (const { account, amount, cents } of [...sums.values()]) {
      if (!settings.monetaryRoles.includes(account.role) || account.currency === settings.baseCurrency)
        continue
      if (amount === 0n) continue
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
