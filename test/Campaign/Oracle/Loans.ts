/**
 * The receivables of a book with their cash. A transaction is linked if its id is an entry's, its movement's or that
 * movement's transaction hash, in the same currency; its counter line then stands in `loan_clearing`.
 *
 * Readings:
 * - Every version's names count, also a PENDING one's: the money is the loan's, whatever its status.
 * - What is linked is the movement with all its entries, and its amount is what it puts into `loan_clearing`: a fee that the
 *   deposit bore is not missing from the repayment, and a movement that was returned brings nothing. An amount in the wrong
 *   direction brings nothing either. A movement of a resource that cannot be read is linked by its id before it is suspense.
 * - Two transactions that are one movement share its amount.
 * - A share is capped by what remains settled between the version that first names the transaction and the one before; only
 *   when all who name it have theirs does interestBetweenReads let them take more, in the same order.
 * - What nobody can take stands with the last receivable that names it.
 */
import type { BookFacts, ReceivableFact, TransactionFact } from "../Facts.ts"
import { byText } from "./Balances.ts"
import { amountOf, larger, smaller, total } from "./Decimal.ts"
import { newRepayments, type ReceivableBooks, receivableBooks } from "./Receivable.ts"
import { counterOf, type Posted } from "./Statement.ts"

interface Naming {
  readonly fact: ReceivableFact
  /** The version that names it first; null for the disbursement. */
  readonly version: number | null
}

interface Transaction extends TransactionFact {
  readonly currency: string
  readonly namings: ReadonlyArray<Naming>
}

export interface Loans {
  readonly books: ReadonlyArray<{ readonly fact: ReceivableFact; readonly books: ReceivableBooks }>
  readonly isLinked: (entry: Posted) => boolean
  /** Per linked movement: who takes how much of its counter line, with the line's own sign. The last takes what is left. */
  readonly takers: ReadonlyArray<{
    readonly entries: ReadonlyArray<Posted>
    readonly shares: ReadonlyArray<{ readonly receivableId: string; readonly amount: bigint }>
  }>
}

const time = (a: string, b: string) => Date.parse(a) - Date.parse(b) || byText(a, b)

const transactionsOf = (facts: BookFacts): ReadonlyArray<Transaction> => {
  const known = new Map<string, TransactionFact & { currency: string; namings: Array<Naming> }>()
  const name = ({ txId, txTimestamp }: TransactionFact, naming: Naming) => {
    const key = `${naming.fact.currency}|${naming.version === null}|${txId}`
    const transaction = known.get(key)
    if (transaction === undefined)
      known.set(key, { txId, txTimestamp, currency: naming.fact.currency, namings: [naming] })
    else if (!transaction.namings.some(({ fact }) => fact === naming.fact)) transaction.namings.push(naming)
  }
  for (const fact of facts.receivables) {
    for (const { disbursed } of fact.versions)
      if (disbursed !== null) name(disbursed, { fact, version: null })
    newRepayments(fact).forEach((repayments, version) => {
      for (const repayment of repayments) name(repayment, { fact, version })
    })
  }
  return [...known.values()]
    .map((transaction) => ({
      ...transaction,
      namings: transaction.namings.sort(
        (a, b) =>
          time(a.fact.issueDate, b.fact.issueDate) || byText(a.fact.receivableId, b.fact.receivableId),
      ),
    }))
    .sort((a, b) => time(a.txTimestamp, b.txTimestamp) || byText(a.txId, b.txId))
}

export const loans = (facts: BookFacts, posted: ReadonlyArray<Posted>): Loans => {
  const lender = facts.settings.view === "lender" ? 1n : -1n
  const transactions = transactionsOf(facts)
  const shares = new Map(facts.receivables.map((fact) => [fact, new Map<number, Array<bigint | null>>()]))
  const booksOf = (fact: ReceivableFact) =>
    receivableBooks(fact, facts.settings, shares.get(fact) ?? new Map())
  const give = ({ fact, version }: Naming, share: bigint | null) => {
    const given = shares.get(fact)
    if (given === undefined || version === null) return
    given.set(version, [...(given.get(version) ?? []), share])
  }

  const movements = new Map<string, { entries: ReadonlyArray<Posted>; shares: Array<Taken>; left: bigint }>()
  type Taken = { readonly receivableId: string; readonly amount: bigint }
  for (const transaction of transactions) {
    const { txId, currency, namings } = transaction
    const entries = posted.filter((entry) => entry.currency === currency && entry.names.includes(txId))
    const [first] = entries
    if (first === undefined) {
      for (const naming of namings) give(naming, null)
      continue
    }
    const key = entries.map(({ entryId }) => entryId).join("|")
    const disbursement = namings.some(({ version }) => version === null)
    const sign = disbursement ? lender : -lender
    const movement = movements.get(key) ?? { entries, shares: [], left: counterOf(entries) }
    movements.set(key, movement)
    const take = (naming: Naming, most: bigint): bigint => {
      const amount = larger(0n, smaller(movement.left * sign, most))
      movement.left -= amount * sign
      movement.shares.push({ receivableId: naming.fact.receivableId, amount: amount * sign })
      return amount
    }
    const room = ({ fact, version }: Naming, withAllowance: boolean): bigint => {
      if (version === null) return amountOf(fact.initialPrincipal)
      const of = booksOf(fact).versions[version]
      const given = total((shares.get(fact)?.get(version) ?? []).map((share) => share ?? 0n))
      return (of?.settled ?? 0n) + (withAllowance ? (of?.allowance ?? 0n) : 0n) - given
    }
    const taken = namings.map((naming) => {
      const share = take(naming, room(naming, false))
      give(naming, share)
      return share
    })
    if (disbursement) continue
    namings.forEach((naming, index) => {
      const more = take(naming, room(naming, true))
      const given = naming.version === null ? undefined : shares.get(naming.fact)?.get(naming.version)
      if (given !== undefined) given[given.length - 1] = (taken[index] ?? 0n) + more
    })
  }
  const linked = new Set([...movements.values()].flatMap(({ entries }) => entries))
  return {
    books: facts.receivables.map((fact) => ({ fact, books: booksOf(fact) })),
    isLinked: (entry) => linked.has(entry),
    takers: [...movements.values()],
  }
}
