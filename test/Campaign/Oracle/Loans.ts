/**
 * The receivables of a book with their cash. A transaction is linked if its id is an entry's, its movement's or that
 * movement's transaction hash; its counter line then stands in `loan_clearing`, whatever its currency.
 *
 * Readings:
 * - Every version's names count, also a PENDING one's: the money is the loan's, whatever its status.
 * - What is linked is the movement with all its entries, and its amount is what it puts into `loan_clearing`: a fee that the
 *   deposit bore is not missing from the repayment, and a movement that was returned brings nothing. A movement of a resource
 *   that cannot be read is linked by its id before it is suspense.
 * - Names of one movement are one transaction, dated by the first of them, of the first version that has any of them.
 * - An amount in another currency or the wrong direction pays nothing: who names it waits as if it were not linked.
 * - A share is capped by what remains settled between the version that first names the transaction and the one before, and by what
 *   the receivable does not owe again, or a cancellation took back (first by cash that it alone names); then that counts too; when all have theirs, interestBetweenReads lets them take more, in the same order; what is left of that goes to what remains
 *   settled by any of their versions, for a service may name a transaction later than what it pays. `original`: of the
 *   interest, what was told until that version.
 * - What nobody can take stands with the last receivable that could have taken of it, else the last that names it.
 */
import type { BookFacts, ReceivableFact, TransactionFact } from "../Facts.ts"
import { byText } from "./Balances.ts"
import { amountOf, larger, smaller, total } from "./Decimal.ts"
import { remainsOf } from "./Firm.ts"
import { type ReceivableBooks, receivableBooks } from "./Receivable.ts"
import { counterOf, type Posted } from "./Statement.ts"

interface Naming extends TransactionFact {
  readonly fact: ReceivableFact
  readonly version: number
  readonly disbursement: boolean
}

/** A movement that receivables name. */
interface Named {
  readonly entries: ReadonlyArray<Posted>
  readonly currency: string
  /** In order, each receivable once a purpose. */
  readonly namings: ReadonlyArray<Naming>
}

interface Taken {
  readonly receivableId: string
  readonly currency: string
  readonly disbursement: boolean
  /** The amount has the sign of the counter line. */
  readonly amount: bigint
}

export interface Loans {
  readonly books: ReadonlyArray<{ readonly fact: ReceivableFact; readonly books: ReceivableBooks }>
  readonly isLinked: (entry: Posted) => boolean
  /** Per linked movement, the share of each receivable in its counter line. The last one takes the rest. */
  readonly takers: ReadonlyArray<{
    readonly entries: ReadonlyArray<Posted>
    readonly fits: boolean
    readonly shares: ReadonlyArray<Taken>
  }>
}

const time = (a: string, b: string) => Date.parse(a) - Date.parse(b) || byText(a, b)

/** Every name, with the first version that has it. */
const namingsOf = (facts: BookFacts): ReadonlyArray<Naming> =>
  facts.receivables.flatMap((fact) => {
    const first = new Map<string, Naming>()
    fact.versions.forEach(({ disbursed, repayments }, version) => {
      const say = (transaction: TransactionFact, disbursement: boolean) => {
        const key = `${disbursement} ${transaction.txId}`
        if (!first.has(key)) first.set(key, { ...transaction, fact, version, disbursement })
      }
      if (disbursed !== null) say(disbursed, true)
      for (const repayment of repayments) say(repayment, false)
    })
    return [...first.values()]
  })

const movementsOf = (namings: ReadonlyArray<Naming>, posted: ReadonlyArray<Posted>): ReadonlyArray<Named> => {
  const found = new Map<string, Named & { namings: Array<Naming> }>()
  for (const naming of namings) {
    const all = posted.filter(({ names }) => names.includes(naming.txId))
    for (const currency of new Set(all.map((entry) => entry.currency))) {
      const entries = all.filter((entry) => entry.currency === currency)
      const key = entries.map(({ entryId }) => entryId).join("|")
      const movement = found.get(key) ?? { entries, currency, namings: [] }
      found.set(key, movement)
      movement.namings.push(naming)
    }
  }
  const dated = [...found.values()].map((movement) => {
    const [earliest] = [...movement.namings].sort(
      (a, b) => time(a.txTimestamp, b.txTimestamp) || byText(a.txId, b.txId),
    )
    const ordered = movement.namings.sort(
      (a, b) =>
        time(a.fact.issueDate, b.fact.issueDate) ||
        byText(a.fact.receivableId, b.fact.receivableId) ||
        a.version - b.version,
    )
    const once = ordered.filter(
      (one, index) =>
        ordered.findIndex(
          ({ disbursement, fact }) => fact === one.fact && disbursement === one.disbursement,
        ) === index,
    )
    return { ...movement, namings: once, earliest }
  })
  return dated.sort(
    (a, b) =>
      time(a.earliest?.txTimestamp ?? "", b.earliest?.txTimestamp ?? "") ||
      byText(a.earliest?.txId ?? "", b.earliest?.txId ?? ""),
  )
}

/** The remaining claims of one receivable. */
class Claim {
  private readonly fact: ReceivableFact
  private readonly books: ReceivableBooks
  private readonly taken = new Map<string, bigint>()

  constructor(fact: ReceivableFact, facts: BookFacts) {
    this.fact = fact
    this.books = receivableBooks(fact, facts.settings, new Map())
  }

  private take(of: string, cap: bigint, most: bigint): bigint {
    const used = this.taken.get(of) ?? 0n
    const amount = larger(0n, smaller(cap - used, most))
    this.taken.set(of, used + amount)
    return amount
  }

