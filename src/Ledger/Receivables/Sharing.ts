/**
 * Shares the cash of the transactions that receivables name out over these receivables. A plain function of data over
 * everything that is connected through transactions; the same data gives the same shares, in whatever order it came.
 *
 * Amounts are in the major unit of their currency. Source: "Receivables" in `docs/design.md`: transactions by (txTimestamp,
 * txId), the receivables that name one by (issueDate, receivableId), same currency, each capped by what remains settled, and
 * disbursements by initialPrincipal. Where it leaves a choice:
 * - Names that lead to the same statement entries (a deposit's identifier, its transaction hash) are one transaction, dated by
 *   the first of them: no cash is used twice.
 * - What remains settled is first that of the version which names the transaction, of a receivable that owes it again only as far as
 *   it does not: a repayment that a service puts right from one receivable to another is the other's, also once the first is repaid by
 *   other cash. So is the disbursement of one that was cancelled, or is not disbursed yet. What is left over goes to
 *   the version all the same; then to what may have come between the readings; and what is left over of that to what remains
 *   settled by any version, since a service may name a transaction before or after the version that it settles.
 * - What nobody can take is kept with the last receivable that names it (of those that could have taken of it, where there are
 *   any).
 */
import type { Amount } from "../../Common/Money.ts"
import * as Money from "../../Common/Money.ts"
import { type Claimed, type Named, type Purpose, Remaining } from "./Claims.ts"

/** Cash of a transaction: what a statement entry moved between cash and loans. */
export interface Moved {
  readonly txId: string
  readonly entryId: string
  readonly currency: string
  /** By the lender: positive where it came in. */
  readonly amount: Amount
}

export interface Share {
  readonly receivableId: string
  /** The transaction, by the first of its names. */
  readonly unit: string
  readonly purpose: Purpose
  /** The first version that names it. */
  readonly version: number
  readonly currency: string
  /** By the lender: positive where it came in. What nobody could take is not in it. */
  readonly amount: Amount
  /** Its currency and direction are the receivable's. */
  readonly fits: boolean
  /** What nobody could take stands with this receivable. */
  readonly rest: boolean
  readonly leftOver: Amount
  /** The statement entries of the whole transaction. */
  readonly entries: ReadonlyArray<string>
  /** All its names. */
  readonly txIds: ReadonlyArray<string>
}

const { add, negate, subtract, zero } = Money
const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Names that lead to the same entries, by the least of them. */
const units = (moved: ReadonlyArray<Moved>): ReadonlyMap<string, string> => {
  const parent = new Map<string, string>()
  const find = (txId: string): string => {
    let at = txId
    for (let up = parent.get(at); up !== undefined && up !== at; up = parent.get(at)) at = up
    return at
  }
  const byEntry = new Map<string, string>()
  for (const { entryId, txId } of moved) {
    if (!parent.has(txId)) parent.set(txId, txId)
    const other = byEntry.get(entryId)
    byEntry.set(entryId, find(txId))
    if (other === undefined) continue
    const [a, b] = [find(other), find(txId)].sort(order)
    if (a !== undefined && b !== undefined) parent.set(b, a)
  }
  return new Map([...parent.keys()].map((txId) => [txId, find(txId)]))
}

/** Cash of one transaction in one currency, as far as nobody has taken it. */
interface Pool {
  readonly unit: string
  readonly at: string
  readonly currency: string
  readonly incoming: boolean
  left: Amount
  readonly entries: ReadonlyArray<string>
  readonly txIds: ReadonlyArray<string>
  /** In order, each once, with the first version that names it. */
  readonly namers: ReadonlyArray<Named>
  readonly takers: ReadonlyArray<Named>
}

/** The first name that each receivable has for it. */
const once = (all: ReadonlyArray<Named>): ReadonlyArray<Named> => {
  const first = new Map<string, Named>()
  for (const one of all) if (!first.has(one.receivableId)) first.set(one.receivableId, one)
  return [...first.values()]
}

