import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestDatabase } from "../../support/TestDatabase.ts"
import {
  client,
  clientId,
  creditAccount,
  lending,
  move,
  orgDeposit,
  orgWithdrawal,
  receivable,
} from "../Lending.ts"
import { at, borrower, surfaces, tx } from "../Loaned.ts"
import { id } from "../Partnership.ts"
import { findings, postings, rows, sync } from "../Runs.ts"

/** Kind, date and lines of the journal entries of receivables, in the order in which they occurred. */
const ofReceivables = rows(`
  select b.code || ' ' || e.effective_date || ' ' || e.kind || ': '
    || string_agg(a.role || ' ' || trim_scale(p.amount)::text, ', ' order by p.line_number) as line
  from ledger.journal_entries e
  join ledger.postings p using (book_id, entry_id)
  join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
  join mirror.books b on b.book_id = e.book_id
  where e.source_type = 'receivable_version'
  group by b.code, e.book_id, e.entry_id, e.effective_date, e.kind, e.sequence, e.correction order by e.source_id, e.sequence, e.correction`).pipe(
  Effect.map((found) => found.map(({ line }) => line)),
)

/** The balances of a book's roles that are not zero. */
const standing = (book: string) =>
  rows(`
    select a.role || ' ' || trim_scale(sum(t.debit - t.credit))::text as line from ledger.balances t
    join ledger.accounts a on a.book_id = t.book_id and a.account_id = t.account_id
    join mirror.books b on b.book_id = t.book_id where b.code = '${book}'
    group by a.role having sum(t.debit - t.credit) <> 0 order by 1`).pipe(
    Effect.map((found) => found.map(({ line }) => line)),
  )

