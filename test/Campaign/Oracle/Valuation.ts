/**
 * The base-currency journal of a native one. The lines of an entry in one foreign currency share one exact unit value; each
 * is rounded by itself at two decimals, half to even, and what that leaves goes to `rounding`. One line decides the unit, the
 * first of these that applies:
 *  1. What comes back: a line that takes from what stands of its own conversion in transit, or of its own deposit, withdrawal
 *     or payout in clearing, at what that is carried at. Cash that leaves with it leaves at that, too (a deposit sent back);
 *     only where it would leave nothing, or less, on the account it leaves at cost like any other (2).
 *  2. Cash that takes from what is held (an overdraft that is paid back, too): its average or FIFO cost. What goes beyond
 *     zero is at what (1), else (4) says.
 *  3. Another asset or liability that is taken from, the largest such line, the first of equals: its carrying amount. What
 *     goes beyond zero is at the day's rate.
 *  4. What was bought for the base currency, where the conversion is whole in the same month: at what was given for it. In
 *     other months it is not known yet: the day's rate, and the difference is realized when the conversion is whole.
 *  5. Else the day's rate.
 *
 * Readings:
 *  - Held balances are the roles in `held`. The rest (fees, interest, opening balance, trading, what was sent to an account
 *    of a person's) only follow.
 *  - What takes a conversion out of transit (the whole, its reversal, a correction) takes transit at its carrying amount; an
 *    amount that is not all that stands there at what the conversion's legs on that account were worth for each. `trading`
 *    is nil in base; the difference is the gain, in that entry.
 *  - What is left in base at zero native is settled at the end of a month that is over: per conversion in transit, per
 *    movement in clearing, per account.
 *  - A rate must be given for the day itself.
 */
import type { BaseSettings, NativeEntryFact } from "../Facts.ts"
import { type Account, keyOf } from "./Balances.ts"
import {
  absolute,
  amountOf,
  centsOf,
  type Fraction,
  fraction,
  nothing,
  ofAmount,
  ofCents,
  over,
  plus,
  textOfCents,
  times,
  total,
} from "./Decimal.ts"
import { Holding } from "./Holding.ts"

const held = new Set([
  "cash",
  "deposits_clearing",
  "withdrawals_clearing",
  "payouts_clearing",
  "suspense",
  "conversions_in_transit",
  "receivable_principal",
  "receivable_interest",
  "deferred_interest",
  "loan_clearing",
  "loan_payable",
  "interest_payable",
])
const clearing = new Set(["deposits_clearing", "withdrawals_clearing", "payouts_clearing"])

export const isHeld = ({ code, role }: Account): boolean => code === null && held.has(role)

interface Line extends Account {
  readonly amount: bigint
}
interface Valued {
  readonly line: Line
  readonly value: Fraction
  /** Cash that is returned at another value than its cost. */
  readonly isReturn: boolean
  /** The day whose rate values the line, or the part of it beyond zero. */
  readonly day: string | null
}
interface Worth {
  readonly unit: Fraction
  readonly day: string | null
}
export interface Booked {
  readonly account: Account
  readonly amount: bigint
  readonly cents: bigint
}

/** The sums of one conversion's, or one movement's, lines on an account. */
interface Part {
  readonly account: Account
  /** The sum of all lines. */
  readonly brought: Holding
  /** For a conversion the amount in transit; for a movement the same as `brought`. */
  readonly open: Holding
  /** The value of one unit before all of it was returned. */
  last: Fraction | null
}

const plain = ({ accountId, code, currency, role }: Account): Account => ({ role, currency, accountId, code })
const isTransit = ({ role }: Account): boolean => role === "conversions_in_transit"
const size = ({ amount }: Line): bigint => absolute(amount)

export class Valuation {
  private readonly holdings = new Map<string, { readonly account: Account; readonly holding: Holding }>()
  private readonly parts = new Map<string, Part>()
  /** The price of one unit in the base currency, by month, conversion and currency. */
  private readonly prices = new Map<string, Fraction>()
  private readonly settings: BaseSettings

  constructor(settings: BaseSettings, entries: ReadonlyArray<NativeEntryFact>) {
    this.settings = settings
    const traded = new Map<string, Map<string, bigint>>()
    for (const { conversionId, date, lines } of entries)
      for (const { amount, currency, role } of lines) {
        if (role !== "trading" || conversionId === null) continue
        const key = `${date.slice(0, 7)}|${conversionId}`
        const sums = traded.get(key) ?? new Map<string, bigint>()
        traded.set(key, sums.set(currency, (sums.get(currency) ?? 0n) + amountOf(amount)))
      }
    for (const [key, sums] of traded) {
      const given = sums.get(settings.baseCurrency) ?? 0n
      for (const [currency, amount] of sums)
        if (given > 0n && amount < 0n) this.prices.set(`${key}|${currency}`, fraction(given, -amount))
    }
  }

