/**
 * The books that must come out of a history, by plain double-entry arithmetic over the posting table of the design. It shares
 * no code with `src` and was written from the design and the interface alone. Where they leave a choice, the comments in
 * `Oracle/` say "Reading:".
 */
import type { BookFacts, Decimal, ExpectedBalance } from "./Facts.ts"
import { account, Balances, byText } from "./Oracle/Balances.ts"
import { traded } from "./Oracle/Conversion.ts"
import { larger, smaller, textOf, total } from "./Oracle/Decimal.ts"
import { loans } from "./Oracle/Loans.ts"
import { type Place, places } from "./Oracle/Moved.ts"
import { type ConversionPosted, counterOf, type Posted, statements } from "./Oracle/Statement.ts"

export { expectedBase, expectedBaseAt } from "./Oracle/Base.ts"

const roles = {
  lender: { principal: "receivable_principal", interest: "receivable_interest", income: "interest_income" },
  borrower: { principal: "loan_payable", interest: "interest_payable", income: "interest_expense" },
} as const

const notMoved = (facts: BookFacts) => {
  const moved = new Set(
    facts.reclassified.flatMap(({ entryId, fromSuspense }) => (fromSuspense === true ? [] : [entryId])),
  )
  return (entry: Posted) => !moved.has(entry.entryId)
}

type Standing = ReadonlyMap<Posted, ReadonlyArray<Place>>

const ownPlaces = (places: ReadonlyArray<Place>): bigint =>
  total(places.flatMap(({ amount, code }) => (code === null ? [amount] : [])))

const tradedOf = ({ conversion, entries }: ConversionPosted, standing: Standing) =>
  traded(
    conversion,
    entries.map((entry) => ({ ...entry, transit: ownPlaces(standing.get(entry) ?? []) })),
  )

/**
 * Non-zero balances, sorted by role, currency, account and code. The receivable's lines are as if nobody had moved anything.
 */
export const expectedNative = (facts: BookFacts): ReadonlyArray<ExpectedBalance> => {
  const { opening, posted, conversions } = statements(facts)
  const { books, isLinked } = loans(facts, posted.filter(notMoved(facts)))
  const standing = places(facts, posted, isLinked)
  const balances = new Balances()
  for (const { account: of, amount } of opening) {
    balances.add(account("cash", of.currency, of.accountId), amount)
    balances.add(account("opening_balance", of.currency), -amount)
  }
  for (const entry of posted) {
    const { accountId, currency, cash, fee, counterAccount } = entry
    const own = isLinked(entry) ? account("loan_clearing", currency) : counterAccount
    balances.add(account("cash", currency, accountId), cash)
    balances.add(account("fees", currency), fee)
    for (const { amount, code } of standing.get(entry) ?? [])
      balances.add(code === null ? own : { ...account("other", currency), code }, amount)
  }
  for (const conversion of conversions)
    for (const { currency, amount } of tradedOf(conversion, standing)) {
      balances.add(account("trading", currency), amount)
      balances.add(account("conversions_in_transit", currency), -amount)
    }
  const side = facts.settings.view === "lender" ? 1n : -1n
  for (const { fact, books: loan } of books) {
    const role = roles[facts.settings.view]
    balances.add(account(role.principal, fact.currency), loan.principal * side)
    balances.add(account(role.interest, fact.currency), loan.interest * side)
    balances.add(account(role.income, fact.currency), loan.income * side)
    balances.add(account("deferred_interest", fact.currency), loan.deferred * side)
    balances.add(account("loan_clearing", fact.currency), loan.clearing * side)
  }
  return balances.expected()
}

export interface ExpectedOpen {
  /** The identifier of the conversion or the receivable. */
  readonly id: string
  readonly currency: string
  /** Debit positive. */
  readonly balance: Decimal
}

const open = (
  lines: ReadonlyArray<{ id: string; currency: string; amount: bigint }>,
): ReadonlyArray<ExpectedOpen> => {
  const sums = new Map<string, { id: string; currency: string; amount: bigint }>()
  for (const { id, currency, amount } of lines)
    sums.set(`${id}|${currency}`, {
      id,
      currency,
      amount: (sums.get(`${id}|${currency}`)?.amount ?? 0n) + amount,
    })
  return [...sums.values()]
    .filter(({ amount }) => amount !== 0n)
    .sort((a, b) => byText(a.id, b.id) || byText(a.currency, b.currency))
    .map(({ id, currency, amount }) => ({ id, currency, balance: textOf(amount) }))
}

