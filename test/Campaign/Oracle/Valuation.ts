/**
 * The base-currency journal of a native one. Each line is valued exactly, then rounded by itself at two decimals, half to
 * even; what the rounded lines of an entry do not balance by goes to `rounding`, what its exact values do not balance by to
 * `fx_realized`.
 *
 * Choices, where the design's paragraph leaves one (to be aligned with the connector's valuation):
 *  1. Which line decides an entry's unit cost, first that applies, per foreign currency:
 *     a. a return: cash, and a clearing or transit line that takes from what stands there. All lines at that balance's
 *        carrying amount, also cash that leaves (a deposit sent back, an over-credit pulled back): it realizes nothing.
 *        Clearing is carried as one balance, transit per conversion. A leg that comes back after the whole conversion's entry
 *        is carried at what that entry took out of transit.
 *     b. cash that leaves: its average or FIFO cost, exactly; the other lines at cost / quantity, a fraction.
 *     c. cash that comes in: all lines at the day's rate, also into an overdraft and against a balance that it lessens.
 *     d. no cash (reclassifications, receivables): lines that take from a balance at its carrying amount. If they stand on one
 *        side, the other side takes what that side comes to (a move realizes nothing); if on both, every other line is at the
 *        day's rate and the difference is realized (a loan repaid at another rate).
 *     e. else the day's rate.
 *  2. What goes beyond a holding is at the day's rate.
 *  3. Held balances are the roles in `held`. The rest (fees, interest, opening balance, trading, `other`) only follow: they are
 *     never taken from at a carrying amount, and what is left in base at zero native is not swept from them.
 *  4. The whole conversion: transit at its carrying amount, `trading` on both sides at what was bought is carried at (at what
 *     was sold, where that is the base currency), so that `trading` is nil in base; the difference is the gain. An entry that
 *     negates it line by line negates its base lines, the gain and the rounding with them.
 *  5. The sweep at zero native is in the entry that brought the balance to zero. Transit is swept per conversion.
 *  6. A rate must be given for the day itself.
 */
