/**
 * Entries that clear a conversion from transit: the entry of the whole conversion, its reversal, and corrections of these. They
 * have lines on `conversions_in_transit` and `trading`, and none on cash.
 */
import { type BaseLine, type NativeEntry, type NativeLine, plainLine } from "../Base.ts"
import { halfEven, type Unit } from "../Rates/Rate.ts"
import { Unvaluable } from "../ValuationError.ts"
import type { State } from "../ValuationState.ts"
import { clearTransit } from "./ConversionCost.ts"

const has = ({ lines }: NativeEntry, role: string): boolean =>
  lines.some(({ account }) => account.role === role)

export const isClearing = (entry: NativeEntry): boolean =>
  has(entry, "trading") && has(entry, "conversions_in_transit") && !has(entry, "cash")

const sumOf = (lines: ReadonlyArray<{ readonly minor: bigint }>): bigint =>
  lines.reduce((sum, { minor }) => sum + minor, 0n)

/** The lines of one foreign currency: in transit at their carrying amount, on `trading` the same with the opposite sign. */
export const clearedLines = (
  lines: ReadonlyArray<NativeLine>,
  id: string,
  state: State,
  otherwise: () => Unit,
): ReadonlyArray<BaseLine> => {
  const transit = lines.filter(({ account }) => account.role === "conversions_in_transit")
  if (lines.some(({ account: { role } }) => role !== "conversions_in_transit" && role !== "trading")) {
    throw new Unvaluable(`conversion ${id} is cleared with lines beside transit and trading`)
  }
  const values = new Map(
    transit.map((line) => [line, clearTransit(state, id, line.account.accountId, line.minor, otherwise)]),
  )
  const [native, value] = [sumOf(transit), [...values.values()].reduce((sum, minor) => sum + minor, 0n)]
  return lines.map((line) => {
    // The whole of transit in its currency, which has one such line.
    const minor = values.get(line) ?? (native === 0n ? 0n : halfEven(value * line.minor, native))
    return { account: line.account.accountId, minor, native: line, basis: "carrying", rate: null }
  })
}

/** Takes off what the lines put on `trading`: that is the realized gain (credit) or loss (debit). */
export const realizedLines = (lines: ReadonlyArray<BaseLine>): ReadonlyArray<BaseLine> => {
  const onTrading = new Map<number, bigint>()
  for (const { minor, native } of lines) {
    if (native === null || native.account.role !== "trading") continue
    const { accountId } = native.account
    onTrading.set(accountId, (onTrading.get(accountId) ?? 0n) + minor)
  }
  const off = [...onTrading].filter(([, minor]) => minor !== 0n).map(([id, minor]) => plainLine(id, -minor))
  const gain = -sumOf(lines) - sumOf(off)
  return gain === 0n ? off : [...off, plainLine("fx_realized", gain)]
}
