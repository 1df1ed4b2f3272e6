/** Loans that wait for their cash: first an open item, then a finding per leg that blocks the close of its month. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Explain } from "../../src/Explain.ts"
import { bookTieOuts, combined, tieOutSentence } from "../../src/Reconcile/TieOut.ts"
import { Settings } from "../../src/Settings.ts"
import { lending, move, orgDeposit, receivable } from "../Sync/Lending.ts"
import { at, items, loan, paid, standing, surfaces, tx, unexplained } from "../Sync/Loaned.ts"
import { id } from "../Sync/Partnership.ts"
import { findings, rows, sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { closing } from "./Months.ts"

type Variables = Record<string, string>

const sentence = (variables: Variables = surfaces) =>
  Effect.map(bookTieOuts(null), (all) => tieOutSentence(combined(all))).pipe(
    Effect.provide(Settings.from({ variables })),
  )

const blockers = (period: string, variables: Variables = surfaces) =>
  Effect.map(closing(period, { dryRun: true, variables }), ([book]) =>
    (book?.blockers ?? []).map(({ what }) => what.replace(/\d+ days/, "N days")),
  )

const numbers = rows(
  "select 'F' || finding_id as id from reconcile.findings where closed_at is null order by finding_id",
).pipe(Effect.map((found) => found.map(({ id: number }) => String(number))))

/** What `tieout items` shows of loan clearing. */
const lines = rows(`
  select right(i.item_id::text, 3) || ' ' || trim_scale(i.amount)::text || ' since ' || i.since as line
  from mirror.books b cross join lateral ledger.open_items(b.book_id) i
  join ledger.accounts a on a.book_id = b.book_id and a.account_id = i.account_id and a.role = 'loan_clearing'
  order by 1`).pipe(Effect.map((found) => found.map(({ line }) => line)))

const waiting = (purpose: string, amount: string, since: string, names: string) =>
  `loan-in-transit: No cash is known of the ${purpose} of receivable ${id(900)}: ${amount} USD since ${since} (N days). It names ${names}.`

/** A loan that was paid out and repaid by transactions that no statement shows. */
const neverSeen = (variables: Variables = surfaces) =>
  Effect.gen(function* () {
    const { held, service } = yield* lending()
    held.receivables = [loan({ disbursedTransaction: tx("PAYOUT-1", 2) })]
    const run = sync(service.url, variables)
    yield* run
    held.clock = "2026-11-02T00:00:00Z"
    held.receivables = [
      paid("REPAY-1", {
        disbursedTransaction: tx("PAYOUT-1", 2),
        repaymentTransactions: [tx("REPAY-1", 20)],
      }),
    ]
    yield* run
    return { held, run }
  })

