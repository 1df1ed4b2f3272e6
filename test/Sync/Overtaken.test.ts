/** A process that stalled and was overtaken writes nothing: no account, finding or evidence, no end of its run, and no state of an event. */
import { expect, layer } from "@effect/vitest"
import { Effect, Either, Exit, Layer, Option } from "effect"
import { type Book, clientBook, organizationBook } from "../../src/Book.ts"
import * as Money from "../../src/Common/Money.ts"
import { Database } from "../../src/Database.ts"
import type { Line } from "../../src/Ledger/JournalEntry.ts"
import { Accounts } from "../../src/Ledger/LedgerAccounts.ts"
import { Ledger } from "../../src/Ledger.ts"
import { Reconcile } from "../../src/Reconcile.ts"
import { LeaseLost } from "../../src/Run/Lease.ts"
import { beginRun, joinRun, Run } from "../../src/Run.ts"
import { Settings } from "../../src/Settings.ts"
import { noteReads, noteTrouble } from "../../src/Sync/Runs/Evidence.ts"
import { recordEnd } from "../../src/Sync/Runs/Proving.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { credit, partnership } from "./Partnership.ts"
import { findings, rows, sync } from "./Runs.ts"

const reconcile = Layer.provideMerge(Reconcile.Default, Settings.from({ variables: {} }))

const settings = Settings.from({ variables: {} })
const ledger = Layer.provide(Ledger.Default, settings)
const accounts = Layer.provide(Accounts.Default, settings)

const clientId = "66666666-0000-4000-8000-000000000001"

layer(TestDatabase.layer, { excludeTestServices: true })("a run that was overtaken", (it) => {
  it.scoped("writes no finding, no evidence and no end", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership({ balance: "10.00", statement: [credit(11, "10.00", "10.00")] })
      yield* sync(service.url)
      const book = yield* organizationBook("default")
      const stalled = yield* beginRun("default", "replay")
      yield* rows("update reconcile.findings set closed_at = now()")
      yield* beginRun("default", "sync")

      const { afterRun } = yield* Effect.provide(Reconcile, reconcile)
      const found = yield* Effect.flip(afterRun([book], { ...stalled, full: true }))
      expect(found).toBeInstanceOf(LeaseLost)
      expect(yield* findings).toEqual([])

      const read = { stream: "deposits", beganAt: Option.some("2999-01-01T00:00:00Z") }
      const noting = Effect.provideService(noteReads(book, [read]), Run, stalled)
      const noted = yield* Effect.flip(stalled.commit(noting))
      expect(noted).toBeInstanceOf(LeaseLost)
      const trouble = { reason: "Forbidden", status: 403, detail: "" }
      yield* Effect.flip(stalled.commit(noteTrouble(book, "deposits", trouble)))
      expect(
        yield* rows(`select count(*)::integer as forged from sync.stream_reads
          where began_at >= '2999-01-01' or trouble is not null`),
      ).toEqual([{ forged: 0 }])

      yield* recordEnd(stalled, Exit.succeed(0), () => ({ code: 0 }))
      expect(yield* rows(`select state, exit_code from sync.runs where run_id = ${stalled.runId}`)).toEqual([
        { state: "abandoned", exit_code: null },
      ])
    }),
  )

  it.scoped("writes nothing where a failover lost its lease and the next one has the same epoch", () =>
    Effect.gen(function* () {
      const lost = yield* beginRun("failover", "sync")
      // As on an asynchronous standby that has not got the last commits.
      const database = yield* Database
      yield* database.transaction(
        Effect.zipRight(
          rows("set local session_replication_role = replica"),
          rows("update sync.leases set epoch = epoch - 1 where connection = 'failover'"),
        ),
      )
      const next = yield* beginRun("failover", "sync")
      const one = rows("select 1 as one")
      expect(yield* Effect.flip(lost.commit(one))).toBeInstanceOf(LeaseLost)
      expect(yield* next.commit(one)).toEqual([{ one: 1 }])
    }),
  )

  it.scoped("makes no ledger account, and dates no book", () =>
    Effect.gen(function* () {
      const book = yield* clientBook("other", { clientId, code: "LATE", name: "Late" })
      const stalled = yield* beginRun("other", "sync")
      yield* beginRun("other", "sync")
      const { dateIn } = yield* Effect.provide(Ledger, ledger)
      const { idsOf } = yield* Effect.provide(Accounts, accounts)
      expect(yield* Effect.flip(dateIn([book], stalled.commit))).toBeInstanceOf(LeaseLost)
      const amount = Money.fromTrusted("1")
      const line: Line = { role: "suspense", currency: "USD", amount, partnerAccountId: null, rule: null }
      expect(yield* Effect.flip(idsOf(book, [line], stalled.commit))).toBeInstanceOf(LeaseLost)
      expect(
        yield* rows(`select l.time_zone, (select count(*)::integer from ledger.accounts a
          where a.book_id = l.book_id) as accounts from ledger.locks l where l.book_id = ${book.bookId}`),
      ).toEqual([{ time_zone: null, accounts: 0 }])
    }),
  )

  it.scoped(
    "of one book is overtaken by the next of that book and of the connection, and by no other book's",
    () =>
      Effect.gen(function* () {
        const [one, two] = [
          yield* organizationBook("shared"),
          yield* clientBook("shared", { clientId, code: "TWO", name: "Two" }),
        ]
        const writes = (run: Run["Type"]) =>
          Effect.map(Effect.either(run.commit(Effect.void)), Either.isRight)
        const whole = yield* beginRun("shared", "sync")
        expect(yield* writes(whole)).toBe(true)
        const join = (book: Book) =>
          Effect.flatMap(joinRun(whole.runId, "shared", [book]), ([own]) => Effect.fromNullable(own))
        const ofOne = yield* join(one)
        expect([yield* writes(whole), yield* writes(ofOne)]).toEqual([false, true])
        const ofTwo = yield* join(two)
        expect([yield* writes(ofOne), yield* writes(ofTwo)]).toEqual([true, true])
        const again = yield* join(one)
        expect([yield* writes(ofOne), yield* writes(ofTwo), yield* writes(again)]).toEqual([
          false,
          true,
          true,
        ])
        const next = yield* beginRun("shared", "sync")
        expect([yield* writes(ofTwo), yield* writes(again), yield* writes(next)]).toEqual([
          false,
          false,
          true,
        ])
      }),
  )
})
