/** Compares receivables that name the same transactions, as the connector shares their cash out, with the oracle. */
import { Option } from "effect"
import fc from "fast-check"
import { expect, it } from "vitest"
import * as Money from "../../src/Common/Money.ts"
import type { Named } from "../../src/Ledger/Receivables/Claims.ts"
import { receivableEntries } from "../../src/Ledger/Receivables/Receivable.ts"
import { type Settled, settle } from "../../src/Ledger/Receivables/ReceivableCash.ts"
import type { ReceivableView } from "../../src/Ledger/Receivables/ReceivableVersion.ts"
import type { AccountFact, BookFacts, ReceivableFact, TransactionFact } from "./Facts.ts"
import { textOf } from "./Oracle/Decimal.ts"
import { loans } from "./Oracle/Loans.ts"
import { statements } from "./Oracle/Statement.ts"
import { expectedLoanClearing, expectedWaits } from "./Oracle.ts"

const at = (day: number): string => `2026-10-${String(day).padStart(2, "0")}T00:00:00.000000Z`

const settings = fc.record({
  view: fc.constant("lender" as const),
  repaymentAmount: fc.constantFrom("outstanding" as const, "original" as const),
  interest: fc.constantFrom("as_stated" as const, "when_paid" as const),
  interestBetweenReads: fc.constantFrom("0", "0.1", "1"),
})

/** A movement of one entry or, where a part was sent back, of two, which the first or the second of two names leads to. */
const movements = fc.array(
  fc.record({
    incoming: fc.nat(3).map((one) => one > 0),
    amount: fc.integer({ min: 1, max: 250 }),
    back: fc.option(fc.integer({ min: 1, max: 250 }), { freq: 4 }),
    currency: fc.constantFrom("USD", "USD", "USD", "EUR"),
  }),
  { minLength: 1, maxLength: 3 },
)

const versions = fc.array(
  fc.record({
    status: fc.constantFrom("PENDING", "ACTIVE", "ACTIVE", "ACTIVE", "PAID", "CANCELED"),
    principal: fc.oneof(fc.constantFrom(100, 50, 0), fc.nat(120)),
    interest: fc.oneof(fc.constantFrom(0, 5), fc.nat(30)),
    days: fc.nat(4),
  }),
  { minLength: 1, maxLength: 4 },
)

/** By movement: whether it is named as the disbursement, by which of its two names, from which version on, and of which day. */
const namings = fc.array(
  fc.option(
    fc.record({
      disbursement: fc.nat(3).map((one) => one === 0),
      name: fc.constantFrom("entry", "hash"),
      from: fc.nat(3),
      day: fc.integer({ min: 1, max: 4 }),
    }),
    { freq: 3 },
  ),
  { minLength: 3, maxLength: 3 },
)

const receivables = fc.array(
  fc.record({ issued: fc.nat(2), currency: fc.constantFrom("USD", "USD", "USD", "EUR"), versions, namings }),
  { minLength: 1, maxLength: 3 },
)

type Told = typeof receivables extends fc.Arbitrary<infer All> ? All : never
type Movements = typeof movements extends fc.Arbitrary<infer All> ? All : never

const nameOf = (name: string, movement: number): string => `${name} ${movement}`

/** A paid version shows no principal, and is not paid twice before it is owed again. */
const factsOf = (told: Told, view: ReceivableView): ReadonlyArray<ReceivableFact> =>
  told.map((one, place): ReceivableFact => {
    let [day, isPaid] = [5, false]
    let disbursed: TransactionFact | null = null
    const repayments: Array<TransactionFact> = []
    return {
      ...{ receivableId: `r${place}`, clientId: "c", currency: one.currency, rail: "SWIFT" },
      ...{ issueDate: at(1 + one.issued), initialPrincipal: "100" },
      versions: one.versions.map(({ days, interest, principal, status: next }, version) => {
        day += days
        const status = isPaid && next === "PAID" ? "PENDING" : next
        isPaid = status === "PAID" || (isPaid && status === "PENDING")
        one.namings.forEach((naming, movement) => {
          if (naming === null || Math.min(naming.from, one.versions.length - 1) !== version) return
          const transaction = { txId: nameOf(naming.name, movement), txTimestamp: at(naming.day) }
          if (!naming.disbursement) repayments.push(transaction)
          else disbursed ??= transaction
        })
        const current = status === "PAID" ? 0 : principal
        const due = (view.repaymentAmount === "original" ? 100 : current) + interest
        return {
          ...{ servedAt: at(day), status, disbursed, repayments: [...repayments] },
          ...{ currentPrincipal: String(current), repaymentAmount: String(due) },
        }
      }),
    }
  })

interface Entry {
  readonly entryId: string
  readonly movement: number
  readonly currency: string
  /** By the lender: positive where it came in. */
  readonly amount: number
}

const entriesOf = (moved: Movements): ReadonlyArray<Entry> =>
  moved.flatMap(({ amount, back, currency, incoming }, movement) => {
    const sign = incoming ? 1 : -1
    const one = { entryId: nameOf("entry", movement), movement, currency, amount: sign * amount }
    return back === null
      ? [one]
      : [one, { ...one, entryId: `${nameOf("entry", movement)} back`, amount: -sign * back }]
  })

const roles = [
  "receivable_principal",
  "receivable_interest",
  "interest_income",
  "deferred_interest",
  "loan_clearing",
] as const

const sumsOf = (parts: ReadonlyArray<readonly [string, string]>): ReadonlyArray<string> =>
  parts.filter(([, amount]) => amount !== "0").map(([role, amount]) => `${role} ${amount}`)