const poolsOf = (
  named: ReadonlyArray<Named>,
  moved: ReadonlyArray<Moved>,
  claims: ReadonlyMap<string, Claimed>,
): ReadonlyArray<Pool> => {
  const unitOf = units(moved)
  const sums = new Map<string, Map<string, Map<string, Amount>>>()
  for (const { amount, currency, entryId, txId } of moved) {
    const unit = unitOf.get(txId) ?? txId
    const currencies = sums.get(unit) ?? new Map<string, Map<string, Amount>>()
    sums.set(unit, currencies)
    const entries = currencies.get(currency) ?? new Map<string, Amount>()
    currencies.set(currency, entries)
    // Set and not added, since two names of one transaction lead to the same cash.
    entries.set(entryId, amount)
  }
  const placeOf = ({ receivableId, version, txTimestamp, txId }: Named): string =>
    `${claims.get(receivableId)?.issuedAt ?? ""}|${receivableId}|${String(version).padStart(12, "0")}|${txTimestamp}|${txId}`
  const namersOf = new Map<string, Array<Named>>()
  for (const name of named) {
    const unit = unitOf.get(name.txId)
    if (unit === undefined) continue
    const others = namersOf.get(unit)
    if (others === undefined) namersOf.set(unit, [name])
    else others.push(name)
  }
  const pools: Array<Pool> = []
  for (const [unit, currencies] of sums) {
    const names = (namersOf.get(unit) ?? []).sort((a, b) => order(placeOf(a), placeOf(b)))
    const first = names.map(({ txId, txTimestamp }) => `${txTimestamp}|${txId}`).sort(order)[0] ?? ""
    for (const [currency, entries] of currencies) {
      const net = Money.total(entries.values())
      const incoming = !Money.isNegative(net)
      const isTaker = ({ purpose, receivableId }: Named): boolean =>
        claims.get(receivableId)?.currency === currency &&
        purpose === (incoming ? "repayment" : "disbursement")
      pools.push({
        unit,
        at: `${first}|${currency}`,
        currency,
        incoming,
        left: incoming ? net : negate(net),
        entries: [...entries.keys()].sort(order),
        txIds: [...new Set(names.map(({ txId }) => txId))].sort(order),
        namers: once(names),
        takers: once(names.filter(isTaker)),
      })
    }
  }
  return pools.sort((a, b) => order(a.at, b.at))
}

/** The shares of every transaction with cash, by receivable: how much each takes, and which one keeps the rest. */
export const shareOut = (
  claimed: ReadonlyArray<Claimed>,
  named: ReadonlyArray<Named>,
  moved: ReadonlyArray<Moved>,
): ReadonlyArray<Share> => {
  const claims = new Map(claimed.map((claim) => [claim.receivableId, claim]))
  const known = named.filter(({ receivableId }) => claims.has(receivableId))
  const pools = poolsOf(known, moved, claims).filter(({ namers }) => namers.length > 0)
  const remaining = new Remaining(claims)
  const shares = new Map<string, Amount>()
  const keyOf = ({ currency, unit }: Pool, { receivableId }: Named) => `${unit} ${currency} ${receivableId}`
  const round = (take: (namer: Named, wanted: Amount) => Amount, of = pools): void => {
    for (const pool of of) {
      for (const namer of pool.takers) {
        const amount = take(namer, pool.left)
        pool.left = subtract(pool.left, amount)
        shares.set(keyOf(pool, namer), add(shares.get(keyOf(pool, namer)) ?? zero, amount))
      }
    }
  }
  round(
    (namer, wanted) => remaining.ofItsAlone(namer, wanted),
    pools.filter(({ takers }) => takers.length === 1),
  )
  round((namer, wanted) => remaining.ofVersion(namer, wanted, true))
  round((namer, wanted) => remaining.ofVersion(namer, wanted, false))
  round((namer, wanted) => remaining.betweenReads(namer, wanted))
  round((namer, wanted) => remaining.ofAnyVersion(namer, wanted))
  return pools.flatMap((pool): ReadonlyArray<Share> => {
    const signed = (amount: Amount): Amount => (pool.incoming ? amount : negate(amount))
    const fits = pool.takers.length > 0
    const keepers = fits ? pool.takers : pool.namers.slice(-1)
    return keepers.map((namer, at): Share => {
      const rest = at === keepers.length - 1
      return {
        receivableId: namer.receivableId,
        unit: pool.unit,
        purpose: namer.purpose,
        version: namer.version,
        currency: pool.currency,
        amount: signed(shares.get(keyOf(pool, namer)) ?? zero),
        fits,
        rest,
        leftOver: rest ? signed(pool.left) : zero,
        entries: pool.entries,
        txIds: pool.txIds,
      }
    })
  })
}
