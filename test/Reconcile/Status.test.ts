import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { Status } from "../../src/Inquiry/Status.ts"
import { combined } from "../../src/Reconcile/TieOut.ts"
import { unruled } from "../support/unruled.ts"
import { addEntry, openAccount, openBook, payout, query, reconciled, services, startRun } from "./Books.ts"

const nothingOpen = combined([])

layer(Status.Default.pipe(Layer.provideMerge(services)))("the status", (it) => {
  it.effect("tells the last run of each command, every account, and what is open", () =>
    Effect.gen(function* () {
      const { read } = yield* Status
      const book = yield* openBook
      const account = yield* openAccount(book)
      yield* addEntry(account, { type: "CREDIT", amount: "10.5", of: payout })
      yield* startRun(book)
      expect(yield* reconciled(book)).toEqual([])
      yield* unruled(`
        update sync.runs set started_at = '2026-10-07T03:30:00Z', ended_at = '2026-10-07T03:31:00Z',
          summary = '${JSON.stringify({ newEntries: { [account.id]: 1 } })}'
        where connection = '${book.connection}' and run_id = (select max(run_id) from sync.runs)`)
      expect(yield* read(Option.some(book.connection))).toEqual({
        runs: [
          {
            connection: book.connection,
            command: "sync",
            startedAt: "2026-10-07T03:30:00Z",
            endedAt: "2026-10-07T03:31:00Z",
            state: "done",
          },
        ],
        accounts: [
          {
            book: book.code,
            accountId: account.id,
            currency: "USD",
            paymentRails: "SEPA",
            status: "ACTIVE",
            entries: 1,
            newEntries: 1,
            balance: "10.50",
            tiesOut: true,
            beingRead: false,
            remark: null,
            acceptedAt: null,
          },
        ],
        open: { blockingFindings: 0, warnings: 0, quarantined: 0 },
        tieOut: { ...nothingOpen, accounts: 1 },
        // Its sync is a row alone: nothing says what it read.
        jobs: [],
        notRead: ["statements", "accounts", "deposits", "withdrawals"].map((what) => ({
          what,
          count: 1,
          leftOut: true,
        })),
      })
    }),
  )

  it.effect("says why an account does not tie out", () =>
    Effect.gen(function* () {
      const { read } = yield* Status
      const book = yield* openBook
      const account = yield* openAccount(book)
      yield* addEntry(account, { type: "CREDIT", amount: "10.5", of: payout })
      const remark = Effect.map(read(Option.some(book.connection)), ({ accounts, open }) => [
        accounts[0]?.tiesOut,
        accounts[0]?.remark,
        open.blockingFindings,
      ])
      expect(yield* remark).toEqual([false, "its statement has not been read to its end yet", 0])
      yield* query((sql) => sql`update mirror.accounts set balance = 11 where account_id = ${account.id}`)
      expect(yield* remark).toEqual([false, "the service says 11.00", 0])
      yield* reconciled(book)
      expect(yield* remark).toEqual([false, "the service says 11.00", 1])
      yield* query(
        (sql) => sql`
          insert into mirror.statement_entries
            (book_id, account_id, position, entry_id, type, amount, currency, balance_after, occurred_at, held, run_id)
          values (${book.bookId}, ${account.id}, 1000000000001, gen_random_uuid(), 'DEBIT', 1, 'USD', 1, now(), true, 0)`,
      )
      expect(yield* remark).toEqual([false, "1 entry is held back", 1])
    }),
  )

  it.effect("does not say that an account had no news whose last sync named only those with most", () =>
    Effect.gen(function* () {
      const { read } = yield* Status
      const book = yield* openBook
      const [named, other] = [yield* openAccount(book), yield* openAccount(book)]
      const runId = yield* startRun(book)
      yield* unruled(`
        update sync.runs set summary = '${JSON.stringify({ newEntries: { [named.id]: 7 }, moreAccounts: 1 })}'
        where run_id = ${runId}`)
      const { accounts } = yield* read(Option.none())
      const own = accounts.filter(({ book: code }) => code === book.code)
      expect(new Map(own.map(({ accountId, newEntries }) => [accountId, newEntries]))).toEqual(
        new Map([
          [named.id, 7],
          [other.id, null],
        ]),
      )
    }),
  )

  it.effect("counts what each of two connections to one organization brought by its own last sync", () =>
    Effect.gen(function* () {
      const { read } = yield* Status
      const [book, other] = [yield* openBook, yield* openBook]
      const account = yield* openAccount(book)
      yield* query(
        (sql) => sql`
          insert into mirror.accounts (book_id, account_id, currency, payment_rails, status, balance, balance_read_at, raw, run_id)
          values (${other.bookId}, ${account.id}, 'USD', 'SEPA', 'ACTIVE', 0, now(), '{}', 0)`,
      )
      for (const [of, count] of [
        [book, 3],
        [other, 0],
      ] as const) {
        const runId = yield* startRun(of)
        yield* unruled(`
          update sync.runs set summary = '${JSON.stringify({ newEntries: { [account.id]: count } })}'
          where run_id = ${runId}`)
      }
      const { accounts } = yield* read(Option.none())
      const own = accounts.filter(({ accountId }) => accountId === account.id)
      expect(new Map(own.map(({ book: code, newEntries }) => [code, newEntries]))).toEqual(
        new Map([
          [book.code, 3],
          [other.code, 0],
        ]),
      )
    }),
  )

  it.effect("of a connection that has not been read yet is empty", () =>
    Effect.gen(function* () {
      const { read } = yield* Status
      expect(yield* read(Option.some("nowhere"))).toEqual({
        runs: [],
        accounts: [],
        open: { blockingFindings: 0, warnings: 0, quarantined: 0 },
        tieOut: nothingOpen,
        jobs: [],
        notRead: [],
      })
    }),
  )
})
