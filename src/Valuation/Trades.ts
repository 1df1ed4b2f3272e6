/**
 * Conversions in the account `trading`: the sold leg at what it cost, the bought leg at what it is worth, or at what was
 * given for it in the base currency. When both are there, what stands on the accounts goes to the realized gain or loss.
 */
import { type BaseLine, type NativeEntry, plainLine } from "./Base.ts"
import type { OpenTrade, State } from "./State.ts"

/** A line on `trading` with its value in cents. */
export interface TradingLine {
  readonly accountId: number
  readonly currency: string
  readonly native: bigint
  readonly minor: bigint
}

const addTo = (trade: OpenTrade, { accountId, currency, minor, native }: TradingLine): void => {
  const leg = trade.legs.get(accountId) ?? { currency, native: 0n, carrying: 0n }
  leg.native += native
  leg.carrying += minor
  trade.legs.set(accountId, leg)
}

/** What tells the conversion that an entry belongs to. */
export const tradeOf = ({ entryId, resourceId }: NativeEntry): string => resourceId ?? entryId

/**
 * Cents of the base currency that were given for what a conversion buys, where they are known: in the same month, before or
 * after it, or in a month before. Once something has been got, or something else given, there is no one price.
 */
export const priceOf = (
  { trades }: Pick<State, "trades">,
  id: string,
  { baseCurrency, paid }: { readonly baseCurrency: string; readonly paid: ReadonlyMap<string, bigint> },
): bigint | undefined => {
  const legs = [...(trades.get(id)?.legs.values() ?? [])]
  if (legs.some(({ currency, native }) => currency !== baseCurrency && native !== 0n)) return undefined
  const price = paid.get(id) ?? 0n
  return price > 0n ? price : undefined
}

/** Something was given and something was got, or all has gone back. */
const isWhole = ({ legs }: OpenTrade): boolean => {
  const sums = new Map<string, bigint>()
  for (const { currency, native } of legs.values()) sums.set(currency, (sums.get(currency) ?? 0n) + native)
  const all = [...sums.values()]
  return all.every((sum) => sum === 0n) || (all.some((sum) => sum > 0n) && all.some((sum) => sum < 0n))
}

/** Everything off `trading`, the difference to the realized gain (credit) or loss (debit). */
const clearing = ({ legs }: OpenTrade): ReadonlyArray<BaseLine> => {
  const lines = [...legs]
    .filter(([, { carrying }]) => carrying !== 0n)
    .map(([accountId, { carrying }]) => plainLine(accountId, -carrying))
  const difference = -lines.reduce((sum, { minor }) => sum + minor, 0n)
  return difference === 0n ? lines : [...lines, plainLine("fx_realized", difference)]
}

/**
 * Takes an entry's lines on `trading`; gives the lines of the entry that clears them, none where the other leg is still to
 * come. A fee that is put right after the conversion was cleared is cleared at once: no other leg will come. One that is put
 * right before its leg came is not that leg.
 */
export const takeTrade = (
  { trades }: State,
  id: string,
  lines: ReadonlyArray<TradingLine>,
  isFee: boolean,
): ReadonlyArray<BaseLine> => {
  if (lines.length === 0) return []
  const known = trades.get(id)
  const trade = known ?? { legs: new Map() }
  const hadLeg = lines.some(({ accountId }) => trade.legs.has(accountId))
  for (const line of lines) addTo(trade, line)
  trades.set(id, trade)
  const over = isFee ? known === undefined || (hadLeg && isWhole(trade)) : isWhole(trade)
  if (!over) return []
  trades.delete(id)
  return clearing(trade)
}
