/** Cash that does not fit one receivable exactly: shared, too much, too little, and loans that were seen late. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { nowByUs } from "../../src/Common/Time.ts"
import { reclassify } from "../../src/Reclassify.ts"
import { services } from "../support/BookServices.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { accountOf, clientId, creditAccount, lending, move, receivable } from "./Lending.ts"
import {
  at,
  borrower,
  items,
  lent,
  loan,
  messages,
  paid,
  second,
  short,
  standing,
  surfaces,
  told,
  tx,
  unexplained,
} from "./Loaned.ts"
import { id } from "./Partnership.ts"
import { findings, postings, rows, sync } from "./Runs.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("One deposit that pays two receivables", (it) => {
  it.scoped("is shared by what each settled, and its interest is income once", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      move(held, "", { type: "CREDIT", amount: 5000 })
      const [first = "", other = ""] = lent(held)
      held.receivables = [
        loan({ disbursedTransaction: tx(first, 2) }),
        loan({ receivableId: second, disbursedTransaction: tx(other, 3) }),
      ]
      yield* sync(service.url, surfaces)
      const deposit = move(held, "", { type: "CREDIT", amount: 2050, on: at(20) })
      held.clock = at(21)
      held.receivables = [
        paid(deposit, { disbursedTransaction: tx(first, 2) }),
        paid(deposit, { receivableId: second, disbursedTransaction: tx(other, 3) }),
      ]
      yield* sync(service.url, surfaces)
      expect(yield* standing).toEqual(["cash 5050", "interest_income -50", "suspense -5000"])
      expect(yield* findings).toEqual(["adjustment warning"])
      expect(yield* items).toEqual([])
      expect(yield* unexplained).toEqual([])
      expect(yield* told).toEqual(yield* short)
    }),
  )

  it.scoped("is shared again when the second receivable names it later", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      move(held, "", { type: "CREDIT", amount: 5000 })
      const [first = "", other = ""] = lent(held)
      const one = loan({ disbursedTransaction: tx(first, 2) })
      const two = loan({
        receivableId: second,
        issueDate: "2026-09-01T00:00:00Z",
        disbursedTransaction: tx(other, 3),
      })
      held.receivables = [one, two]
      yield* sync(service.url, surfaces)
      // The cash is too little for both: the receivable that was issued later has it until the other names it.
      const deposit = move(held, "", { type: "CREDIT", amount: 1500, on: at(20) })
      held.clock = at(21)
      const onePaid = paid(deposit, { disbursedTransaction: tx(first, 2) })
      held.receivables = [onePaid, two]
      yield* sync(service.url, surfaces)
      expect(yield* items).toEqual(["900 -475 repayment due 1025 paid 1500 since 2026-10-20"])
      held.clock = at(22)
      held.receivables = [
        onePaid,
        paid(deposit, {
          receivableId: second,
          issueDate: "2026-09-01T00:00:00Z",
          disbursedTransaction: tx(other, 3),
        }),
      ]
      yield* sync(service.url, surfaces)
      expect(yield* items).toEqual(["900 525 repayment due 1025 paid 475 since 2026-10-20"])
      expect((yield* postings).filter((line) => String(line).startsWith("reclassification"))).toContain(
        "reclassification receivable_interest 25, loan_clearing -25",
      )
      // The receivable that was issued first gets its 1,025, and the interest of the other gets nothing.
      expect(yield* standing).toEqual([
        "cash 4500",
        "interest_income -25",
        "loan_clearing 525",
        "suspense -5000",
      ])
      expect(yield* unexplained).toEqual([])
      expect(yield* told).toEqual(yield* short)
      const [finding] = yield* messages
      expect(finding?.message).toBe(
        `The repayment of receivable ${id(900)}: 1025.00 USD was due, 475.00 USD was paid: 550.00 USD too little, 525.00 USD stand in loan clearing.`,
      )
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("A repayment that the service puts right", (it) => {
  for (const isNamed of [false, true]) {
    it.scoped(
      `is the other receivable's, ${isNamed ? "though both name it" : "which alone names it then"}`,
      () =>
        Effect.gen(function* () {
          const { held, service } = yield* lending()
          move(held, "", { type: "CREDIT", amount: 5000 })
          const [first = "", other = ""] = lent(held)
          const one = loan({ disbursedTransaction: tx(first, 2) })
          const two = loan({ receivableId: second, disbursedTransaction: tx(other, 3) })
          held.receivables = [one, two]
          yield* sync(service.url, surfaces)
          const deposit = move(held, "", { type: "CREDIT", amount: 1025, on: at(20) })
          held.clock = at(21)
          held.receivables = [paid(deposit, { disbursedTransaction: tx(first, 2) }), two]
          yield* sync(service.url, surfaces)
          expect(yield* items).toEqual([])
          held.clock = at(22)
          const named = isNamed ? { repaymentTransactions: [tx(deposit, 20)] } : {}
          held.receivables = [
            { ...one, ...named },
            paid(deposit, { receivableId: second, disbursedTransaction: tx(other, 3) }),
          ]
          yield* sync(service.url, surfaces)
          expect(yield* items).toEqual([])
          expect(yield* standing).toEqual([
            "cash 4025",
            "interest_income -50",
            "receivable_interest 25",
            "receivable_principal 1000",
            "suspense -5000",
          ])
          expect(yield* findings).toEqual(["adjustment warning"])
          expect(yield* unexplained).toEqual([])
        }).pipe(Effect.provide(TestDatabase.layer)),
    )
  }
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "A repayment of another amount than was due",
  (it) => {
    const after = (amount: number, variables: Record<string, string> = surfaces) =>
      Effect.gen(function* () {
        const { held, service } = yield* lending()
        const book = variables === borrower ? clientId(1) : ""
        const isLender = book === ""
        move(held, book, { type: "CREDIT", amount: 5000 })
        const [first = ""] = [
          move(held, book, { type: isLender ? "DEBIT" : "CREDIT", amount: 1000, on: at(2) }),
        ]
        held.receivables = [loan({ disbursedTransaction: tx(first, 2) })]
        yield* sync(service.url, variables)
        const deposit = move(held, book, { type: isLender ? "CREDIT" : "DEBIT", amount, on: at(20) })
        held.clock = at(21)
        held.receivables = [paid(deposit, { disbursedTransaction: tx(first, 2) })]
        yield* sync(service.url, variables)
        expect(yield* unexplained).toEqual([])
        expect(yield* told).toEqual(yield* short)
        return { held, service, deposit }
      })

    it.scoped("leaves an excess in loan clearing, and blocks", () =>
      Effect.gen(function* () {
        const { deposit } = yield* after(3000)
        expect(yield* standing).toEqual([
          "cash 7000",
          "interest_income -25",
          "loan_clearing -1975",
          "suspense -5000",
        ])
        expect(yield* findings).toEqual(["adjustment warning", "loan-clearing blocking"])
        const [finding] = yield* messages
        expect(finding?.message).toBe(
          `The repayment of receivable ${id(900)}: 1025.00 USD was due, 3000.00 USD was paid: 1975.00 USD too much, -1975.00 USD stand in loan clearing.`,
        )
        expect(finding?.evidence).toMatchObject({
          receivableId: id(900),
          purpose: "repayment",
          currency: "USD",
          due: "1025.00",
          paid: "3000.00",
          excess: "1975.00",
          loanClearing: "-1975.00",
          occurredAt: "2026-10-20T12:00:00.000000Z",
        })
        expect(JSON.stringify(finding?.evidence)).toContain(deposit)
        expect(yield* items).toEqual(["900 -1975 repayment due 1025 paid 3000 since 2026-10-20"])
      }),
    )

    it.scoped("leaves an excess where it is while other cash of the loan is still to come, and says so", () =>
      Effect.gen(function* () {
        const { held, service } = yield* lending()
        move(held, "", { type: "CREDIT", amount: 5000 })
        held.receivables = [loan({ disbursedTransaction: tx("elsewhere", 2) })]
        yield* sync(service.url, surfaces)
        const deposit = move(held, "", { type: "CREDIT", amount: 1027, on: at(20) })
        held.clock = at(21)
        held.receivables = [paid(deposit, { disbursedTransaction: tx("elsewhere", 2) })]
        yield* sync(service.url, surfaces)
        const [open] = yield* rows(
          "select finding_id::text as id from reconcile.findings where check_name = 'loan-clearing' and closed_at is null",
        )
        const refused = yield* reclassify({
          id: `F${open?.id}`,
          to: "2990",
          name: Option.some("Liabilities:Overpaid"),
          reason: "To be paid back",
          who: "controller",
        }).pipe(Effect.provide(services), Effect.flip)
        expect(refused).toMatchObject({
          reason: "NothingThere",
          message: `Other cash of the loan of statement entry ${deposit} is still to come: until then it is unknown what of it was not due, and nothing is moved from 1050 Assets:Clearing:Loans:USD. A close can accept the finding. See: tieout reconcile`,
        })
      }).pipe(Effect.provide(TestDatabase.layer)),
    )

    it.scoped("is settled by a reclassification of the excess, which a sync leaves alone", () =>
      Effect.gen(function* () {
        const { service } = yield* after(3000)
        const [open] = yield* rows(
          "select finding_id::text as id from reconcile.findings where check_name = 'loan-clearing' and closed_at is null",
        )
        const moved = yield* reclassify({
          id: `F${open?.id}`,
          to: "2990",
          name: Option.some("Liabilities:Overpaid"),
          reason: "To be paid back",
          who: "controller",
        }).pipe(Effect.provide(services))
        expect(moved.amount).toBe("-1975.00 USD")
        const settled = ["cash 7000", "interest_income -25", "other -1975", "suspense -5000"]
        expect(yield* standing).toEqual(settled)
        expect(yield* findings).toEqual(["adjustment warning"])
        expect(yield* unexplained).toEqual([])
        expect(yield* told).toEqual(yield* short)
        yield* sync(service.url, surfaces, true)
        expect(yield* standing).toEqual(settled)
        expect(yield* items).toEqual([])
        expect(yield* findings).toEqual(["adjustment warning"])
      }).pipe(Effect.provide(TestDatabase.layer)),
    )

    it.scoped("is a finding where it is too little, and missing interest is no income", () =>
      Effect.gen(function* () {
        yield* after(1010)
        expect(yield* standing).toEqual(["cash 5010", "interest_income -10", "suspense -5000"])
        const [finding] = yield* messages
        expect(finding?.message).toBe(
          `The repayment of receivable ${id(900)}: 1025.00 USD was due, 1010.00 USD was paid: 15.00 USD too little.`,
        )
      }).pipe(Effect.provide(TestDatabase.layer)),
    )

    it.scoped("leaves the missing amount in loan clearing where it is less than the principal", () =>
      Effect.gen(function* () {
        yield* after(900)
        expect(yield* standing).toEqual(["cash 4900", "loan_clearing 100", "suspense -5000"])
        expect(yield* items).toEqual(["900 100 repayment due 1025 paid 900 since 2026-10-20"])
      }).pipe(Effect.provide(TestDatabase.layer)),
    )

    it.scoped("is a shortfall where all of the named movement was a fee", () =>
      Effect.gen(function* () {
        const { held, service } = yield* lending()
        const book = clientId(1)
        const first = move(held, book, { type: "CREDIT", amount: 1000, on: at(2) })
        held.receivables = [loan({ disbursedTransaction: tx(first, 2) })]
        yield* sync(service.url, borrower)
        held.withdrawals = [
          {
            withdrawalId: id(30),
            sourceAccount: { accountId: accountOf(book), currency: "USD", paymentRails: "SWIFT" },
            ...{ amount: "5.00", feeAmount: "5.00", currency: "USD", status: "COMPLETED" },
            ...{ destination: { destinationId: id(60) }, purpose: "Loan", createdAt: at(20) },
          },
        ]
        move(held, book, {
          type: "DEBIT",
          amount: 5,
          relatedType: "WITHDRAWAL",
          relatedId: id(30),
          on: at(20),
        })
        held.clock = at(21)
        held.receivables = [paid(id(30), { disbursedTransaction: tx(first, 2) })]
        yield* sync(service.url, borrower)
        expect(yield* findings).toContain("loan-clearing blocking")
        expect((yield* messages)[0]?.message).toContain("1025.00 USD was due, 0.00 USD was paid")
        expect(yield* unexplained).toEqual([])
      }).pipe(Effect.provide(TestDatabase.layer)),
    )

    it.scoped("is mirrored in the borrower's view", () =>
      Effect.gen(function* () {
        yield* after(3000, borrower)
        expect(yield* standing).toEqual([
          "cash 3000",
          "interest_expense 25",
          "loan_clearing 1975",
          "suspense -5000",
        ])
        expect(yield* findings).toEqual(["adjustment warning", "loan-clearing blocking"])
        expect(yield* items).toEqual(["900 1975 repayment due 1025 paid 3000 since 2026-10-20"])
      }).pipe(Effect.provide(TestDatabase.layer)),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })("A loan that waits for its cash", (it) => {
  it.scoped("is an open item of its receivable, and no finding while it is young", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      // Whenever the test runs: the days that a loan may wait are bounded.
      held.clock = yield* nowByUs
      held.receivables = [loan()]
      yield* sync(service.url, { ...surfaces, TIEOUT_RECONCILE_TRANSIT_DAYS: "366" })
      expect(yield* items).toEqual([
        `900 -1000 disbursement due 1000 paid 0 since ${held.clock.slice(0, 10)}`,
      ])
      expect(yield* findings).toEqual([])
      expect(yield* unexplained).toEqual([])
      expect(yield* told).toEqual(yield* short)
    }),
  )

  it.scoped("is a finding where it was cancelled after its cash had moved", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      const first = move(held, "", { type: "DEBIT", amount: 1000, on: at(2) })
      held.receivables = [loan({ disbursedTransaction: tx(first, 2) })]
      yield* sync(service.url, surfaces)
      held.clock = at(9)
      held.receivables = [
        receivable({
          status: "CANCELED",
          currentPrincipal: "0",
          repaymentAmount: "0",
          disbursedTransaction: tx(first, 2),
        }),
      ]
      yield* sync(service.url, surfaces)
      expect(yield* items).toEqual(["900 1000 disbursement due 0 paid 1000 since 2026-10-09"])
      expect(yield* findings).toEqual(["loan-clearing blocking"])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  for (const { back, item, message } of [
    { back: 1000, item: [], message: [] },
    {
      back: 400,
      item: ["900 600 disbursement due 0 paid 1000 since 2026-10-09"],
      message: [
        "The disbursement of receivable 900: 0.00 USD was due, 1000.00 USD was paid, 400.00 USD of it came back: 600.00 USD too much, 600.00 USD stand in loan clearing.",
      ],
    },
    {
      back: 1030,
      item: ["900 -30 repayment due 0 paid 1030 since 2026-10-09"],
      message: [
        "The repayment of receivable 900: 0.00 USD was due, 1030.00 USD was paid, 1000.00 USD of it gave back what was paid out: 30.00 USD too much, -30.00 USD stand in loan clearing.",
      ],
    },
  ]) {
    it.scoped(`is settled, where it was cancelled, by the cash that comes back: ${back} of 1000`, () =>
      Effect.gen(function* () {
        const { held, service } = yield* lending()
        const first = move(held, "", { type: "DEBIT", amount: 1000, on: at(2) })
        held.receivables = [loan({ disbursedTransaction: tx(first, 2) })]
        yield* sync(service.url, surfaces)
        const returned = move(held, "", { type: "CREDIT", amount: back, on: at(8) })
        held.clock = at(9)
        held.receivables = [
          receivable({
            status: "CANCELED",
            currentPrincipal: "0",
            repaymentAmount: "0",
            disbursedTransaction: tx(first, 2),
            repaymentTransactions: [tx(returned, 8)],
          }),
        ]
        yield* sync(service.url, surfaces)
        expect(yield* items).toEqual(item)
        const said = (yield* messages).map((line) => String(line.message).replace(id(900), "900"))
        expect(said).toEqual(message)
        expect(yield* findings).toEqual(message.map(() => "loan-clearing blocking"))
        expect(yield* unexplained).toEqual([])
      }).pipe(Effect.provide(TestDatabase.layer)),
    )
  }
})

layer(TestDatabase.layer, { excludeTestServices: true })("A loan that was first seen late", (it) => {
  const seen = (interest: string) =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clock: "2026-11-21T12:00:00Z" })
      held.receivables = [loan({ issueDate: "2026-05-01T00:00:00Z" })]
      yield* sync(service.url, { ...surfaces, TIEOUT_ACCOUNTING_RECEIVABLES_INTEREST: interest })
      return yield* standing
    })

  it.scoped("has all its interest in the month in which it was read, as it is stated", () =>
    Effect.gen(function* () {
      expect(yield* seen("as_stated")).toEqual([
        "interest_income -25",
        "loan_clearing -1000",
        "receivable_interest 25",
        "receivable_principal 1000",
      ])
    }),
  )

  it.scoped("defers it until it is paid, where that is the policy", () =>
    Effect.gen(function* () {
      expect(yield* seen("when_paid")).toEqual([
        "deferred_interest -25",
        "loan_clearing -1000",
        "receivable_interest 25",
        "receivable_principal 1000",
      ])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("A loan that was first seen paid", (it) => {
  it.scoped("had as interest what it shows beyond its principal, where its cash brought that", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      const out = move(held, "", { type: "DEBIT", amount: 1000, on: at(2) })
      const back = move(held, "", { type: "CREDIT", amount: 1025, on: at(20) })
      held.clock = at(21)
      held.receivables = [paid(back, { repaymentAmount: "1025.00", disbursedTransaction: tx(out, 2) })]
      yield* sync(service.url, surfaces)
      expect(yield* standing).toEqual(["cash 25", "interest_income -25"])
      expect(yield* items).toEqual([])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "A repayment that is named by one of its entries",
  (it) => {
    it.scoped("is the movement with all its entries: what was sent back is missing", () =>
      Effect.gen(function* () {
        const { held, service } = yield* lending()
        const out = move(held, "", { type: "DEBIT", amount: 1000, on: at(2) })
        held.receivables = [loan({ disbursedTransaction: tx(out, 2) })]
        yield* sync(service.url, surfaces)
        const deposit = { relatedType: "DEPOSIT", relatedId: id(700) }
        held.deposits = [
          {
            depositId: id(700),
            account: { accountId: id(1), currency: "USD", paymentRails: "SWIFT" },
            amount: { amount: "1025.00", currency: "USD" },
            status: "COMPLETED",
            createdAt: at(20),
          },
        ]
        const back = move(held, "", { type: "CREDIT", amount: 1025, on: at(20), ...deposit })
        move(held, "", { type: "DEBIT", amount: 1025, on: at(21), ...deposit })
        held.clock = at(22)
        held.receivables = [paid(back, { disbursedTransaction: tx(out, 2) })]
        yield* sync(service.url, surfaces)
        expect(yield* standing).toEqual(["cash -1000", "loan_clearing 1000"])
        expect((yield* findings).filter((line) => String(line).startsWith("loan-clearing"))).toEqual([
          "loan-clearing blocking",
        ])
      }),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })("Credit accounts that name a client", (it) => {
  it.scoped("are compared client by client, with the receivables that can make up the difference", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      held.receivables = [loan(), loan({ receivableId: second, clientId: clientId(2) })]
      const of = (index: number, principal: string, repayment: string) => ({
        ...creditAccount(principal, repayment),
        creditAccountId: id(950 + index),
        clientId: clientId(index),
      })
      held.creditAccounts = [of(1, "1000.00", "1025.00"), of(2, "900.00", "925.00")]
      yield* sync(service.url, surfaces)
      const found = yield* rows(
        "select subject_id, evidence from reconcile.findings where closed_at is null and check_name = 'credit-totals'",
      )
      expect(found.map(({ subject_id: subject }) => subject)).toEqual([`USD SWIFT ${clientId(2)}`])
      expect(found[0]?.evidence).toMatchObject({
        clientId: clientId(2),
        principal: "1000.00",
        statedPrincipal: "900.00",
        candidates: [
          { clientId: clientId(2), receivableId: second, principal: "1000.00", interest: "25.00" },
        ],
      })
      held.creditAccounts = [of(1, "1000.00", "1025.00"), of(2, "1000.00", "1025.00")]
      yield* sync(service.url, surfaces)
      expect(yield* findings).toEqual(["loan-in-transit warning", "loan-in-transit warning"])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "Receivables that no credit account covers",
  (it) => {
    const totals = Effect.map(
      rows(
        "select subject_id, message from reconcile.findings where closed_at is null and check_name = 'credit-totals' order by 1",
      ),
      (found) => found.map(({ message, subject_id: subject }) => [subject, message]),
    )
    const uncovered =
      "The books hold receivables in USD on SWIFT with a principal of 1000.00 USD and 1025.00 USD to be repaid; no credit account is of them."

    it.scoped("are a finding, whether their client has none or their rail", () =>
      Effect.gen(function* () {
        const { held, service } = yield* lending()
        held.receivables = [loan(), loan({ receivableId: second, clientId: clientId(2) })]
        const first = { ...creditAccount("1000.00", "1025.00"), clientId: clientId(1) }
        held.creditAccounts = [first]
        yield* sync(service.url, surfaces)
        expect(yield* totals).toEqual([["USD SWIFT", uncovered]])

        const other = {
          ...creditAccount("1000.00", "1025.00"),
          creditAccountId: id(952),
          clientId: clientId(2),
        }
        held.creditAccounts = [first, other]
        yield* sync(service.url, surfaces)
        expect(yield* totals).toEqual([])

        const elsewhere = loan({ receivableId: id(903), clientId: clientId(2), paymentRails: "SEPA" })
        held.receivables = [...held.receivables, elsewhere]
        yield* sync(service.url, surfaces)
        expect(yield* totals).toEqual([["USD SEPA", uncovered.replace("SWIFT", "SEPA")]])
      }),
    )
  },
)
