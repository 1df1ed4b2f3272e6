/** Values one month of one book, entry by entry, from the state of the month before. Pure. */
import type { BaseEntry, BaseLine, NativeAccount, NativeEntry } from "../Base.ts"
import { forgetDone, recall } from "../Cost/ConversionCost.ts"
import { valueLines } from "../Cost/EntryValue.ts"
import { forgetMovements, recallMovements } from "../Cost/MovementCost.ts"
import type { Rules } from "../Cost/UnitValue.ts"
import type { State } from "../ValuationState.ts"
import { type Extra, revaluations, reversals, settlement } from "./MonthEnd.ts"

export interface MonthFrame {
  /** `YYYY-MM-DD` */
  readonly firstDay: string
  readonly lastDay: string
  /** Whether the month is over: only then is it settled and revalued. */
  readonly over: boolean
  /** All accounts the book has used so far, in an order that does not depend on when they were created. */
  readonly accounts: ReadonlyArray<NativeAccount>
}

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

/** Changes `state`, which is the month's own copy. Entries must come by date and, within a statement, in its order. */
export const valuedMonth = (frame: MonthFrame, state: State, rules: Rules) => {
  const held = frame.accounts.filter(({ currency, held: is }) => is && currency !== rules.baseCurrency)
  const monetary = held.filter((account) => account.monetary)
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

  const forget = (): void => {
    forgetDone(state)
    forgetMovements(state)
  }

  return {
    begin: (): ReadonlyArray<BaseEntry> => {
      const made = reversals(state, frame.firstDay).map(numbered)
      state.revaluations.length = 0
      recall(state, rules.earlier)
      recallMovements(state, rules.movements)
      return made
    },
    take: (entry: NativeEntry): BaseEntry => keep(nativeEntry(entry, valueLines(entry, state, rules))),
    end: (): ReadonlyArray<BaseEntry> => {
      if (!frame.over) {
        forget()
        return []
      }
      const settled = settlement(state, held, frame.lastDay).map(numbered)
      const revalued = revaluations(state, monetary, frame.lastDay, rules).map(
        ({ accountId, entry, minor }) => {
          const made = numbered(entry)
          state.revaluations.push({ number: made.number, accountId, minor })
          return made
        },
      )
      forget()
      return [...settled, ...revalued]
    },
  }
}
