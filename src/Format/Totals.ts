/** Control totals, summed from the same lines that are written. All amounts are in the currency's smallest unit. */
import { type Account, type Entry, seriesOf } from "./Entry.ts"

export interface Turnover {
  readonly debit: bigint
  readonly credit: bigint
}

export interface CurrencyTotals extends Turnover {
  readonly currency: string
  readonly scale: number
  /** Entries with at least one line in this currency. */
  readonly entries: number
  readonly postings: number
}

/**
 * The journal numbers of one period: `first` and `last` as the full text. The base-currency journal has a second series of
 * numbers in a period, with a counter of its own.
 */
export interface PeriodNumbers {
  readonly period: string
  readonly first: string
  readonly last: string
  readonly entries: number
}

interface Sum {
  debit: bigint
  credit: bigint
  postings: number
  entries: number
  readonly currency: string
  readonly scale: number
  lastEntry: Entry | undefined
}

const none: Turnover = { debit: 0n, credit: 0n }

export interface Totals {
  readonly entries: number
  readonly postings: number
  readonly of: (account: Account) => Turnover
  readonly currencies: () => ReadonlyArray<CurrencyTotals>
  readonly periods: () => ReadonlyArray<PeriodNumbers>
}

const emptySum = (account: Account): Sum => ({
  debit: 0n,
  credit: 0n,
  postings: 0,
  entries: 0,
  currency: account.currency,
  scale: account.scale,
  lastEntry: undefined,
})

/** Sums up entries as they pass, in the order of their numbers. */
export class RunningTotals implements Totals {
  entries = 0
  postings = 0
  private readonly accounts = new Map<Account, { debit: bigint; credit: bigint }>()
  private readonly sums = new Map<string, Sum>()
  private readonly numbers: Array<{ period: string; first: string; last: string; entries: number }> = []

  add(entry: Entry): void {
    this.entries += 1
    this.postings += entry.lines.length
    const current = this.numbers.at(-1)
    if (current !== undefined && seriesOf(current.first) === seriesOf(entry.number)) {
      current.last = entry.number
      current.entries += 1
    } else {
      this.numbers.push({ period: entry.period, first: entry.number, last: entry.number, entries: 1 })
    }
    for (const { account, minor } of entry.lines) {
      const turnover = this.turnoverOf(account)
      const sum = this.sumOf(account)
      if (minor > 0n) turnover.debit += minor
      else turnover.credit -= minor
      if (minor > 0n) sum.debit += minor
      else sum.credit -= minor
      sum.postings += 1
      if (sum.lastEntry !== entry) {
        sum.entries += 1
        sum.lastEntry = entry
      }
    }
  }

  private turnoverOf(account: Account) {
    const known = this.accounts.get(account)
    if (known !== undefined) return known
    const turnover = { debit: 0n, credit: 0n }
    this.accounts.set(account, turnover)
    return turnover
  }

  private sumOf(account: Account): Sum {
    const known = this.sums.get(account.currency)
    if (known !== undefined) return known
    const sum = emptySum(account)
    this.sums.set(account.currency, sum)
    return sum
  }

  of(account: Account): Turnover {
    return this.accounts.get(account) ?? none
  }

  currencies(): ReadonlyArray<CurrencyTotals> {
    return [...this.sums.values()]
      .map(({ lastEntry: _, ...totals }) => totals)
      .sort((a, b) => (a.currency < b.currency ? -1 : 1))
  }

  periods(): ReadonlyArray<PeriodNumbers> {
    return this.numbers
  }
}
