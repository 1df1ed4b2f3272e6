/** The entries at a month's beginning and end: reversal of the last revaluation, settlement, the next revaluation. */
import { print } from "../../Common/MinorUnits.ts"
import { type BaseEntry, type BaseLine, type NativeAccount, plainLine } from "../Base.ts"
import { settleSides } from "../Cost/ConversionCost.ts"
import { settleMovements } from "../Cost/MovementCost.ts"
import type { Rules } from "../Cost/UnitValue.ts"
import { baseScale, valueAt } from "../Rates/Rate.ts"
import type { State } from "../ValuationState.ts"

/** An entry that only this journal has, without its number. */
export type Extra = Pick<BaseEntry, "date" | "kind" | "description" | "resourceId" | "reverses" | "lines">

const extra = (date: string, kind: string, description: string, lines: ReadonlyArray<BaseLine>): Extra => ({
  date,
  kind,
  description,
  resourceId: null,
  reverses: null,
  lines,
})

/** Reverses the last month's revaluations, on the first day. */
export const reversals = ({ revaluations }: State, firstDay: string): ReadonlyArray<Extra> =>
  revaluations.map(({ accountId, minor, number }) => ({
    ...extra(firstDay, "fx_reversal", "Reversal of the revaluation of the month before", [
      plainLine(accountId, -minor),
      plainLine("fx_unrealized", minor),
    ]),
    reverses: number,
  }))

/** Settlement: realizes the remaining carrying amount of accounts, conversions and movements that no longer hold anything. */
export const settlement = (
  state: State,
  accounts: ReadonlyArray<NativeAccount>,
  lastDay: string,
): ReadonlyArray<Extra> => {
  const ofSides = settleSides(state)
  const ofMovements = settleMovements(state)
  const left = accounts.flatMap(({ accountId, role }) => {
    const holding = state.holdings.get(accountId)
    // Open conversions may offset each other in transit, so that their sum is zero.
    if (holding === undefined || role === "conversions_in_transit") {
      const minor = ofSides.get(accountId) ?? 0n
      return minor === 0n ? [] : [plainLine(accountId, -minor)]
    }
    const { carrying, native } = holding
    if (native === 0n) holding.carrying = 0n
    const minor = (ofMovements.get(accountId) ?? 0n) + (native === 0n ? carrying : 0n)
    return minor === 0n ? [] : [plainLine(accountId, -minor)]
  })
  const realized = -left.reduce((sum, { minor }) => sum + minor, 0n)
  const lines = realized === 0n ? left : [...left, plainLine("fx_realized", realized)]
  const description = "Settlement of accounts that hold nothing of their currency any more"
  return lines.length === 0 ? [] : [extra(lastDay, "fx_settlement", description, lines)]
}

export interface Revalued {
  readonly accountId: number
  readonly minor: bigint
  readonly entry: Extra
}

/** The value of each monetary balance on the last day, less its carrying amount. */
export const revaluations = (
  state: State,
  accounts: ReadonlyArray<NativeAccount>,
  lastDay: string,
  { baseCurrency, rateOn }: Pick<Rules, "baseCurrency" | "rateOn">,
): ReadonlyArray<Revalued> =>
  accounts.flatMap(({ accountId, currency, scale }) => {
    const holding = state.holdings.get(accountId)
    // Conversions in transit that offset each other still have carrying amounts.
    if (holding === undefined || (holding.native === 0n && holding.carrying === 0n)) return []
    const rate = rateOn(currency, lastDay)
    const worth = valueAt(rate, holding.native, scale)
    const minor = worth - holding.carrying
    if (minor === 0n) return []
    const description =
      `Revaluation of ${print(holding.native, scale)} ${currency} at ${rate.text} (${rate.date}): ` +
      `${print(holding.carrying, baseScale)} to ${print(worth, baseScale)} ${baseCurrency}`
    const lines = [{ ...plainLine(accountId, minor), rate }, plainLine("fx_unrealized", -minor)]
    return [{ accountId, minor, entry: extra(lastDay, "fx_revaluation", description, lines) }]
  })