const shared = (
  facts: ReadonlyArray<ReceivableFact>,
  entries: ReadonlyArray<Entry>,
  view: ReceivableView,
): ReadonlyArray<Settled> => {
  const exact = Money.fromTrusted
  const named = facts.flatMap(({ receivableId, versions: all }) => {
    const first = new Map<string, Named>()
    const say = (purpose: Named["purpose"], version: number, { txId, txTimestamp }: TransactionFact) => {
      if (!first.has(`${purpose} ${txId}`))
        first.set(`${purpose} ${txId}`, { receivableId, txId, version, purpose, txTimestamp })
    }
    all.forEach(({ disbursed, repayments }, index) => {
      if (disbursed !== null) say("disbursement", index + 1, disbursed)
      for (const one of repayments) say("repayment", index + 1, one)
    })
    return [...first.values()]
  })
  return settle(
    facts.map(({ currency, issueDate, receivableId, versions: all }) => ({
      ...{ receivableId, currency, counterparty: Option.none(), issuedAt: issueDate },
      versions: all.map(({ currentPrincipal, repaymentAmount, servedAt, status }, index) => ({
        ...{ version: index + 1, status, initialPrincipal: exact("100"), servedAt },
        ...{ currentPrincipal: exact(currentPrincipal), repaymentAmount: exact(repaymentAmount) },
      })),
    })),
    named,
    ["entry", "hash"].flatMap((name) =>
      entries.map(({ amount, currency, entryId, movement }) => ({
        ...{ txId: nameOf(name, movement), entryId, currency, amount: exact(String(amount)) },
      })),
    ),
    view,
  )
}

const text = (amount: Money.Amount): string => Money.toText(Money.plain(amount))

/** What each receivable takes of each movement, what is booked of it, and what stands in loan clearing or is waited for. */
const shown = (all: ReadonlyArray<Settled>, view: ReceivableView) => ({
  shares: all
    .flatMap(({ shares }) =>
      shares.map(
        ({ amount, entries, fits, purpose, receivableId }) =>
          `${receivableId} ${purpose} ${entries[0]} ${text(amount)}${fits ? "" : " (of nobody)"}`,
      ),
    )
    .sort(),
  books: all.map((one) => {
    const sums = new Map<string, Money.Amount>()
    for (const { amount, role } of receivableEntries({ ...one, posted: new Map() }, view).flatMap(
      ({ lines }) => lines,
    ))
      sums.set(role, Money.add(sums.get(role) ?? Money.zero, amount))
    const of = (role: string): readonly [string, string] => [role, text(sums.get(role) ?? Money.zero)]
    return sumsOf(roles.map(of))
  }),
  clearing: all
    .flatMap(({ currency: own, receivableId, shares, taken }) =>
      ["USD", "EUR"].flatMap((currency) => {
        const cash = shares.filter((one) => one.currency === currency)
        const came = Money.total(cash.map(({ amount, leftOver }) => Money.add(amount, leftOver)))
        const left = Money.subtract(own === currency ? taken : Money.zero, came)
        return Money.isZero(left) ? [] : [`${receivableId} ${currency} ${text(left)}`]
      }),
    )
    .sort(),
  waits: all.flatMap(({ legs, receivableId }) =>
    (["disbursement", "repayment"] as const).flatMap((purpose) => {
      const own = legs.filter((leg) => leg.purpose === purpose)
      const amount = Money.total(own.map((leg) => leg.amount))
      return Money.isZero(amount) ? [] : [`${purpose} ${receivableId} ${text(amount)}`]
    }),
  ),
})

const expected = (
  facts: ReadonlyArray<ReceivableFact>,
  entries: ReadonlyArray<Entry>,
  view: ReceivableView,
) => {
  const accounts = ["USD", "EUR"].map((currency): AccountFact => {
    let balance = 0
    const own = entries.filter((one) => one.currency === currency)
    return {
      ...{ accountId: currency, currency, rail: "SWIFT" },
      entries: own.map(({ amount, entryId, movement }) => {
        balance += amount
        return {
          ...{ entryId, type: amount > 0 ? "CREDIT" : "DEBIT", amount: String(Math.abs(amount)) },
          ...{ balanceAfter: String(balance), occurredAt: at(1) },
          related: { type: "PAYOUT", id: nameOf("hash", movement) },
        }
      }),
    }
  })
  const book: BookFacts = {
    settings: { ...view, timeZone: "UTC", flatWithdrawalFee: "none" },
    ...{ accounts, resources: [], receivables: facts, reclassified: [] },
  }
  const { books, takers } = loans(book, statements(book).posted)
  return {
    shares: takers
      .flatMap(({ entries: of, fits, shares }) =>
        shares.map(
          ({ amount, disbursement, receivableId }) =>
            `${receivableId} ${disbursement ? "disbursement" : "repayment"} ${of[0]?.entryId} ${textOf(-amount)}${fits ? "" : " (of nobody)"}`,
        ),
      )
      .sort(),
    books: books.map(({ books: { clearing, deferred, income, interest, principal } }) =>
      sumsOf([
        ["receivable_principal", textOf(principal)],
        ["receivable_interest", textOf(interest)],
        ["interest_income", textOf(income)],
        ["deferred_interest", textOf(deferred)],
        ["loan_clearing", textOf(clearing)],
      ]),
    ),
    clearing: expectedLoanClearing(book)
      .map(({ balance, currency, id }) => `${id} ${currency} ${balance}`)
      .sort(),
    waits: expectedWaits(book).map(({ balance, id }) => `${id} ${balance}`),
  }
}

it("gives the same in both", () => {
  fc.assert(
    fc.property(receivables, movements, settings, (told, moved, view) => {
      const facts = factsOf(told, view)
      const entries = entriesOf(moved)
      expect(shown(shared(facts, entries, view), view)).toEqual(expected(facts, entries, view))
    }),
    { numRuns: 500 },
  )
})
