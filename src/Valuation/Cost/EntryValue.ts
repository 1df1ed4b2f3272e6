/**
 * The value of an entry's lines in the base currency. All lines of one foreign currency share one exact unit value
 * (`UnitValue.ts`), and each is rounded by itself, half-even; the rounding difference goes to `rounding`.
 */
import { type BaseLine, type NativeEntry, type NativeLine, plainLine } from "../Base.ts"
import { baseScale, rounded, times } from "../Rates/Rate.ts"
import { Unvaluable } from "../ValuationError.ts"
import type { State } from "../ValuationState.ts"
import { clearedLines, isClearing, realizedLines } from "./ClearedCost.ts"
import { atRate, conversionOf, decide, type Group, lineOf, putOn, type Rules } from "./UnitValue.ts"

const foreignLines = (group: Group): ReadonlyArray<BaseLine> => {
  const { basis, rate, taken, unit } = decide(group)
  return group.lines.map((line) => {
    if (line === taken?.line) return taken.valued
    const value = rounded(times(unit, line.minor))
    putOn(group, line, value, rate)
    return lineOf(line, value, basis, rate)
  })
}

const inBase = (line: NativeLine): BaseLine => {
  if (line.account.scale !== baseScale) throw new Unvaluable("the base currency does not have two decimals")
  return lineOf(line, line.minor, "face", null)
}

/**
 * The rounding difference of the lines, for `rounding`: at most half a cent for each rounded line; more is an error.
 */
const residueOf = (lines: ReadonlyArray<BaseLine>, what: string): ReadonlyArray<BaseLine> => {
  const residue = lines.reduce((sum, { minor }) => sum + minor, 0n)
  if (residue === 0n) return []
  const count = BigInt(lines.filter(({ basis }) => basis !== null && basis !== "face").length)
  const size = residue < 0n ? -residue : residue
  if (size * 2n > count) {
    throw new Unvaluable(`${what}: its lines leave ${residue} cents, more than half a cent for each`)
  }
  return [plainLine("rounding", -residue)]
}

/** The lines of an entry in the base currency, in order, then gain or loss and rounding. Changes the state. */
export const valueLines = (entry: NativeEntry, state: State, rules: Rules): ReadonlyArray<BaseLine> => {
  const what = `journal entry ${entry.number} of ${entry.date.slice(0, 7)}`
  const currencies = [...new Set(entry.lines.map(({ account }) => account.currency))]
  const valued = new Map<NativeLine, BaseLine>()
  const clears = isClearing(entry)
  for (const currency of currencies) {
    const own = entry.lines.filter(({ account }) => account.currency === currency)
    const group = { lines: own, entry, state, rules }
    const foreign = () =>
      clears ? clearedLines(own, conversionOf(entry), state, () => atRate(group).unit) : foreignLines(group)
    const lines = currency === rules.baseCurrency ? own.map(inBase) : foreign()
    own.forEach((line, at) => {
      const found = lines[at]
      if (found !== undefined) valued.set(line, found)
    })
  }
  const lines = entry.lines.flatMap((line) => valued.get(line) ?? [])
  const all = clears ? [...lines, ...realizedLines(lines)] : lines
  return [...all, ...residueOf(all, what)]
}
