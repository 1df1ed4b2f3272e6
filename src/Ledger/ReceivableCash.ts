/**
 * What the cash of a group of receivables means for each of them: its versions with their share of it, and what of loan
 * clearing is due, paid and waited for. Plain functions of data; amounts are in the major unit of their currency.
 */
import { Option } from "effect"
import { scaleOf } from "../Money/Currency.ts"
import type { Amount } from "../Money.ts"
import * as Money from "../Money.ts"
import type { Instant } from "../Partner.ts"
import {
  cashOf,
  follow,
  isLive,
  knownCash,
  type ReceivableVersion,
  type ReceivableView,
  settlementOf,
  start,
  step,
  type Transaction,
  toldBy,
} from "./ReceivableSteps.ts"
import { type Claimed, type Moved, type Named, type Share, shareOut } from "./Sharing.ts"
import { type Leg, legOf, limited } from "./Waiting.ts"

/** A version before it is known whose cash is whose. */
export type Told = Omit<ReceivableVersion, "disbursed" | "repayments">

export interface ToldReceivable {
  readonly receivableId: string
  readonly currency: string
  readonly counterparty: Option.Option<string>
  readonly issuedAt: Instant
  /** In order, from the first. */
  readonly versions: ReadonlyArray<Told>
}

/** What one direction of a receivable takes of loan clearing. */
export interface Due {
  /** What its versions say, and what was paid by its cash: excess is paid beyond it, shortfall due beyond it. */
  readonly due: Amount
  readonly paid: Amount
  /** What of `due` no cash is known for yet. */
  readonly waiting: Amount
}

export interface Settled extends Omit<ToldReceivable, "versions"> {
  readonly versions: ReadonlyArray<ReceivableVersion>
  readonly shares: ReadonlyArray<Share>
  readonly lent: Due
  readonly repaid: Due
  /** What its entries take of loan clearing, by the lender: debit positive. */
  readonly taken: Amount
  /** Principal or interest stands in the books. */
  readonly owed: boolean
  /** When the first thing happened that was not paid exactly; none where all was. */
  readonly since: Option.Option<Instant>
  /** What is waited for, in the order of the versions. */
  readonly legs: ReadonlyArray<Leg>
}

const { add, isZero, negate, subtract, zero } = Money
const max = (a: Amount, b: Amount): Amount => (Money.isPositive(subtract(a, b)) ? a : b)
const abs = (amount: Amount): Amount => (Money.isNegative(amount) ? negate(amount) : amount)

const byReceivable = <A extends { readonly receivableId: string }>(
  all: ReadonlyArray<A>,
): ReadonlyMap<string, ReadonlyArray<A>> => {
  const groups = new Map<string, Array<A>>()
  for (const one of all) {
    const group = groups.get(one.receivableId)
    if (group === undefined) groups.set(one.receivableId, [one])
    else group.push(one)
  }
  return groups
}

const without = (told: Told): ReceivableVersion => ({ ...told, disbursed: Option.none(), repayments: [] })

export const scaleFor = (currency: string): number => scaleOf(currency) ?? 0

/** What each version settles does not depend on the cash; interest that is only told waits for whatever payment comes. */
const claimOf = (receivable: ToldReceivable, view: ReceivableView): Claimed => {
  const { currency, issuedAt, receivableId, versions } = receivable
  const scale = scaleFor(currency)
  const settled = new Map<number, { readonly firm: Amount; readonly between: Amount }>()
  const told = new Map<number, Amount>()
  let standing = start(issuedAt)
  for (const version of versions) {
    if (isLive(version.status)) {
      const { between, interest, principal } = settlementOf(standing, without(version), view, scale)
      const isOriginal = view.repaymentAmount === "original"
      settled.set(version.version, { firm: isOriginal ? principal : add(principal, interest), between })
      if (isOriginal) told.set(version.version, toldBy(standing, version))
    }
    standing = follow(standing, without(version), step(standing, without(version), view, scale))
  }
  const initialPrincipal = versions.at(-1)?.initialPrincipal ?? zero
  return { receivableId, currency, issuedAt, initialPrincipal, settled, told }
}

/** The transactions that this version is the first to name, each once whatever names it has. */
const transactionsOf = (
  version: number,
  purpose: Named["purpose"],
  named: ReadonlyArray<Named>,
  shares: ReadonlyArray<Share>,
): ReadonlyArray<Transaction> => {
  const units = new Set<string>()
  return named
    .filter((one) => one.version === version && one.purpose === purpose)
    .flatMap(({ txId, txTimestamp }): ReadonlyArray<Transaction> => {
      const share = shares.find((one) => one.fits && one.purpose === purpose && one.txIds.includes(txId))
      if (share === undefined) return [{ txId, txTimestamp, cash: Option.none() }]
      if (share.version !== version || units.has(share.unit)) return []
      units.add(share.unit)
      return [{ txId, txTimestamp, cash: Option.some(abs(share.amount)) }]
    })
}

