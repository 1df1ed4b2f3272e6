/**
 * What an entry's lines are worth in the base currency. The lines of one foreign currency share one rate: what cash cost
 * where cash leaves, what a balance is carried at where one goes back, what was paid where base currency was, the day's rate
 * otherwise. So nothing but a conversion realizes a gain or a loss.
 */
import type { Method } from "../Settings/Accounting.ts"
import { type BaseLine, type Basis, type NativeEntry, type NativeLine, plainLine } from "./Base.ts"
import { covered, emptyHolding, enter, type Holding, leave, reduces } from "./Holding.ts"
import { baseScale, halfEven, type Rate, valueAt } from "./Rate.ts"
import type { State } from "./State.ts"
import { priceOf, tradeOf } from "./Trades.ts"

export interface Rules {
  readonly baseCurrency: string
  readonly method: Method
  /** The rate of a day; one that is missing is remembered, and nothing of what follows is kept. */
  readonly rateOn: (currency: string, date: string) => Rate
  /** By conversion, what the month's entries give for it in the base currency; cents, positive where it is a purchase. */
  readonly paid: ReadonlyMap<string, bigint>
}

/** What does not add up: a mistake of ours or of the books, never plugged. */
export class Unvaluable extends Error {
  override readonly name = "Unvaluable"
}

const isTrading = ({ account }: NativeLine): boolean => account.role === "trading"

const holdingOf = ({ holdings }: State, { account }: NativeLine): Holding => {
  const known = holdings.get(account.accountId)
  if (known !== undefined) return known
  const holding = emptyHolding()
  holdings.set(account.accountId, holding)
  return holding
}

const isHeld = (line: NativeLine): boolean => line.account.monetary && !isTrading(line)

/** The line whose carrying amount decides: cash first, then any other balance that the entry brings nearer to zero. */
const leading = (lines: ReadonlyArray<NativeLine>, state: State): NativeLine | undefined => {
  const reducing = lines.filter((line) => isHeld(line) && reduces(holdingOf(state, line), line.minor))
  return reducing.find(({ account }) => account.role === "cash") ?? reducing[0]
}

const lineOf = (native: NativeLine, minor: bigint, basis: Basis, rate: Rate | null): BaseLine => ({
  account: native.account.accountId,
  minor,
  native,
  basis,
  rate,
})

const originOf = (date: string, { text }: Rate): string => `${date} ${text}`

/** Takes the line off its holding; what goes beyond zero is at the day's rate. */
const takeOff = (line: NativeLine, date: string, state: State, rules: Rules): BaseLine => {
  const { account, minor } = line
  const holding = holdingOf(state, line)
  const isCash = account.role === "cash"
  const within = covered(holding, minor)
  const cost = leave(holding, within, rules.method, isCash)
  const basis = isCash ? "cost" : "carrying"
  if (within === minor) return lineOf(line, cost, basis, null)
  const rate = rules.rateOn(account.currency, date)
  const beyond = valueAt(rate, minor - within, account.scale)
  const origin = originOf(date, rate)
  enter(holding, minor - within, beyond, { method: rules.method, withLots: isCash, origin })
  return lineOf(line, cost + beyond, basis, rate)
}

const putOn = (valued: BaseLine, line: NativeLine, date: string, state: State, { method }: Rules): void => {
  // Of every account, so that one that becomes money later is revalued from what it is carried at.
  if (isTrading(line)) return
  const origin = valued.rate === null ? null : originOf(date, valued.rate)
  enter(holdingOf(state, line), line.minor, valued.minor, {
    method,
    withLots: line.account.role === "cash",
    origin,
  })
}

interface Deciding {
  readonly line: NativeLine
  readonly valued: BaseLine
}

/**
 * The line that is worth by itself what it is, where there is one: the others follow in proportion. What is bought for base
 * currency is worth what was given for it, unless it covers a debt.
 */
const deciding = (
  lines: ReadonlyArray<NativeLine>,
  { date }: NativeEntry,
  price: bigint | undefined,
  state: State,
  rules: Rules,
): Deciding | undefined => {
  const lead = leading(lines, state)
  if (lead !== undefined) return { line: lead, valued: takeOff(lead, date, state, rules) }
  const bought = lines.find((line) => isTrading(line) && line.minor < 0n)
  const isPurchase = lines.some(({ account, minor }) => account.role === "cash" && minor > 0n)
  if (bought === undefined || price === undefined || !isPurchase) return undefined
  return { line: bought, valued: lineOf(bought, -price, "price", null) }
}

const foreignLines = (
  lines: ReadonlyArray<NativeLine>,
  entry: NativeEntry,
  price: bigint | undefined,
  state: State,
  rules: Rules,
): ReadonlyArray<BaseLine> => {
  const { date } = entry
  const found = deciding(lines, entry, price, state, rules)
  const byRate = (line: NativeLine): BaseLine => {
    const rate = rules.rateOn(line.account.currency, date)
    return lineOf(line, valueAt(rate, line.minor, line.account.scale), "rate", rate)
  }
  return lines.map((line) => {
    if (line === found?.line) return found.valued
    const valued =
      found === undefined
        ? byRate(line)
        : lineOf(line, halfEven(found.valued.minor * line.minor, found.line.minor), "proportion", null)
    putOn(valued, line, date, state, rules)
    return valued
  })
}

const inBase = (line: NativeLine): BaseLine => {
  if (line.account.scale !== baseScale) throw new Unvaluable("the base currency does not have two decimals")
  return lineOf(line, line.minor, "face", null)
}

/**
 * What the lines leave over after rounding goes to `rounding`: at most half a cent for each line that was rounded, and
 * more is an error.
 */
const residueOf = (lines: ReadonlyArray<BaseLine>, what: string): ReadonlyArray<BaseLine> => {
  const residue = lines.reduce((sum, { minor }) => sum + minor, 0n)
  if (residue === 0n) return []
  const rounded = BigInt(lines.filter(({ basis }) => basis !== "face").length)
  const size = residue < 0n ? -residue : residue
  if (size * 2n > rounded) {
    throw new Unvaluable(`${what}: its lines leave ${residue} cents, more than half a cent for each`)
  }
  return [plainLine("rounding", -residue)]
}

/** The lines of an entry in the base currency, in their order, with the rounding last. Changes the state. */
export const valueLines = (entry: NativeEntry, state: State, rules: Rules): ReadonlyArray<BaseLine> => {
  const price = priceOf(state, tradeOf(entry), rules)
  const currencies = [...new Set(entry.lines.map(({ account }) => account.currency))]
  const valued = new Map<NativeLine, BaseLine>()
  for (const currency of currencies) {
    const own = entry.lines.filter(({ account }) => account.currency === currency)
    const lines =
      currency === rules.baseCurrency ? own.map(inBase) : foreignLines(own, entry, price, state, rules)
    own.forEach((line, at) => {
      const found = lines[at]
      if (found !== undefined) valued.set(line, found)
    })
  }
  const lines = entry.lines.flatMap((line) => valued.get(line) ?? [])
  return [...lines, ...residueOf(lines, `journal entry ${entry.number} of ${entry.date.slice(0, 7)}`)]
}
