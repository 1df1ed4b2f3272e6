/**
 * The value of one unit of a foreign currency in an entry, in the base currency: one of the entry's lines decides it.
 *
 * 1. A return: of a conversion at its side's carrying amount (`ConversionCost.ts`), of a deposit, a withdrawal or a payout at
 *   the carrying amount of what stands of it in clearing (`MovementCost.ts`).
 * 2. Cash that moves toward zero: at its cost, by average or FIFO. The part beyond zero is valued as in 1 or 4, else at the
 *   day's rate.
 * 3. Any other asset or liability that moves toward zero, the largest of the entry: at its carrying amount. The part beyond
 *   zero is valued at the day's rate.
 * 4. What is bought for base currency: at the price paid, where the conversion is whole in the same month.
 *
 * Otherwise the day's rate decides. So only an entry that clears a conversion realizes a gain or a loss.
 */
import type { Method } from "../../Settings/Accounting.ts"
import type { BaseLine, Basis, NativeEntry, NativeLine } from "../Base.ts"
import { type Exact, plus, type Rate, rounded, times, type Unit, unitAt, unitOf } from "../Rates/Rate.ts"
import type { Movement, Side, State } from "../ValuationState.ts"
import { addLeg, type EarlierLeg, sideOf } from "./ConversionCost.ts"
import {
  canGiveBack,
  covered,
  type Entering,
  emptyHolding,
  enter,
  giveBack,
  type Holding,
  leave,
  reduces,
} from "./Holding.ts"
import { addTo, type EarlierLine, movementOf } from "./MovementCost.ts"

export interface Rules {
  readonly baseCurrency: string
  readonly method: Method
  /** The rate of a day; a missing rate is recorded, and the valuation's result then discarded. */
  readonly rateOn: (currency: string, date: string) => Rate
  /**
   * The price of one unit in the base currency, by conversion and currency (`priceKey`), for conversions whole in the month.
   */
  readonly prices: ReadonlyMap<string, Unit>
  /** Legs of earlier months of conversions that the month returns or corrects. */
  readonly earlier: ReadonlyArray<EarlierLeg>
  /** Lines in clearing of earlier months of movements that the month returns or corrects. */
  readonly movements: ReadonlyArray<EarlierLine>
}

export const priceKey = (id: string, currency: string): string => `${id} ${currency}`

const isTransit = ({ account }: NativeLine): boolean => account.role === "conversions_in_transit"
const isCash = ({ account }: NativeLine): boolean => account.role === "cash"

const holdingOf = ({ holdings }: State, { account }: NativeLine): Holding => {
  const known = holdings.get(account.accountId)
  if (known !== undefined) return known
  const holding = emptyHolding()
  holdings.set(account.accountId, holding)
  return holding
}

export const lineOf = (native: NativeLine, minor: bigint, basis: Basis, rate: Rate | null): BaseLine => ({
  account: native.account.accountId,
  minor,
  native,
  basis,
  rate,
})

/** The lines of an entry in one foreign currency, with the state and rules that value them. */
export interface Group {
  readonly lines: ReadonlyArray<NativeLine>
  readonly entry: NativeEntry
  readonly state: State
  readonly rules: Rules
}

/** The identifier of the conversion that an entry belongs to. */
export const conversionOf = ({ entryId, resourceId }: NativeEntry): string => resourceId ?? entryId

const sideOfLine = ({ entry, state }: Group, { account }: NativeLine): Side =>
  sideOf(state, conversionOf(entry), account.accountId, entry.partnerAccountId)

/** The conversion's side or the movement that a line belongs to and that has a carrying amount of its own. */
const partOf = (group: Group, line: NativeLine): Side | Movement | undefined =>
  isTransit(line) ? sideOfLine(group, line) : movementOf(group.state, group.entry, line)

const comesBack = (group: Group, line: NativeLine): boolean => {
  const part = partOf(group, line)
  return part !== undefined && reduces(part, line.minor)
}

/** The unit value and its basis. `taken`: the value of the line that decided, which has left its balance already. */
interface Decided {
  readonly unit: Unit
  readonly basis: Basis
  readonly rate: Rate | null
  readonly taken?: { readonly line: NativeLine; readonly valued: BaseLine }
}

export const atRate = ({ entry, lines, rules }: Group): Decided => {
  const { currency = "", scale = 0 } = lines[0]?.account ?? {}
  const rate = rules.rateOn(currency, entry.date)
  return { unit: unitAt(rate, scale), basis: "rate", rate }
}

/** At the price paid, if base currency was paid. */
const atPrice = ({ entry, lines, rules }: Group): Decided | undefined => {
  const bought = lines.find((line) => isTransit(line) && line.minor < 0n)
  const unit = bought && rules.prices.get(priceKey(conversionOf(entry), bought.account.currency))
  return unit && { unit, basis: "price", rate: null }
}

