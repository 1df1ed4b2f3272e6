/** The bridge of a close, the checks of a month and an export read their month without reading the others. */
import { expect, layer } from "@effect/vitest"
import { Chunk, Effect, Option, Stream } from "effect"
import { allBooks } from "../../src/Book.ts"
import { agreementOf } from "../../src/Close/Agreement.ts"
import { bridgeOf } from "../../src/Close/Bridge.ts"
import { readMonth } from "../../src/Close/Month.ts"
import { Database } from "../../src/Database.ts"
import { selectionOf } from "../../src/Export/Request/ExportScope.ts"
import { lookUpOneByOne } from "../../src/Export/Source/JournalViews.ts"
import { streamStatement } from "../../src/Export/Source/StatementCsv.ts"
import { partnership } from "../Sync/Partnership.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { services } from "../support/BookServices.ts"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { closing, movement } from "./Months.ts"

const since = (month: string) =>
  rows(`
    select count(*)::integer as entries from mirror.statement_entries where occurred_at >= '${month}-01'::timestamptz`).pipe(
    Effect.map(([found]) => Number(found?.entries)),
  )

/** What this session has read since it last reported to the server. It does not report within a transaction. */
const looks = rows(`
  select coalesce(sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)), 0)::integer as rows
  from pg_stat_xact_user_tables where relname like 'statement_entries%'`).pipe(
  Effect.map(([found]) => Number(found?.rows)),
)

/** How many rows of statements a transaction reads, and its result. Sequential scans are off, as they are not chosen for large tables. */
const looking = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Database, (database) =>
    database.transaction(
      Effect.gen(function* () {
        yield* rows("select set_config('enable_seqscan', 'off', true)")
        const before = yield* looks
        const given = yield* work
        return { given, looked: (yield* looks) - before }
      }),
    ),
  )

layer(TestDatabase.layer, { excludeTestServices: true })("one month of many", (it) => {
  it.scoped("is all that its bridge and its statement read", () =>
    Effect.gen(function* () {
      const sandbox = yield* runningSandbox({
        accounts: 2,
        entries: 700,
        from: "2026-04-01",
        to: "2026-10-31",
      })
      yield* sync(sandbox.url)
      yield* rows("analyze")
      const [book] = yield* allBooks(Option.none())
      if (book === undefined) return yield* Effect.dieMessage("no book")
      const of = { october: yield* since("2026-10") }
      expect(of.october).toBeGreaterThan(50)
      expect(of.october).toBeLessThan(200)

      const month = yield* readMonth(book, "2026-10")
      const bridge = yield* looking(bridgeOf(month))
      expect(bridge.given.accounts.reduce((sum, { entries }) => sum + entries, 0)).toBe(of.october)
      expect(bridge.looked).toBe(of.october)

      const selection = yield* selectionOf({ kind: "period", period: "2026-10" })
      if (selection === null) return yield* Effect.dieMessage("no selection")
      const statement = yield* looking(
        Effect.zipRight(
          lookUpOneByOne(false),
          Stream.runCollect(streamStatement(book.bookId, selection)).pipe(
            Effect.map((chunks) => Chunk.toReadonlyArray(chunks).flat()),
          ),
        ),
      )
      expect(statement.given).toHaveLength(of.october)
      expect(statement.looked).toBe(of.october)
    }).pipe(Effect.provide(services)),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("one closed month of many", (it) => {
  it.scoped("is all of the journal that is read to prove its close", () =>
    Effect.gen(function* () {
      const ofMonth = 40
      const movements = Array.from({ length: 10 * ofMonth }, (_, at) =>
        movement(
          1_000 + 200 * at,
          "1.00",
          `${at + 1}.00`,
          `2026-${String(Math.floor(at / ofMonth) + 1).padStart(2, "0")}-10`,
        ),
      )
      const { service } = yield* partnership({
        balance: `${movements.length}.00`,
        statement: movements.map(({ entry }) => entry),
        deposits: movements.map(({ deposit }) => deposit),
      })
      yield* sync(service.url)
      yield* closing("2026-01")
      yield* rows("analyze")
      const [book] = yield* allBooks(Option.none())
      if (book === undefined) return yield* Effect.dieMessage("no book")
      const month = yield* readMonth(book, "2026-01")
      const read = rows(`
        select coalesce(sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)), 0)::integer as rows
        from pg_stat_xact_user_tables where relname ~ '^(journal_entries|postings)'`).pipe(
        Effect.map(([found]) => Number(found?.rows)),
      )
      const database = yield* Database
      const looked = yield* database.transaction(
        Effect.gen(function* () {
          const before = yield* read
          expect(yield* agreementOf(month)).toMatchObject({ differences: [], accounts: 2 })
          return (yield* read) - before
        }),
      )
      // Of each entry itself and its two lines, once for the hash and once for the turnover.
      expect(looked).toBeLessThanOrEqual(6 * ofMonth)
    }).pipe(Effect.provide(services)),
  )
})
