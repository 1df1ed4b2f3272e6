/** One month of one book, entry by entry: from the state of the month before to its own. Plain functions of data. */
import type { BaseEntry, BaseLine, NativeAccount, NativeEntry } from "./Base.ts"
import { type Rules, valueLines } from "./Flow.ts"
import { type Extra, revaluations, reversals, settlement } from "./MonthEnd.ts"
import type { State } from "./State.ts"
import { type TradingLine, takeTrade, tradeOf } from "./Trades.ts"

export interface MonthFrame {
  /** `YYYY-MM-DD` */
  readonly firstDay: string
  readonly lastDay: string
  /** Only a month that is over is settled and revalued. */
  readonly over: boolean
  /** All that the book has used so far, by what does not depend on the order in which they were made where possible. */
  readonly accounts: ReadonlyArray<NativeAccount>
}

const tradingOf = (lines: ReadonlyArray<BaseLine>): ReadonlyArray<TradingLine> =>
  lines.flatMap(({ minor, native }) =>
    native === null || native.account.role !== "trading"
      ? []
      : [
          {
            accountId: native.account.accountId,
            currency: native.account.currency,
            native: native.minor,
            minor,
          },
        ],
  )

/**
 * Moves a part of a leg that is there between trading and fees. What comes to trading from elsewhere (suspense, once the
 * movement is identified) is a leg like any other, and so is what is taken from it.
 */
const movesFee = ({ kind, lines }: NativeEntry): boolean =>
  kind === "reclassification" && lines.every(({ account: { role } }) => role === "trading" || role === "fees")

const nativeEntry = (
  { date, entryId, number, resourceId }: NativeEntry,
  lines: ReadonlyArray<BaseLine>,
): BaseEntry => ({
  series: "journal",
  number,
  date,
  entryId,
  kind: null,
  description: null,
  resourceId,
  reverses: null,
  lines,
})

/** What the month's entries give for a conversion, and what those before have given. */
const paidThrough = ({ trades }: State, { baseCurrency, paid }: Rules): Map<string, bigint> => {
  const sums = new Map(paid)
  for (const [id, { legs }] of trades) {
    for (const { carrying, currency } of legs.values()) {
      if (currency === baseCurrency) sums.set(id, (sums.get(id) ?? 0n) + carrying)
    }
  }
  return sums
}

/** Changes `state`, which is the month's own copy. Entries come by date and, within a statement, in its order. */
export const valuedMonth = (frame: MonthFrame, state: State, rules: Rules) => {
  const moved = new Map<number, number>()
  const paid = paidThrough(state, rules)
  const priced: Rules = { ...rules, paid }
  const monetary = frame.accounts.filter(
    ({ currency, monetary: is, role }) => is && role !== "trading" && currency !== rules.baseCurrency,
  )
  let last = 0

  const keep = (entry: BaseEntry): BaseEntry => {
    for (const { account, minor } of entry.lines) {
      const key = String(account)
      state.balances.set(key, (state.balances.get(key) ?? 0n) + minor)
    }
    return entry
  }
  const numbered = (extra: Extra): BaseEntry => {
    last += 1
    return keep({ ...extra, series: "fx", number: last, entryId: null })
  }

  return {
    begin: (): ReadonlyArray<BaseEntry> => {
      const made = reversals(state, frame.firstDay).map(numbered)
      state.revaluations.length = 0
      return made
    },
    take: (entry: NativeEntry): ReadonlyArray<BaseEntry> => {
      const lines = valueLines(entry, state, priced)
      for (const { account } of lines) {
        if (typeof account === "number") moved.set(account, (moved.get(account) ?? 0) + 1)
      }
      const cleared = takeTrade(state, tradeOf(entry), tradingOf(lines), movesFee(entry))
      const own = keep(nativeEntry(entry, lines))
      if (cleared.length === 0) return [own]
      paid.delete(tradeOf(entry))
      const realized = numbered({
        date: entry.date,
        kind: "fx_realized",
        description: `Conversion completed by entry ${entry.number} of the month: gain or loss realized`,
        resourceId: entry.resourceId,
        reverses: null,
        lines: cleared,
      })
      return [own, realized]
    },
    end: (): ReadonlyArray<BaseEntry> => {
      if (!frame.over) return []
      const settled = settlement(state, monetary, moved, frame.lastDay).map(numbered)
      const revalued = revaluations(state, monetary, frame.lastDay, rules).map(
        ({ accountId, entry, minor }) => {
          const made = numbered(entry)
          state.revaluations.push({ number: made.number, accountId, minor })
          return made
        },
      )
      return [...settled, ...revalued]
    },
  }
}