layer(TestDatabase.layer, { excludeTestServices: true })("a loan whose cash was never seen", (it) => {
  it.scoped("is two open items and two findings, though its legs cancel each other in the books", () =>
    Effect.gen(function* () {
      yield* neverSeen()
      expect(yield* standing).toEqual(["interest_income -25", "loan_clearing 25"])
      expect(yield* findings).toEqual(["loan-in-transit warning", "loan-in-transit warning"])
      expect(yield* sentence()).toBe(
        "Cash ties out; 2 items are open in loan clearing (2 block the close of 2026-10)",
      )
      expect(yield* lines).toEqual(["900 -1000 since 2026-10-02", "900 1025 since 2026-10-20"])
      expect(yield* unexplained).toEqual([])
      expect(yield* blockers("2026-09")).toEqual([])
      expect(yield* blockers("2026-10")).toEqual([
        waiting("disbursement", "1000.00", "2026-10-02", "payout-1"),
        waiting("repayment", "1025.00", "2026-10-20", "repay-1"),
      ])
      const [evidence] = yield* rows(
        "select evidence from reconcile.findings where closed_at is null order by finding_id limit 1",
      )
      expect(evidence?.evidence).toMatchObject({
        receivableId: id(900),
        purpose: "disbursement",
        currency: "USD",
        amount: "1000.00",
        since: "2026-10-02",
        transactions: ["payout-1"],
        material: true,
      })
      const explained = (what: string) =>
        Effect.flatMap(Explain, (explain) => explain.explain(what)).pipe(
          Effect.provide(Explain.Default),
          Effect.map(({ steps }) => steps.map(({ title }) => title.replace(id(900), "…"))),
        )
      expect(yield* explained("F1")).toEqual(
        expect.arrayContaining(["finding F1: loan-in-transit", "receivable …, version 1"]),
      )
      expect(yield* explained(id(900))).toContain(`finding ${(yield* numbers)[1]}: loan-in-transit`)
      const accept = (yield* numbers).map((number) => ({ id: number, reason: "On another bank's statement" }))
      expect((yield* closing("2026-10", { variables: surfaces, accept }))[0]?.state).toBe("closed")
    }),
  )

  it.scoped("loses the finding of a leg when that leg's cash comes", () =>
    Effect.gen(function* () {
      const { held, run } = yield* neverSeen()
      held.withdrawals = [
        {
          withdrawalId: id(701),
          sourceAccount: { accountId: id(1), currency: "USD", paymentRails: "SWIFT" },
          sourceAmount: { amount: "1000.00", currency: "USD" },
          destinationAmount: { amount: "1000.00", currency: "USD" },
          fee: { amount: "0.00", currency: "USD" },
          destination: { accountNumber: "DE00", bankName: "Bank" },
          status: "COMPLETED",
          transactionHash: "PAYOUT-1",
          createdAt: at(2),
        },
      ]
      move(held, "", {
        type: "DEBIT",
        amount: 1000,
        on: at(2),
        relatedType: "WITHDRAWAL",
        relatedId: id(701),
      })
      yield* run
      expect(yield* blockers("2026-10")).toEqual([waiting("repayment", "1025.00", "2026-10-20", "repay-1")])
      expect(yield* items).toEqual(["900 1025 repayment due 1025 paid 0 since 2026-10-20"])
      held.deposits = [
        {
          depositId: id(700),
          account: { accountId: id(1), currency: "USD", paymentRails: "SWIFT" },
          amount: { amount: "1025.00", currency: "USD" },
          status: "COMPLETED",
          transactionHash: "REPAY-1",
          createdAt: at(20),
        },
      ]
      move(held, "", { type: "CREDIT", amount: 1025, on: at(20), relatedType: "DEPOSIT", relatedId: id(700) })
      yield* run
      expect(yield* findings).toEqual([])
      expect(yield* lines).toEqual([])
      expect(yield* sentence()).toBe("Everything ties out")
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("cash of a loan that is young or small", (it) => {
  it.scoped("is an open item without a finding", () =>
    Effect.gen(function* () {
      // On the last of the days that the older of the two may take, neither is late.
      const [since] = yield* rows("select (ledger.day_of(now(), 'UTC') - date '2026-10-02')::text as days")
      const young = { ...surfaces, TIEOUT_RECONCILE_TRANSIT_DAYS: String(since?.days) }
      yield* neverSeen(young)
      expect(yield* findings).toEqual([])
      expect(yield* sentence(young)).toBe("Cash ties out; 2 items are open in loan clearing")
      expect(yield* blockers("2026-10", young)).toEqual([])
      const small = { ...surfaces, TIEOUT_RECONCILE_MATERIALITY: '{USD: "1000.00"}' }
      expect(yield* blockers("2026-10", small)).toEqual([
        waiting("repayment", "1025.00", "2026-10-20", "repay-1"),
      ])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a repayment of two transactions", (it) => {
  it.scoped("waits for the one that no statement shows, and says where it names none", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      const run = sync(service.url, surfaces)
      held.receivables = [loan()]
      yield* run
      const first = move(held, "", { type: "CREDIT", amount: 400, on: at(19) })
      held.clock = "2026-11-02T00:00:00Z"
      held.receivables = [paid("", { repaymentTransactions: [tx(first, 19), tx("OTHER", 20)] })]
      yield* run
      expect(yield* blockers("2026-10")).toEqual([
        `loan-in-transit: No cash is known of the disbursement of receivable ${id(900)}: 1000.00 USD since 2026-10-05 (N days). It names no transaction.`,
        waiting("repayment", "625.00", "2026-10-20", "other"),
      ])
      expect(yield* sentence()).toBe(
        "Cash ties out; 2 items are open in loan clearing (2 block the close of 2026-10)",
      )
      expect(yield* unexplained).toEqual([])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("cash that was named before it settled", (it) => {
  it.scoped("is not waited for", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      const run = sync(service.url, surfaces)
      const out = move(held, "", { type: "DEBIT", amount: 1000, on: at(2) })
      const back = move(held, "", { type: "CREDIT", amount: 1025, on: at(4) })
      const disbursedTransaction = tx(out, 2)
      held.receivables = [loan({ disbursedTransaction })]
      yield* run
      held.receivables = [loan({ disbursedTransaction, repaymentTransactions: [tx(back, 4)] })]
      yield* run
      held.clock = at(21)
      held.receivables = [paid(back, { disbursedTransaction, repaymentTransactions: [tx(back, 4)] })]
      yield* run
      expect(yield* standing).toEqual(["cash 25", "interest_income -25"])
      expect(yield* findings).toEqual([])
      expect(yield* sentence()).toBe("Everything ties out")
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a shortfall within the interest", (it) => {
  it.scoped("leaves nothing in clearing, and the sentence counts it as a finding, not as an item", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      const out = move(held, "", { type: "DEBIT", amount: 1000, on: at(2) })
      const disbursedTransaction = tx(out, 2)
      held.receivables = [loan({ disbursedTransaction })]
      yield* sync(service.url, surfaces)
      const back = move(held, "", { type: "CREDIT", amount: 1010, on: at(20) })
      held.clock = at(21)
      held.receivables = [paid(back, { disbursedTransaction })]
      yield* sync(service.url, surfaces)
      expect(yield* standing).toEqual(["cash 10", "interest_income -10"])
      expect(yield* findings).toEqual(["loan-clearing blocking"])
      expect(yield* sentence()).toBe("Cash ties out; 1 blocking finding is open")
      // Beside what else is open it is counted, too.
      move(held, "", { type: "CREDIT", amount: 7, on: at(21) })
      yield* sync(service.url, surfaces)
      expect(yield* sentence()).toBe("Cash ties out; 1 item stands in suspense, 1 blocking finding is open")
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a loan that was cancelled", (it) => {
  it.scoped("waits for nothing", () =>
    Effect.gen(function* () {
      const { held, run } = yield* neverSeen()
      held.receivables = [
        receivable({
          status: "CANCELED",
          currentPrincipal: "0",
          repaymentAmount: "0",
          disbursedTransaction: tx("PAYOUT-1", 2),
        }),
      ]
      yield* run
      expect(yield* findings).toEqual([])
      expect(yield* sentence()).toBe("Everything ties out")
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a repayment that was sent back", (it) => {
  it.scoped("blocks the close where the sync that read it could not read everything else", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      const lent = move(held, "", { type: "DEBIT", amount: 1000, on: at(2) })
      held.receivables = [loan({ disbursedTransaction: tx(lent, 2) })]
      yield* sync(service.url, surfaces)
      held.clock = "2026-11-02T00:00:00Z"
      const deposit = { relatedType: "DEPOSIT", relatedId: id(701) }
      held.deposits = [orgDeposit(701, "405.00")]
      move(held, "", { type: "CREDIT", amount: 405, on: at(20), ...deposit })
      const part = { currentPrincipal: "600.00", repaymentAmount: "620.00" }
      const repaid = { ...part, repaymentTransactions: [tx(id(701), 20)] }
      held.receivables = [loan({ disbursedTransaction: tx(lent, 2), ...repaid })]
      yield* sync(service.url, surfaces)
      expect(yield* findings).toEqual([])
      move(held, "", { type: "DEBIT", amount: 405, on: at(31), ...deposit })
      held.interfere = (path, response) => {
        if (!path.startsWith("/receivables")) return false
        response.writeHead(500).end("{}")
        return true
      }
      yield* Effect.exit(sync(service.url, surfaces))
      expect(yield* standing).toContain("loan_clearing 405")
      expect(yield* blockers("2026-10")).toEqual([
        "loan-clearing: 405.00 USD stand in loan clearing that no receivable accounts for, as where cash of one came or went since receivables were last booked: a complete sync books that.",
      ])
      expect(yield* sentence()).toBe("Cash ties out; 1 item is open in loan clearing")
      held.interfere = () => false
      yield* sync(service.url, surfaces)
      expect(yield* findings).toEqual(["loan-clearing blocking"])
      expect(yield* items).toEqual(["900 400 repayment due 405 paid 0 since 2026-10-20"])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