layer(TestDatabase.layer, { excludeTestServices: true })("Receivables in the lender's view", (it) => {
  it.scoped("are booked line by line with their cash, through every transition between syncs", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      const run = sync(service.url, surfaces)
      held.receivables = [receivable()]
      held.creditAccounts = [creditAccount("0.00", "0.00")]
      move(held, "", { type: "CREDIT", amount: 5000 })
      yield* run
      expect(yield* ofReceivables).toEqual([])

      held.withdrawals = [orgWithdrawal(20, "1000.00")]
      move(held, "", { type: "DEBIT", amount: 1000, relatedType: "WITHDRAWAL", relatedId: id(20), on: at(6) })
      held.receivables = [receivable({ status: "ACTIVE", disbursedTransaction: tx(id(20), 6) })]
      held.creditAccounts = [creditAccount("1000.00", "1000.00")]
      yield* run
      const disbursed = "ORG 2026-10-06 disbursement: receivable_principal 1000, loan_clearing -1000"
      expect(yield* ofReceivables).toEqual([disbursed])
      expect((yield* postings).at(-2)).toBe("withdrawal loan_clearing 1000, cash -1000")

      held.clock = at(10)
      held.receivables = [
        receivable({ status: "ACTIVE", disbursedTransaction: tx(id(20), 6), repaymentAmount: "1050.00" }),
      ]
      held.creditAccounts = [creditAccount("1000.00", "1050.00")]
      yield* run
      const accrued = "ORG 2026-10-10 accrual: receivable_interest 50, interest_income -50"
      expect(yield* ofReceivables).toEqual([disbursed, accrued])

      held.deposits = [orgDeposit(30, "430.00", { transactionHash: "0xABC" })]
      move(held, "", { type: "CREDIT", amount: 430, relatedType: "DEPOSIT", relatedId: id(30), on: at(15) })
      held.clock = at(16)
      held.receivables = [
        receivable({
          status: "ACTIVE",
          disbursedTransaction: tx(id(20), 6),
          currentPrincipal: "600.00",
          repaymentAmount: "620.00",
          repaymentTransactions: [tx("0xabc", 15)],
        }),
      ]
      held.creditAccounts = [creditAccount("600.00", "620.00")]
      yield* run
      const partly = [
        "ORG 2026-10-15 repayment: loan_clearing 430, receivable_principal -400, receivable_interest -30",
      ]
      expect(yield* ofReceivables).toEqual([disbursed, accrued, ...partly])

      const last = move(held, "", { type: "CREDIT", amount: 620, on: at(20) })
      held.clock = at(21)
      held.receivables = [
        receivable({
          status: "PAID",
          disbursedTransaction: tx(id(20), 6),
          currentPrincipal: "0.00",
          repaymentAmount: "0.00",
          repaymentTransactions: [tx("0xabc", 15), tx(last, 20)],
        }),
      ]
      held.creditAccounts = [creditAccount("0.00", "0.00")]
      yield* run
      expect((yield* ofReceivables).slice(3)).toEqual([
        "ORG 2026-10-20 repayment: loan_clearing 620, receivable_principal -600, receivable_interest -20",
      ])
      expect(yield* standing("ORG")).toEqual(["cash 5050", "interest_income -50", "suspense -5000"])
      expect(yield* findings).toEqual(["adjustment warning"])
      // Without news a sync books nothing.
      const before = yield* postings
      yield* run
      yield* sync(service.url, surfaces, true)
      expect(yield* postings).toEqual(before)
      const [counted] = yield* rows("select count(*)::integer as n from mirror.receivables")
      expect(counted?.n).toBe(5)
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "A repayment that is known before its cash",
  (it) => {
    it.scoped("is estimated, and corrected when the cash comes", () =>
      Effect.gen(function* () {
        const { held, service } = yield* lending()
        const run = sync(service.url, surfaces)
        held.receivables = [receivable({ status: "ACTIVE", repaymentAmount: "1050.00" })]
        yield* run
        held.clock = at(7)
        held.receivables = [
          receivable({
            status: "ACTIVE",
            currentPrincipal: "600.00",
            repaymentAmount: "620.00",
            repaymentTransactions: [tx(id(30), 7)],
          }),
        ]
        yield* run
        expect((yield* ofReceivables).slice(2)).toEqual([
          "ORG 2026-10-07 repayment: loan_clearing 430, receivable_principal -400, receivable_interest -30",
        ])
        held.deposits = [orgDeposit(30, "420.00")]
        move(held, "", { type: "CREDIT", amount: 420, relatedType: "DEPOSIT", relatedId: id(30), on: at(8) })
        yield* run
        expect((yield* ofReceivables).slice(2)).toEqual([
          "ORG 2026-10-07 accrual: interest_income 10, receivable_interest -10",
          "ORG 2026-10-07 repayment: loan_clearing 430, receivable_principal -400, receivable_interest -30",
          "ORG 2026-10-07 reclassification: receivable_interest 10, loan_clearing -10",
        ])
        expect(yield* standing("ORG")).toEqual([
          "cash 420",
          "interest_income -40",
          "loan_clearing -1000",
          "receivable_interest 20",
          "receivable_principal 600",
        ])
      }),
    )

    it.scoped("moves its cash from another account to loan clearing when the receivable names it", () =>
      Effect.gen(function* () {
        const { held, service } = yield* lending()
        held.deposits = [orgDeposit(30, "1000.00")]
        move(held, "", { type: "CREDIT", amount: 1000, relatedType: "DEPOSIT", relatedId: id(30), on: at(3) })
        yield* sync(service.url, surfaces)
        expect(yield* postings).toEqual(["deposit cash 1000, deposits_clearing -1000"])
        held.receivables = [
          receivable({
            status: "PAID",
            currentPrincipal: "0",
            repaymentAmount: "0",
            repaymentTransactions: [tx(id(30).toUpperCase(), 3)],
          }),
        ]
        yield* sync(service.url, surfaces)
        expect(yield* standing("ORG")).toEqual(["cash 1000", "loan_clearing -1000"])
        expect(yield* postings).toContain("reclassification deposits_clearing 1000, loan_clearing -1000")
      }).pipe(Effect.provide(TestDatabase.layer)),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })("Receivables in the borrower's view", (it) => {
  it.scoped("stand in the client's book, as the mirror image", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1), client(2, { status: "ONBOARDING" })] })
      const loan = move(held, clientId(1), { type: "CREDIT", amount: 1000, on: at(2) })
      held.receivables = [
        receivable({ status: "ACTIVE", disbursedTransaction: tx(loan, 2), repaymentAmount: "1050.00" }),
      ]
      yield* sync(service.url, borrower)
      const back = move(held, clientId(1), { type: "DEBIT", amount: 430, on: at(15) })
      held.clock = at(16)
      held.receivables = [
        receivable({
          status: "ACTIVE",
          disbursedTransaction: tx(loan, 2),
          currentPrincipal: "600.00",
          repaymentAmount: "620.00",
          repaymentTransactions: [tx(back, 15)],
        }),
      ]
      yield* sync(service.url, borrower)
      expect(yield* ofReceivables).toEqual([
        "C1 2026-10-02 disbursement: loan_clearing 1000, loan_payable -1000",
        "C1 2026-10-05 accrual: interest_expense 50, interest_payable -50",
        "C1 2026-10-15 repayment: loan_payable 400, interest_payable 30, loan_clearing -430",
      ])
      expect(yield* standing("C1")).toEqual([
        "cash 570",
        "interest_expense 50",
        "interest_payable -20",
        "loan_payable -600",
      ])
      expect(yield* standing("ORG")).toEqual([])
    }),
  )

  it.scoped("stand in a book with the code and the name of a client that is not to be read", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      held.clients = [client(1), client(2, { status: "DISABLED" })]
      held.receivables = [
        receivable({ clientId: clientId(2), status: "ACTIVE" }),
        receivable({ receivableId: id(901), clientId: clientId(3), status: "ACTIVE" }),
      ]
      yield* sync(service.url, borrower)
      expect(
        yield* rows(
          `select code, name from mirror.books where client_id is not null order by name collate "C"`,
        ),
      ).toEqual([
        { code: "C1", name: "Client 1 Ltd" },
        { code: "C2", name: "Client 2 Ltd" },
        { code: "C1000000", name: clientId(3) },
      ])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("are taken back when they are cancelled", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      held.receivables = [receivable({ status: "ACTIVE", repaymentAmount: "1050.00" })]
      yield* sync(service.url, borrower)
      held.clock = at(9)
      held.receivables = [receivable({ status: "CANCELED", currentPrincipal: "0", repaymentAmount: "0" })]
      yield* sync(service.url, borrower)
      expect((yield* ofReceivables).at(-1)).toBe(
        "C1 2026-10-09 cancellation: loan_payable 1000, interest_payable 50, interest_expense -50, loan_clearing -1000",
      )
      expect(yield* standing("C1")).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("Credit accounts", (it) => {
  it.scoped("that do not add up to their receivables are a finding, until they do", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      held.receivables = [receivable({ status: "ACTIVE" }), receivable({ receivableId: id(901) })]
      held.creditAccounts = [creditAccount("1500.00", "1500.00")]
      const report = yield* sync(service.url, surfaces)
      expect(yield* findings).toEqual(["credit-totals blocking", "loan-in-transit warning"])
      expect(report.blockingFindings).toBe(1)
      // The receivables are read again before the difference is believed.
      expect(service.count("/receivables")).toBe(3)
      held.creditAccounts = [creditAccount("1000.00", "1000.00")]
      yield* sync(service.url, surfaces)
      expect(yield* findings).toEqual(["loan-in-transit warning"])
    }),
  )

  it.scoped("are reported where their path is not the one that the profile guesses, and stop nothing", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      held.interfere = (path, response) => {
        if (!path.startsWith("/credit-accounts")) return false
        response.writeHead(404, { "content-type": "application/json" }).end("{}")
        return true
      }
      const report = yield* sync(service.url, surfaces)
      expect(report.notices.join()).toContain("credit accounts: GET /credit-accounts answered 404")
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("[B] a malformed receivable is quarantined, and the others are booked", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      held.receivables = [
        receivable({ status: "ACTIVE" }),
        receivable({ receivableId: id(901), currentPrincipal: 600, status: "ACTIVE" }),
      ]
      const report = yield* sync(service.url, surfaces)
      expect(report.counters.quarantined).toBe(1)
      expect(yield* rows("select stream, path, item_id from mirror.quarantine")).toEqual([
        { stream: "receivable", path: "$.currentPrincipal", item_id: id(901) },
      ])
      expect(yield* ofReceivables).toHaveLength(1)
      held.receivables = [
        receivable({ status: "ACTIVE" }),
        receivable({ receivableId: id(901), currentPrincipal: "600", status: "ACTIVE" }),
      ]
      yield* sync(service.url, surfaces)
      expect(yield* rows("select 1 from mirror.quarantine where resolved_at is null")).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