import type { BaseSettings, NativeEntryFact } from "../Facts.ts"
import { type Account, keyOf } from "./Balances.ts"
import {
  absolute,
  amountOf,
  centsOf,
  type Fraction,
  minus,
  nothing,
  ofAmount,
  ofCents,
  over,
  plus,
  sum,
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
const returning = new Set([
  "deposits_clearing",
  "withdrawals_clearing",
  "payouts_clearing",
  "conversions_in_transit",
])

interface Line extends Account {
  readonly amount: bigint
}
interface Valued {
  readonly line: Line
  readonly value: Fraction
}
export interface Booked {
  readonly account: Account
  readonly amount: bigint
  readonly cents: bigint
}

const plain = (line: Account): Account => ({
  role: line.role,
  currency: line.currency,
  accountId: line.accountId,
  code: line.code,
})

export class Valuation {
  private readonly holdings = new Map<string, Holding>()
  /** Per conversion: its own entry with what it was booked at. */
  private readonly wholes = new Map<string, { lines: ReadonlyArray<Line>; booked: ReadonlyArray<Booked> }>()

  private readonly settings: BaseSettings

  constructor(settings: BaseSettings) {
    this.settings = settings
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
    const reversed = this.reversedWhole(fact, lines)
    const booked = reversed ?? this.rounded(this.valued(fact, lines))
    const isReturn = lines.some((line) => this.returned(fact, lines, line) !== null)
    if (this.isWhole(fact, lines) && fact.conversionId !== null) {
      if (reversed === null) this.wholes.set(fact.conversionId, { lines, booked })
      else this.wholes.delete(fact.conversionId)
    }
    for (const { account, amount, cents } of booked)
      this.holding(fact, account)?.book(
        amount,
        cents,
        account.role === "cash" ? this.settings.method : "average",
        isReturn,
      )
    return [...booked, ...this.swept(fact, lines)]
  }

  private isForeign({ currency }: Account): boolean {
    return currency !== this.settings.baseCurrency
  }

  private holding(fact: NativeEntryFact, account: Account): Holding | null {
    if (!held.has(account.role) || !this.isForeign(account)) return null
    const of = account.role === "conversions_in_transit" ? fact.conversionId : null
    const key = `${keyOf(account)}|${of ?? ""}`
    const holding = this.holdings.get(key) ?? new Holding()
    this.holdings.set(key, holding)
    return holding
  }

  private isWhole({ conversionId }: NativeEntryFact, lines: ReadonlyArray<Line>): boolean {
    const ofTrading = lines.filter(({ role }) => role === "trading")
    return (
      conversionId !== null &&
      lines.every(({ role }) => role === "trading" || role === "conversions_in_transit") &&
      ofTrading.some(({ amount }) => amount > 0n) &&
      ofTrading.some(({ amount }) => amount < 0n)
    )
  }

  private reversedWhole(fact: NativeEntryFact, lines: ReadonlyArray<Line>): ReadonlyArray<Booked> | null {
    const whole = fact.conversionId === null ? undefined : this.wholes.get(fact.conversionId)
    const texts = (of: ReadonlyArray<Line>, sign: bigint) =>
      of
        .map((line) => `${keyOf(line)}|${line.amount * sign}`)
        .sort()
        .join()
    if (whole === undefined || texts(whole.lines, -1n) !== texts(lines, 1n)) return null
    return whole.booked.map(({ account, amount, cents }) => ({ account, amount: -amount, cents: -cents }))
  }

  /** The carrying value of a line by what it takes from, the rest by the day's rate. */
  private carried(fact: NativeEntryFact, line: Line): Fraction {
    const holding = this.holding(fact, line)
    const part = holding?.reducing(line.amount) ?? 0n
    const rest = ofAmount(line.amount - part)
    const cost =
      line.role === "cash" && this.settings.method === "fifo"
        ? holding?.oldestOf(part)
        : holding?.averageOf(part)
    return plus(cost ?? nothing, rest.n === 0n ? nothing : times(rest, this.rate(line.currency, fact.date)))
  }

  private takes(fact: NativeEntryFact, line: Line): boolean {
    return (this.holding(fact, line)?.reducing(line.amount) ?? 0n) !== 0n
  }

  /** The unit cost at which a line of an entry with cash goes back, or null. */
  private returned(fact: NativeEntryFact, lines: ReadonlyArray<Line>, line: Line): Fraction | null {
    const ofCash = lines.some(({ role, currency }) => role === "cash" && currency === line.currency)
    if (!ofCash || !returning.has(line.role) || line.amount === 0n) return null
    if (this.takes(fact, line)) return over(this.carried(fact, line), ofAmount(line.amount))
    const whole = fact.conversionId === null ? undefined : this.wholes.get(fact.conversionId)
    const taken = whole?.booked.find(
      ({ account, amount }) => keyOf(account) === keyOf(line) && amount < 0n === line.amount < 0n,
    )
    // The whole's line and the leg that comes back have one sign: both take from what the leg once put into transit.
    return taken === undefined ? null : over(ofCents(taken.cents), ofAmount(taken.amount))
  }

  private valued(fact: NativeEntryFact, lines: ReadonlyArray<Line>): ReadonlyArray<Valued> {
    const groups = [...new Set(lines.map(({ currency }) => currency))].map((currency) =>
      lines.filter((line) => line.currency === currency),
    )
    if (this.isWhole(fact, lines)) return this.wholeValued(fact, lines)
    return groups.flatMap((group) => {
      const [first] = group
      if (first === undefined || !this.isForeign(first))
        return group.map((line) => ({ line, value: ofAmount(line.amount) }))
      const at = (unit: Fraction) =>
        group.map((line) => ({ line, value: times(ofAmount(line.amount), unit) }))
      const back = group.map((line) => this.returned(fact, lines, line)).find((unit) => unit !== null)
      if (back !== undefined && back !== null) return at(back)
      const cash = group.filter(({ role }) => role === "cash")
      const leaving = cash.filter(({ amount }) => amount < 0n)
      if (leaving.length > 0)
        return at(
          over(
            sum(leaving.map((line) => this.carried(fact, line))),
            ofAmount(total(leaving.map(({ amount }) => amount))),
          ),
        )
      const taking = cash.length > 0 ? [] : group.filter((line) => this.takes(fact, line))
      const [taker] = taking
      if (taker === undefined) return at(this.rate(first.currency, fact.date))
      const oneSided = taking.every(({ amount }) => amount < 0n === taker.amount < 0n)
      const ofSide = group.filter(({ amount }) => amount < 0n === taker.amount < 0n)
      const unit = oneSided
        ? over(
            sum(ofSide.map((line) => this.carried(fact, line))),
            ofAmount(total(ofSide.map(({ amount }) => amount))),
          )
        : this.rate(first.currency, fact.date)
      return group.map((line) => ({
        line,
        value:
          taking.includes(line) || (oneSided && ofSide.includes(line))
            ? this.carried(fact, line)
            : times(ofAmount(line.amount), unit),
      }))
    })
  }

  private wholeValued(fact: NativeEntryFact, lines: ReadonlyArray<Line>): ReadonlyArray<Valued> {
    const transit = lines
      .filter(({ role }) => role !== "trading")
      .map((line) => ({
        line,
        value: this.isForeign(line) ? this.carried(fact, line) : ofAmount(line.amount),
      }))
    // What was bought leaves transit as a debit, what was sold as a credit.
    const face = transit.find(({ line }) => !this.isForeign(line))
    const proceeds = face
      ? { n: absolute(face.value.n), d: face.value.d }
      : sum(transit.filter(({ line }) => line.amount > 0n).map(({ value }) => value))
    const trading = lines
      .filter(({ role }) => role === "trading")
      .map((line) => ({
        line,
        value: line.amount > 0n ? proceeds : minus(nothing, proceeds),
      }))
    return [...transit, ...trading]
  }

  private rounded(valued: ReadonlyArray<Valued>): ReadonlyArray<Booked> {
    const booked: Array<Booked> = valued.map(({ line, value }) => ({
      account: plain(line),
      amount: line.amount,
      cents: centsOf(value),
    }))
    const realized = centsOf(minus(nothing, sum(valued.map(({ value }) => value))))
    if (realized !== 0n) booked.push({ account: this.own("fx_realized"), amount: 0n, cents: realized })
    const residue = -total(booked.map(({ cents }) => cents))
    if (absolute(residue) * 2n > BigInt(booked.length))
      throw new Error(`a residue of ${textOfCents(residue)} over ${booked.length} lines`)
    if (residue !== 0n) booked.push({ account: this.own("rounding"), amount: 0n, cents: residue })
    return booked
  }

  private swept(fact: NativeEntryFact, lines: ReadonlyArray<Line>): ReadonlyArray<Booked> {
    return lines.flatMap((line) => {
      const holding = this.holding(fact, line)
      if (holding === null || holding.quantity !== 0n || holding.carrying === 0n) return []
      const cents = holding.carrying
      holding.carrying = 0n
      return [
        { account: plain(line), amount: 0n, cents: -cents },
        { account: this.own("fx_realized"), amount: 0n, cents },
      ]
    })
  }
}