const decidedBy = (line: NativeLine, value: Exact, basis: Basis, rate: Rate | null = null): Decided => ({
  unit: unitOf(value, line.minor),
  basis: "proportion",
  rate: null,
  taken: { line, valued: lineOf(line, rounded(value), basis, rate) },
})

const originOf = (date: string, { text }: Rate): string => `${date} ${text}`

/** Adds a line other than cash to its balance, and to its conversion's side or movement. */
const addOther = (group: Group, line: NativeLine, value: bigint, entering: Entering): void => {
  if (isTransit(line)) addLeg(group.state, sideOfLine(group, line), line.minor, value)
  else {
    addTo(movementOf(group.state, group.entry, line), line.minor, value)
    enter(holdingOf(group.state, line), line.minor, value, entering)
  }
}

const withoutLots = ({ rules: { method } }: Group): Entering => ({ method, withLots: false, origin: null })

/** Takes the line off its holding at the carrying amount; `beyond` values the part beyond zero. */
const takeOff = (group: Group, line: NativeLine, beyond: () => Decided): Decided => {
  const { entry, rules, state } = group
  const holding = holdingOf(state, line)
  const basis = isCash(line) ? "cost" : "carrying"
  const within = covered(holding, line.minor)
  const cost = leave(holding, within, rules.method, isCash(line))
  const movement = movementOf(state, entry, line)
  if (within === line.minor) {
    addTo(movement, line.minor, rounded(cost))
    return decidedBy(line, cost, basis)
  }
  const { rate, unit } = beyond()
  const value = plus(cost, times(unit, line.minor - within))
  const origin = rate === null ? null : originOf(entry.date, rate)
  const entering = { method: rules.method, withLots: isCash(line), origin }
  enter(holding, line.minor - within, rounded(value) - rounded(cost), entering)
  addTo(movement, line.minor, rounded(value))
  return decidedBy(line, value, basis, rate)
}

/** Returns a line at the carrying amount of its side or movement; the part beyond zero at the day's rate. */
const takeBack = (group: Group, line: NativeLine, part: Side | Movement): Decided => {
  const within = covered(part, line.minor)
  const carried = times({ numerator: part.carrying, denominator: part.native }, within)
  const beyond = within === line.minor ? undefined : atRate(group)
  const value = beyond === undefined ? carried : plus(carried, times(beyond.unit, line.minor - within))
  addOther(group, line, rounded(value), withoutLots(group))
  return decidedBy(line, value, "carrying", beyond?.rate)
}

/** The largest of the other assets and liabilities that move toward zero; the first of equal ones. */
const largest = ({ lines, state }: Group): NativeLine | undefined => {
  const size = ({ minor }: NativeLine): bigint => (minor < 0n ? -minor : minor)
  return lines
    .filter((line) => line.account.held && !isTransit(line) && reduces(holdingOf(state, line), line.minor))
    .reduce<NativeLine | undefined>(
      (most, line) => (most === undefined || size(line) > size(most) ? line : most),
      undefined,
    )
}

export const decide = (group: Group): Decided => {
  const { lines, state } = group
  const back = lines.find((line) => comesBack(group, line))
  const cash = lines.find((line) => isCash(line) && reduces(holdingOf(state, line), line.minor))
  const part = back && partOf(group, back)
  const unit = part && { numerator: part.carrying, denominator: part.native }
  if (cash !== undefined) {
    const isCovered = back !== undefined && part !== undefined && covered(part, back.minor) === back.minor
    const value = unit && isCovered ? rounded(times(unit, cash.minor)) : undefined
    if (value === undefined || !canGiveBack(holdingOf(state, cash), cash.minor, value)) {
      const otherwise = unit && { unit, basis: "carrying" as const, rate: null }
      return takeOff(group, cash, () => otherwise ?? atPrice(group) ?? atRate(group))
    }
  }
  if (back !== undefined && part !== undefined) return takeBack(group, back, part)
  const other = largest(group)
  if (other !== undefined) return takeOff(group, other, () => atRate(group))
  return atPrice(group) ?? atRate(group)
}

/** Adds a line to its balance at its value; cash that reduces its holding is returned instead. */
export const putOn = (group: Group, line: NativeLine, value: bigint, rate: Rate | null): void => {
  const { entry, rules, state } = group
  const { method } = rules
  const holding = holdingOf(state, line)
  // For every account: one that becomes monetary later is revalued from its carrying amount.
  if (!isCash(line)) {
    if (line.account.role !== "trading") addOther(group, line, value, withoutLots(group))
  } else if (reduces(holding, line.minor)) giveBack(holding, line.minor, value, method)
  else {
    const origin = rate === null ? null : originOf(entry.date, rate)
    enter(holding, line.minor, value, { method, withLots: true, origin })
  }
}