  rate(currency: string, date: string): Fraction {
    const rate = this.settings.rates.get(`${currency}|${date}`)
    if (rate === undefined) throw new Error(`no rate of ${currency} on ${date}`)
    return ofAmount(amountOf(rate))
  }

  own(role: string): Account {
    return { role, currency: this.settings.baseCurrency, accountId: null, code: null }
  }

  entry(fact: NativeEntryFact): ReadonlyArray<Booked> {
    const lines = fact.lines.map((line) => ({ ...plain(line), amount: amountOf(line.amount) }))
    if (this.isOfWhole(lines)) return this.whole(fact, lines)
    const currencies = [...new Set(lines.map(({ currency }) => currency))]
    const valued = currencies.flatMap((currency) => {
      const group = lines.filter((line) => line.currency === currency)
      return currency === this.settings.baseCurrency
        ? group.map((line): Valued => ({ line, value: ofAmount(line.amount), isReturn: false, day: null }))
        : this.group(fact, group)
    })
    const booked = valued.map(({ line, value }) => ({
      ...{ account: plain(line), amount: line.amount },
      cents: centsOf(value),
    }))
    for (const [at, { cents }] of booked.entries()) {
      const of = valued[at]
      if (of === undefined || !this.isForeign(of.line)) continue
      const { day, isReturn, line } = of
      this.holding(line)?.book({ amount: line.amount, cents, isReturn, day })
      this.part(fact, line, (part) => {
        const { brought, open } = part
        if (brought.quantity !== 0n && brought.quantity === -line.amount)
          part.last = over(ofCents(brought.carrying), ofAmount(brought.quantity))
        for (const one of new Set([brought, open]))
          one.book({ amount: line.amount, cents, isReturn: false, day: null })
      })
    }
    const residue = -total(booked.map(({ cents }) => cents))
    if (absolute(residue) * 2n > BigInt(booked.length))
      throw new Error(`a residue of ${textOfCents(residue)} over ${booked.length} lines`)
    return residue === 0n
      ? booked
      : [...booked, { account: this.own("rounding"), amount: 0n, cents: residue }]
  }

  /** The amounts that a month's end takes off balances that hold nothing. */
  settled(): ReadonlyArray<Booked> {
    const booked: Array<Booked> = []
    const settle = (account: Account, ...of: ReadonlyArray<Holding>) => {
      const [first] = of
      if (first === undefined || first.quantity !== 0n || first.carrying === 0n) return
      const cents = first.carrying
      for (const one of of) one.carrying -= cents
      booked.push(
        { account, amount: 0n, cents: -cents },
        { account: this.own("fx_realized"), amount: 0n, cents },
      )
    }
    for (const { account, open } of this.parts.values()) {
      const all = this.holding(account)
      if (all !== null) settle(account, open, all)
    }
    for (const { account, holding } of this.holdings.values())
      if (!isTransit(account)) settle(account, holding)
    return booked
  }

  private isForeign({ currency }: Account): boolean {
    return currency !== this.settings.baseCurrency
  }

  private holding(of: Account): Holding | null {
    if (!isHeld(of) || !this.isForeign(of)) return null
    const key = keyOf(of)
    const known = this.holdings.get(key)
    if (known !== undefined) return known.holding
    const holding = new Holding(of.role === "cash" && this.settings.method === "fifo")
    this.holdings.set(key, { account: plain(of), holding })
    return holding
  }

  private part<A>(fact: NativeEntryFact, line: Account, use: (part: Part) => A): A | null {
    const id = isTransit(line) ? fact.conversionId : clearing.has(line.role) ? fact.movementId : null
    if (id === null || !isHeld(line) || !this.isForeign(line)) return null
    const key = `${keyOf(line)}|${id}`
    const brought = new Holding()
    const open = isTransit(line) ? new Holding() : brought
    const part = this.parts.get(key) ?? { account: plain(line), brought, open, last: null }
    this.parts.set(key, part)
    return use(part)
  }

  private isOfWhole(lines: ReadonlyArray<Line>): boolean {
    return (
      lines.some(({ role }) => role === "trading") &&
      lines.some(isTransit) &&
      !lines.some(({ role }) => role === "cash")
    )
  }

