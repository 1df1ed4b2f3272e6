/** Repayments that the service takes back, and money that is paid back beyond what is owed. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { reclassify } from "../../src/Reclassify.ts"
import { services } from "../support/BookServices.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { lending, move, orgDeposit, orgWithdrawal } from "./Lending.ts"
import {
  at,
  items,
  loan,
  messages,
  paid,
  short,
  standing,
  surfaces,
  told,
  tx,
  unexplained,
} from "./Loaned.ts"
import { id } from "./Partnership.ts"
import { findings, rows, sync } from "./Runs.ts"

const texts = Effect.map(messages, (found) => found.map(({ message }) => message))

/** Paid out and repaid by the deposit 700 of so much. */
const repaid = (amount: number) =>
  Effect.gen(function* () {
    const { held, service } = yield* lending()
    const run = sync(service.url, surfaces)
    const out = move(held, "", { type: "DEBIT", amount: 1000, on: at(2) })
    const disbursedTransaction = tx(out, 2)
    held.receivables = [loan({ disbursedTransaction })]
    yield* run
    const deposit = { relatedType: "DEPOSIT", relatedId: id(700) }
    held.deposits = [orgDeposit(700, amount.toFixed(2), { createdAt: at(20) })]
    move(held, "", { type: "CREDIT", amount, on: at(20), ...deposit })
    held.clock = at(21)
    held.receivables = [paid(id(700), { disbursedTransaction })]
    yield* run
    return { held, run, deposit, disbursedTransaction }
  })