  /** What is not owed again, of all versions. */
  private get remains(): bigint {
    return larger(0n, remainsOf(this.books.firm) - (this.taken.get("firm") ?? 0n))
  }

  private standing(version: number): bigint {
    const { shaken, stands } = this.books.firm
    const own = (stands.get(version) ?? 0n) - (this.taken.get(`version ${version}`) ?? 0n)
    return shaken ? larger(0n, smaller(this.remains, own)) : this.remains
  }

  /** Cash that no other names pays what is not owed again. */
  alone(version: number, most: bigint): bigint {
    return this.books.firm.shaken ? this.upTo(version, most, this.remains) : 0n
  }

  settled(version: number, most: bigint, owesAgain: boolean): bigint {
    return this.upTo(version, most, owesAgain ? most : this.standing(version))
  }

  private upTo(version: number, most: bigint, left: bigint): bigint {
    const of = this.books.versions[version]
    const key = `version ${version}`
    const open = larger(0n, smaller((of?.settled ?? 0n) - (this.taken.get(key) ?? 0n), most))
    const firm = this.take(key, of?.settled ?? 0n, smaller(left, most))
    this.taken.set("firm", (this.taken.get("firm") ?? 0n) + firm)
    if (firm < open) {
      this.taken.set("ever", (this.taken.get("ever") ?? 0n) + firm)
      return firm
    }
    const told = this.take("told", of?.told ?? 0n, most - firm)
    this.taken.set("ever", (this.taken.get("ever") ?? 0n) + firm + told)
    return firm + told
  }

  allowed(version: number, most: bigint): bigint {
    return this.take(`between ${version}`, this.books.versions[version]?.allowance ?? 0n, most)
  }

  ever(most: bigint): bigint {
    const told = [...this.books.versions].reverse().find((one) => one.told !== null)?.told ?? 0n
    return this.take("ever", total(this.books.versions.map(({ settled }) => settled)) + told, most)
  }

  lent(most: bigint, takenBack: boolean): bigint {
    if (this.books.lent === 0n && !takenBack) return 0n
    return this.take("lent", amountOf(this.fact.initialPrincipal), most)
  }
}

export const loans = (facts: BookFacts, posted: ReadonlyArray<Posted>): Loans => {
  const lender = facts.settings.view === "lender" ? 1n : -1n
  const namings = namingsOf(facts)
  const claims = new Map(facts.receivables.map((fact) => [fact, new Claim(fact, facts)]))
  const pools = movementsOf(namings, posted).map((movement) => {
    const net = counterOf(movement.entries) * lender
    // Cash that came in, seen by the lender, is a credit in loan clearing.
    const incoming = net <= 0n
    const takers = movement.namings.filter(
      ({ disbursement, fact }) => fact.currency === movement.currency && disbursement === !incoming,
    )
    return {
      ...movement,
      takers,
      left: incoming ? -net : net,
      sign: incoming ? -lender : lender,
      got: new Map<Naming, bigint>(),
    }
  })
  const round = (take: (claim: Claim, naming: Naming, most: bigint) => bigint, of = pools) => {
    for (const pool of of)
      for (const naming of pool.takers) {
        const claim = claims.get(naming.fact)
        const amount = claim === undefined ? 0n : take(claim, naming, pool.left)
        pool.left -= amount
        pool.got.set(naming, (pool.got.get(naming) ?? 0n) + amount)
      }
  }
  round(
    (claim, { disbursement, version }, most) => (disbursement ? 0n : claim.alone(version, most)),
    pools.filter(({ takers }) => takers.length === 1),
  )
  for (const owesAgain of [false, true])
    round((claim, { disbursement, version }, most) =>
      disbursement ? claim.lent(most, owesAgain) : claim.settled(version, most, owesAgain),
    )
  round((claim, { disbursement, version }, most) => (disbursement ? 0n : claim.allowed(version, most)))
  round((claim, { disbursement }, most) => (disbursement ? 0n : claim.ever(most)))

  const shares = new Map(facts.receivables.map((fact) => [fact, new Map<number, Array<bigint | null>>()]))
  const give = ({ disbursement, fact, version }: Naming, share: bigint | null) => {
    const given = shares.get(fact)
    if (given === undefined || disbursement) return
    given.set(version, [...(given.get(version) ?? []), share])
  }
  for (const { got } of pools) for (const [naming, share] of got) give(naming, share)
  // Names that lead to no cash, or to cash that pays nothing.
  for (const naming of namings) {
    const pays = pools.some(
      ({ entries, takers }) =>
        entries.some(({ names }) => names.includes(naming.txId)) &&
        takers.some(({ disbursement, fact }) => fact === naming.fact && disbursement === naming.disbursement),
    )
    if (!pays) give(naming, null)
  }
  const linked = new Set(pools.flatMap(({ entries }) => entries))
  return {
    books: facts.receivables.map((fact) => ({
      fact,
      books: receivableBooks(fact, facts.settings, shares.get(fact) ?? new Map()),
    })),
    isLinked: (entry) => linked.has(entry),
    takers: pools.map(({ currency, entries, got, namings: all, sign, takers }) => ({
      entries,
      fits: takers.length > 0,
      shares: (takers.length > 0 ? takers : all.slice(-1)).map((naming) => ({
        receivableId: naming.fact.receivableId,
        currency,
        disbursement: naming.disbursement,
        amount: (got.get(naming) ?? 0n) * sign,
      })),
    })),
  }
}