/** The open amounts in `conversions_in_transit`, per conversion and currency; together they are that role's balance. */
export const expectedOpenConversions = (facts: BookFacts): ReadonlyArray<ExpectedOpen> => {
  const { posted, conversions } = statements(facts)
  const standing = places(facts, posted, () => false)
  return open([
    ...[...standing].flatMap(([{ conversionId: id, currency }, stands]) =>
      stands.flatMap(({ amount, code }) => (id === null || code !== null ? [] : [{ id, currency, amount }])),
    ),
    ...conversions.flatMap((of) =>
      tradedOf(of, standing).map(({ currency, amount }) => ({
        id: of.conversion.id,
        currency,
        amount: -amount,
      })),
    ),
  ])
}

/** The share of each receivable in the counter line of each linked movement; the last one has the rest. */
const kept = (facts: BookFacts) => {
  const { posted } = statements(facts)
  const { books, takers } = loans(facts, posted.filter(notMoved(facts)))
  const legs = takers.flatMap(({ entries, fits, shares }) => {
    const standing = counterOf(entries)
    const left = standing - total(shares.map(({ amount }) => amount))
    return shares.map((share, index) => ({
      ...share,
      fits,
      id: share.receivableId,
      amount: share.amount + (index === shares.length - 1 ? left : 0n),
    }))
  })
  return { books, legs, side: facts.settings.view === "lender" ? 1n : -1n }
}

/** The open amounts in `loan_clearing`, per receivable and currency; together they are that role's balance. */
export const expectedLoanClearing = (facts: BookFacts): ReadonlyArray<ExpectedOpen> => {
  const { books, legs, side } = kept(facts)
  return open([
    ...books.map(({ fact, books: loan }) => ({
      id: fact.receivableId,
      currency: fact.currency,
      amount: loan.clearing * side,
    })),
    ...legs,
  ])
}

/** The amounts that are waited for, per receivable, payouts and repayments apart; positive. */
export const expectedWaits = (facts: BookFacts): ReadonlyArray<ExpectedOpen> => {
  const { books, legs, side } = kept(facts)
  return books.flatMap(({ fact, books: loan }) => {
    const cash = legs.filter(({ currency, id }) => id === fact.receivableId && currency === fact.currency)
    const repaid = -total(cash.filter(({ disbursement }) => !disbursement).map(({ amount }) => amount)) * side
    const seen = legs.some(({ disbursement, fits, id }) => id === fact.receivableId && disbursement && fits)
    // Cash beyond what the entries take has come for interest that was due and unpaid: nothing waits for that any more.
    const missing = loan.repaid - loan.short < repaid ? 0n : loan.repaid - repaid
    const waits = [
      { id: `disbursement ${fact.receivableId}`, amount: seen ? 0n : loan.lent },
      {
        id: `repayment ${fact.receivableId}`,
        amount: larger(0n, smaller(loan.unseen, missing)),
      },
    ]
    return open(waits.map((wait) => ({ ...wait, currency: fact.currency })))
  })
}

/** The receivables that were lent or paid more or less than they say: each has a finding. What waits for its cash has none. */
export const expectedUnpaid = (facts: BookFacts): ReadonlySet<string> => {
  const { books, legs, side } = kept(facts)
  const unpaid = books.filter(({ fact, books: loan }) => {
    const own = legs.filter(({ id }) => id === fact.receivableId)
    const cash = (disbursement: boolean) =>
      own.filter((leg) => leg.currency === fact.currency && leg.disbursement === disbursement)
    const lentCash = total(cash(true).map(({ amount }) => amount)) * side
    const repaidCash = -total(cash(false).map(({ amount }) => amount)) * side
    const lentWaiting = cash(true).some(({ fits }) => fits) ? 0n : loan.lent
    const foreign = total(
      own.filter(({ currency }) => currency !== fact.currency).map(({ amount }) => amount),
    )
    // An excess that was paid out settles an excess that came in.
    const [overLent, overRepaid] = [lentCash - loan.lent, repaidCash - loan.repaid + loan.short]
    const isSettled = overLent > 0n && overLent === overRepaid
    return (
      (overLent > 0n && !isSettled) ||
      lentCash < loan.lent - lentWaiting ||
      (overRepaid > 0n && !isSettled) ||
      repaidCash < loan.repaid - loan.waiting ||
      foreign !== 0n
    )
  })
  return new Set(unpaid.map(({ fact }) => fact.receivableId))
}