const paidBy = (shares: ReadonlyArray<Share>, purpose: Named["purpose"], currency: string): Amount => {
  const sum = Money.total(
    shares
      .filter((one) => one.purpose === purpose && one.currency === currency)
      .map(({ amount, leftOver }) => add(amount, leftOver)),
  )
  return purpose === "repayment" ? sum : negate(sum)
}

/** What the versions make of loan clearing, against the cash of their transactions. */
const duesOf = (
  versions: ReadonlyArray<ReceivableVersion>,
  { currency, issuedAt }: ToldReceivable,
  shares: ReadonlyArray<Share>,
  view: ReceivableView,
): Pick<Settled, "lent" | "repaid" | "taken" | "owed" | "since" | "legs"> => {
  const scale = scaleFor(currency)
  let standing = start(issuedAt)
  let lent = zero
  let repaid = zero
  let waiting = zero
  let lentAt: Array<Instant> = []
  let repaidAt: Array<Instant> = []
  let legs: Array<Leg> = []
  const payouts = versions.flatMap(({ disbursed }) => Option.toArray(disbursed))
  const leaves = (version: number): boolean =>
    shares.some((one) => one.version === version && !isZero(one.leftOver))
  for (const version of versions) {
    const booked = step(standing, version, view, scale)
    if (version.status === "CANCELED") {
      ;[lent, repaid, waiting] = [zero, zero, zero]
      ;[lentAt, repaidAt, legs] = [[version.servedAt], [version.servedAt], []]
    } else if (isLive(version.status)) {
      const settlement = settlementOf(standing, version, view, scale)
      for (const one of booked) {
        const { amounts, occurredAt, part } = one
        if (part === "disbursement" && !isZero(amounts.cash)) {
          lent = subtract(lent, amounts.cash)
          lentAt.push(occurredAt)
          legs.push(...legOf("disbursement", one, payouts, zero))
        }
        if (part !== "repayment") continue
        const cash = cashOf(version.repayments)
        // What is settled is due, and with `original` only at the end: until then, interest is only told.
        const isDue =
          Option.isSome(cash) && (view.repaymentAmount === "outstanding" || version.status === "PAID")
        const firm = isDue ? max(amounts.cash, add(settlement.principal, settlement.interest)) : amounts.cash
        repaid = add(repaid, firm)
        if (Option.isNone(cash)) {
          waiting = add(waiting, amounts.cash)
          legs.push(...legOf("repayment", one, version.repayments, knownCash(version.repayments)))
        }
        const isExact = isZero(firm) || Option.exists(cash, (amount) => Money.equals(amount, firm))
        if (!isExact || leaves(version.version)) repaidAt.push(occurredAt)
      }
    }
    standing = follow(standing, version, booked)
  }
  const known = shares.some(({ fits, purpose }) => fits && purpose === "disbursement")
  const dues = {
    lent: { due: lent, paid: paidBy(shares, "disbursement", currency), waiting: known ? zero : lent },
    repaid: { due: repaid, paid: paidBy(shares, "repayment", currency), waiting },
  }
  const owed = !isZero(standing.principal) || !isZero(standing.interest)
  const unlike = ({ due, paid }: Due): boolean => !Money.equals(due, paid)
  const times = [...(unlike(dues.lent) ? lentAt : []), ...(unlike(dues.repaid) ? repaidAt : [])]
  const latest = versions.at(-1)?.servedAt ?? issuedAt
  const open =
    times.length > 0 || unlike(dues.lent) || unlike(dues.repaid) || shares.some(({ fits }) => !fits)
  const of = (purpose: Named["purpose"]) => legs.filter((leg) => leg.purpose === purpose)
  return {
    ...dues,
    legs: [
      ...(known ? [] : of("disbursement")),
      ...limited(of("repayment"), subtract(dues.repaid.due, dues.repaid.paid)),
    ],
    taken: standing.sums.cash,
    owed,
    since: open ? Option.some(times.sort()[0] ?? latest) : Option.none(),
  }
}

/** The same as it stands in the books. */
export const takenOf = ({ taken }: Settled, { view }: ReceivableView): Amount =>
  view === "lender" ? taken : negate(taken)

/**
 * Everything that is connected through transactions must be among them, with all its versions, and all of its cash: then
 * the result does not depend on what came when.
 */
export const settle = (
  receivables: ReadonlyArray<ToldReceivable>,
  named: ReadonlyArray<Named>,
  moved: ReadonlyArray<Moved>,
  view: ReceivableView,
): ReadonlyArray<Settled> => {
  const claims = receivables.map((one) => claimOf(one, view))
  const shares = byReceivable(shareOut(claims, named, moved))
  const names = byReceivable(named)
  return receivables.map((one): Settled => {
    const own = shares.get(one.receivableId) ?? []
    const of = names.get(one.receivableId) ?? []
    const versions = one.versions.map(
      (told): ReceivableVersion => ({
        ...told,
        disbursed: Option.fromNullable(transactionsOf(told.version, "disbursement", of, own)[0]),
        repayments: transactionsOf(told.version, "repayment", of, own),
      }),
    )
    return { ...one, versions, shares: own, ...duesOf(versions, one, own, view) }
  })
}