  private whole(fact: NativeEntryFact, lines: ReadonlyArray<Line>): ReadonlyArray<Booked> {
    const booked = lines.map((line) => {
      const cents = !isTransit(line)
        ? 0n
        : this.isForeign(line)
          ? this.cleared(fact, line)
          : centsOf(ofAmount(line.amount))
      return { account: plain(line), amount: line.amount, cents }
    })
    const gain = -total(booked.map(({ cents }) => cents))
    return [...booked, { account: this.own("fx_realized"), amount: 0n, cents: gain }]
  }

  private cleared(fact: NativeEntryFact, line: Line): bigint {
    const cents = this.part(fact, line, ({ brought, last, open }) => {
      const unit =
        brought.quantity === 0n ? last : over(ofCents(brought.carrying), ofAmount(brought.quantity))
      const value =
        open.quantity === -line.amount
          ? -open.carrying
          : centsOf(times(unit ?? this.rate(line.currency, fact.date), ofAmount(line.amount)))
      open.book({ amount: line.amount, cents: value, isReturn: false, day: null })
      return value
    })
    this.holding(line)?.book({ amount: line.amount, cents: cents ?? 0n, isReturn: false, day: null })
    return cents ?? 0n
  }

  private atRate(fact: NativeEntryFact, { currency }: Account): Worth {
    return { unit: this.rate(currency, fact.date), day: fact.date }
  }

  private atPrice(fact: NativeEntryFact, lines: ReadonlyArray<Line>): Worth | null {
    const bought = lines.find((line) => isTransit(line) && line.amount < 0n)
    const key = bought && `${fact.date.slice(0, 7)}|${fact.conversionId}|${bought.currency}`
    const unit = key === undefined ? undefined : this.prices.get(key)
    return unit === undefined ? null : { unit, day: null }
  }

  /** Takes a line off the holding; the part beyond zero has a value of its own. */
  private taken(line: Line, holding: Holding, beyond: () => Worth): Worth {
    const within = holding.reducing(line.amount)
    const rest = line.amount - within
    const more = rest === 0n ? { unit: nothing, day: null } : beyond()
    const value = plus(holding.costOf(within), times(more.unit, ofAmount(rest)))
    return { unit: over(value, ofAmount(line.amount)), day: more.day }
  }

  private group(fact: NativeEntryFact, lines: ReadonlyArray<Line>): ReadonlyArray<Valued> {
    const [first] = lines
    if (first === undefined) return []
    /** `decider`: the line whose balance decides the unit value. */
    const at = ({ day, unit }: Worth, decider: Line | null, isReturn = false) =>
      lines.map(
        (line): Valued => ({
          ...{ line, value: times(ofAmount(line.amount), unit), isReturn: isReturn && line.role === "cash" },
          day: decider === null || decider === line ? day : null,
        }),
      )
    const takes = (holding: Holding | null, { amount }: Line) => (holding?.reducing(amount) ?? 0n) !== 0n
    const back = lines.find((line) => this.part(fact, line, ({ brought }) => takes(brought, line)) === true)
    const of = back === undefined ? null : this.part(fact, back, ({ brought }) => brought)
    const carried = of && { unit: over(ofCents(of.carrying), ofAmount(of.quantity)), day: null }
    const rate = () => this.atRate(fact, first)
    const cash = lines.find((line) => line.role === "cash" && takes(this.holding(line), line))
    const holding = cash === undefined ? null : this.holding(cash)
    if (cash !== undefined && holding !== null) {
      if (of !== null && back !== undefined && carried !== null && of.reducing(back.amount) === back.amount) {
        const cents = centsOf(times(carried.unit, ofAmount(cash.amount)))
        if (holding.keepsSome(cash.amount, cents)) return at(carried, null, true)
      }
      return at(
        this.taken(cash, holding, () => carried ?? this.atPrice(fact, lines) ?? rate()),
        cash,
      )
    }
    if (back !== undefined && of !== null) return at(this.taken(back, of, rate), back)
    const [largest] = lines
      .filter((line) => !isTransit(line) && takes(this.holding(line), line))
      .sort((a, b) => (size(a) < size(b) ? 1 : size(a) > size(b) ? -1 : 0))
    const balance = largest === undefined ? null : this.holding(largest)
    if (largest !== undefined && balance !== null) return at(this.taken(largest, balance, rate), largest)
    return at(this.atPrice(fact, lines) ?? rate(), null)
  }
}
