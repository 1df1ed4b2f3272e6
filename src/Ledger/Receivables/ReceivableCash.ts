/**
 * Distributes the cash of a group of receivables: each receivable's versions with their share of it, and the consequences for
 * loan clearing. Plain functions of data; amounts are in the major unit of their currency.
 */
import { Option } from "effect"
import { scaleOf } from "../../Common/Currency.ts"
import type { Amount } from "../../Common/Money.ts"
import * as Money from "../../Common/Money.ts"
import type { Instant } from "../../Partner/Instant.ts"
import { announcedBy } from "./AnnouncedInterest.ts"
import type { Claimed, Named } from "./Claims.ts"
import { FirmlySettled } from "./FirmlySettled.ts"
import { type Dues, duesOf } from "./ReceivableDues.ts"
import { start } from "./ReceivableStanding.ts"
import { follow, settlementOf, step } from "./ReceivableSteps.ts"
import { isLive, type ReceivableVersion, type ReceivableView, type Transaction } from "./ReceivableVersion.ts"
import { type Moved, type Share, shareOut } from "./Sharing.ts"

/** A version before the cash is distributed. */
export type ReportedVersion = Omit<ReceivableVersion, "disbursed" | "repayments">

export interface ReportedReceivable {
  readonly receivableId: string
  readonly currency: string
  readonly counterparty: Option.Option<string>
  readonly issuedAt: Instant
  /** In order, from the first. */
  readonly versions: ReadonlyArray<ReportedVersion>
}

export interface Settled extends Omit<ReportedReceivable, "versions">, Dues {
  readonly versions: ReadonlyArray<ReceivableVersion>
  readonly shares: ReadonlyArray<Share>
}

const { add, negate, subtract, zero } = Money
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

const without = (reported: ReportedVersion): ReceivableVersion => ({
  ...reported,
  disbursed: Option.none(),
  repayments: [],
})

export const scaleFor = (currency: string): number => scaleOf(currency) ?? 0

/** What each version settles does not depend on the cash; interest that is only announced waits for whatever payment comes. */
const claimOf = (
  receivable: ReportedReceivable,
  view: ReceivableView,
  named: ReadonlyArray<Named>,
): Claimed => {
  const { currency, issuedAt, receivableId, versions } = receivable
  const scale = scaleFor(currency)
  const settled = new Map<number, { readonly firm: Amount; readonly betweenReads: Amount }>()
  const announced = new Map<number, Amount>()
  const paying = new Set(named.filter(({ purpose }) => purpose === "repayment").map(({ version }) => version))
  let standing = start(issuedAt)
  const firmly = new FirmlySettled()
  for (const version of versions) {
    const next = follow(standing, without(version), step(standing, without(version), view, scale))
    if (isLive(version.status)) {
      const { betweenReads, interest, principal } = settlementOf(standing, without(version), view, scale)
      const isOriginal = view.repaymentAmount === "original"
      const firm = isOriginal ? principal : add(principal, interest)
      settled.set(version.version, { firm, betweenReads })
      if (isOriginal) announced.set(version.version, announcedBy(standing, version))
      // `original` claims principal alone.
      const repaidOf = ({ repaid }: typeof standing): Amount =>
        isOriginal ? repaid.principal : add(repaid.principal, repaid.interest)
      firmly.owe(subtract(repaidOf(standing), repaidOf(next)))
      firmly.settle(version.version, firm, paying.has(version.version))
    } else if (version.status === "CANCELED") firmly.cancel()
    standing = next
  }
  const initialPrincipal = versions.at(-1)?.initialPrincipal ?? zero
  return {
    receivableId,
    currency,
    issuedAt,
    initialPrincipal,
    lent: standing.disbursed,
    settled,
    remains: firmly.remains,
    standing: firmly.standing,
    owedAgain: firmly.owedAgain,
    announced,
  }
}

/** The transactions that this version is the first to name, each once even if it has several names. */
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

/** The same, as it stands in the books. */
export const takenOf = ({ taken }: Settled, { view }: ReceivableView): Amount =>
  view === "lender" ? taken : negate(taken)

/**
 * The input must include all receivables that are connected through transactions, with all their versions and all their cash;
 * then the result does not depend on the order in which they came.
 */
export const settle = (
  receivables: ReadonlyArray<ReportedReceivable>,
  named: ReadonlyArray<Named>,
  moved: ReadonlyArray<Moved>,
  view: ReceivableView,
): ReadonlyArray<Settled> => {
  const names = byReceivable(named)
  const claims = receivables.map((one) => claimOf(one, view, names.get(one.receivableId) ?? []))
  const shares = byReceivable(shareOut(claims, named, moved))
  return receivables.map((one): Settled => {
    const own = shares.get(one.receivableId) ?? []
    const named = names.get(one.receivableId) ?? []
    const versions = one.versions.map(
      (reported): ReceivableVersion => ({
        ...reported,
        disbursed: Option.fromNullable(transactionsOf(reported.version, "disbursement", named, own)[0]),
        repayments: transactionsOf(reported.version, "repayment", named, own),
      }),
    )
    return { ...one, versions, shares: own, ...duesOf(versions, one, own, view, scaleFor(one.currency)) }
  })
}