layer(TestDatabase.layer, { excludeTestServices: true })("A loan that is ACTIVE after it was PAID", (it) => {
  it.scoped("is owed again, and its cash waits in clearing under a finding that says so", () =>
    Effect.gen(function* () {
      const { disbursedTransaction, held, run } = yield* repaid(1025)
      expect(yield* findings).toEqual([])
      held.clock = at(25)
      held.receivables = [loan({ disbursedTransaction, repaymentTransactions: [tx(id(700), 20)] })]
      yield* run
      expect(yield* standing).toEqual([
        "cash 25",
        "interest_income -25",
        "loan_clearing -1025",
        "receivable_interest 25",
        "receivable_principal 1000",
      ])
      expect(yield* texts).toEqual([
        `The service took a repayment of receivable ${id(900)} back (1025.00 USD). The repayment of receivable ${id(900)}: 0.00 USD was due, 1025.00 USD was paid: 1025.00 USD too much, -1025.00 USD stand in loan clearing.`,
      ])
      expect(yield* items).toEqual(["900 -1025 repayment due 0 paid 1025 since 2026-10-25"])
      expect(yield* unexplained).toEqual([])
    }),
  )

  it.scoped("ties out where the cash went back, too", () =>
    Effect.gen(function* () {
      const { deposit, disbursedTransaction, held, run } = yield* repaid(1025)
      move(held, "", { type: "DEBIT", amount: 1025, on: at(24), ...deposit })
      held.clock = at(25)
      held.receivables = [loan({ disbursedTransaction, repaymentTransactions: [tx(id(700), 20)] })]
      yield* run
      expect(yield* standing).toEqual([
        "cash -1000",
        "interest_income -25",
        "receivable_interest 25",
        "receivable_principal 1000",
      ])
      expect(yield* texts).toEqual([])
      expect(yield* items).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})

const moving = (what: string) =>
  reclassify({
    id: what,
    to: "2990",
    name: Option.some("Liabilities:Overpaid"),
    reason: "To be paid back",
    who: "controller",
  }).pipe(Effect.provide(services))

/** Moves what the finding of loan clearing is about. */
const movingFound = Effect.gen(function* () {
  const [found] = yield* rows(
    "select 'F' || finding_id as id from reconcile.findings where check_name = 'loan-clearing' and closed_at is null",
  )
  yield* moving(String(found?.id))
})

layer(TestDatabase.layer, { excludeTestServices: true })("An excess that a person has moved", (it) => {
  /** 3,000 for 1,025, of which 1,975 stand in an account of a person's. */
  const moved = Effect.gen(function* () {
    const all = yield* repaid(3000)
    yield* movingFound
    expect(yield* standing).toEqual(["cash 2000", "interest_income -25", "other -1975"])
    expect(yield* findings).toEqual([])
    return all
  })

  it.scoped("and that is paid back by the deposit", () =>
    Effect.gen(function* () {
      const { deposit, held, run } = yield* moved
      move(held, "", { type: "DEBIT", amount: 1975, on: at(24), ...deposit })
      yield* run
      expect(yield* standing).toEqual(["cash 25", "interest_income -25"])
      expect(yield* texts).toEqual([])
      expect(yield* unexplained).toEqual([])
      expect(yield* told).toEqual(yield* short)
    }),
  )

  it.scoped("and that is paid back by a withdrawal that the receivable names", () =>
    Effect.gen(function* () {
      const { disbursedTransaction, held, run } = yield* moved
      held.withdrawals = [orgWithdrawal(702, "1975.00")]
      move(held, "", {
        type: "DEBIT",
        amount: 1975,
        on: at(24),
        relatedType: "WITHDRAWAL",
        relatedId: id(702),
      })
      held.clock = at(25)
      held.receivables = [
        paid(id(700), {
          disbursedTransaction,
          repaymentTransactions: [tx(id(700), 20), tx(id(702), 24)],
        }),
      ]
      yield* run
      expect(yield* standing).toEqual(["cash 25", "interest_income -25", "loan_clearing 1975", "other -1975"])
      expect(yield* texts).toEqual([
        `Of receivable ${id(900)}, 1025.00 USD was repaid where 1025.00 USD was due, and 1975.00 USD was paid back: 1975.00 USD more than was owed back, 1975.00 USD stand in loan clearing.`,
      ])
      // The person moves it to where the excess stands.
      const [back] = yield* rows(
        "select entry_id::text as id from mirror.statement_entries where amount = 1975",
      )
      yield* moving(String(back?.id))
      expect(yield* standing).toEqual(["cash 25", "interest_income -25"])
      expect(yield* findings).toEqual([])
      expect(yield* unexplained).toEqual([])
      expect(yield* told).toEqual(yield* short)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})

/** What a person moved, by account and day. */
const movedDays = Effect.map(
  rows(`
    select a.code || ' ' || trim_scale(p.amount) || ' ' || e.effective_date::text as line from ledger.journal_entries e
    join ledger.postings p on p.book_id = e.book_id and p.entry_id = e.entry_id
    join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
    where e.source_type = 'manual' order by 1`),
  (found) => found.map(({ line }) => line),
)

layer(TestDatabase.layer, { excludeTestServices: true })("What stands in loan clearing is moved", (it) => {
  it.scoped("on the day since when it stands there: a loan written off is a loss of its cancellation", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      const run = sync(service.url, surfaces)
      const out = move(held, "", { type: "DEBIT", amount: 1000, on: at(2) })
      const disbursedTransaction = tx(out, 2)
      held.clock = at(4)
      held.receivables = [loan({ disbursedTransaction })]
      yield* run
      held.clock = at(25)
      held.receivables = [loan({ disbursedTransaction, status: "CANCELED" })]
      yield* run
      expect(yield* items).toEqual(["900 1000 disbursement due 0 paid 1000 since 2026-10-25"])
      yield* movingFound
      expect(yield* movedDays).toEqual(["1050 -1000 2026-10-25", "2990 1000 2026-10-25"])
      expect(yield* findings).toEqual([])
      expect(yield* unexplained).toEqual([])
    }),
  )

  it.scoped("on the day of the cash, where the excess stands since then", () =>
    Effect.gen(function* () {
      yield* repaid(3000)
      yield* movingFound
      expect(yield* movedDays).toEqual(["1050 1975 2026-10-20", "2990 -1975 2026-10-20"])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
