import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option } from "effect"
import { allBooks } from "../../src/Book.ts"
import { Database } from "../../src/Database.ts"
import type { Manifest } from "../../src/Export/Batch/Manifest.ts"
import * as Verify from "../../src/Verify.ts"
import { closeMonth, openBook, postMonths } from "../Export/Books.ts"
import { client, deposit, everything, exporting, october } from "../Export/Exporting.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("an export as of a time", (it) => {
  it.effect("is the one that was written then, whatever came later, with the difference to now", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const bookId = yield* openBook("ASOF", client(9))
      yield* postMonths(bookId)
      const formats = ["journal", "hledger", "trial-balance", "qbo"]
      const run = exporting("ASOF", temporaryFolder())
      const then = (yield* run(october, formats)).batches[0]
      const [clock] = yield* database.query(
        "Test.clock",
        (sql) => sql<Array<{ now: string }>>`
          select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`,
      )
      const asOf = { kind: "moment", text: clock?.now ?? "" } as const
      yield* deposit(bookId, "2026-10-03", "7.00")
      yield* deposit(bookId, "2026-09-03", "1.00")
      yield* deposit(bookId, "2026-11-03", "9.00")
      yield* database.query(
        "Test.account",
        (sql) => sql`
          insert into ledger.accounts (book_id, role, currency, rule_code, code, name)
          values (${bookId}, 'fees', 'JPY', '', '6850', 'Expenses:Fees:JPY')`,
      )
      const at = yield* run(october, formats, { asOf })
      const [batch] = at.batches
      expect(batch?.folder).toMatch(/\/2026-10@\d{8}T\d{6}Z\/2$/)
      const { "difference.csv": difference, "manifest.json": _, ...files } = everything(batch?.folder ?? "")
      const { "manifest.json": __, ...before } = everything(then?.folder ?? "")
      const hledger = (from: typeof files): string =>
        Buffer.from(from["books.journal"] ?? "", "base64")
          .toString()
          .replaceAll(/2026-10@\d{8}T\d{6}Z/g, "2026-10")
      expect(hledger(files)).toBe(hledger(before))
      expect({ ...files, "books.journal": "" }).toEqual({ ...before, "books.journal": "" })
      expect(batch?.difference).toMatchObject({
        entries: 2,
        accounts: [
          { code: "1010", before: "475.01", now: "483.01", difference: "8.00" },
          { difference: "-8.00" },
        ],
      })
      const rows = Buffer.from(difference ?? "", "base64")
        .toString()
        .split("\n")
      expect(
        rows.filter((row) => row.startsWith("entry,")).map((row) => row.replace(/^entry,(\S+?),.*,/, "$1 ")),
      ).toEqual([
        "ASOF-2026-09-000002 1.00",
        "ASOF-2026-09-000002 -1.00",
        "ASOF-2026-10-000007 7.00",
        "ASOF-2026-10-000007 -7.00",
      ])
      expect((yield* Verify.run(batch?.folder ?? "")).problems).toEqual([])
      // It does not count as exported, and gives the same files once more.
      const again = (yield* run(october, formats, { asOf })).batches[0]
      const { "manifest.json": ___, ...same } = everything(again?.folder ?? "")
      expect(same).toEqual({ ...files, "difference.csv": difference })
      expect((yield* run(october, ["qbo"])).batches[0]?.manifest).toMatchObject({
        entries: 1,
        lineage: { follows: [1] },
      })

      // It refers to the closes of that time: there were none.
      const book = (yield* allBooks(Option.none())).find(({ code }) => code === "ASOF")
      if (book === undefined) return yield* Effect.dieMessage("no book")
      yield* closeMonth(book.bookId, "2026-09")
      yield* closeMonth(book.bookId, "2026-10")
      const closes = (batches: ReadonlyArray<{ manifest: Manifest }>) =>
        batches.map(({ manifest }) => manifest.lineage?.closes.map(({ period }) => period))
      expect(closes((yield* run(october, ["journal"])).batches)).toEqual([["2026-10"]])
      expect(closes((yield* run(october, ["journal"], { asOf })).batches)).toEqual([[]])

      const future = yield* Effect.flip(run(october, formats, { asOf: { kind: "day", text: "2199-01-01" } }))
      expect(future).toMatchObject({ _tag: "AsOfError", reason: "Usage" })
    }),
  )

  it.effect("waits for every transaction where the server does not say when they began", () =>
    Effect.gen(function* () {
      const database = yield* Database
      yield* postMonths(yield* openBook("UNTIMED", client(7)))
      const run = exporting("UNTIMED", temporaryFolder())
      const begun = yield* Deferred.make<string>()
      const end = yield* Deferred.make<void>()
      yield* Effect.addFinalizer(() => Deferred.succeed(end, undefined))
      const reading = database.query(
        "Test.reading",
        (sql) => sql<Array<{ now: string }>>`
          select (now() + interval '1 microsecond')::text as now, set_config('track_activities', 'off', true)`,
      )
      const other = yield* Effect.fork(
        database.transaction(
          reading.pipe(
            Effect.tap(([row]) => Deferred.succeed(begun, row?.now ?? "")),
            // By this statement the server has forgotten what it kept of the session.
            Effect.zipLeft(database.query("Test.untimed", (sql) => sql`select 1`)),
            Effect.zipRight(Deferred.await(end)),
          ),
        ),
      )
      const asOf = { kind: "moment", text: yield* Deferred.await(begun) } as const
      yield* Effect.sleep("100 millis")
      const busy = yield* Effect.flip(Effect.asVoid(run(october, ["journal"], { asOf })))
      expect(busy).toMatchObject({ _tag: "AsOfError", reason: "Busy" })
      expect(busy.message).toContain("track_activities=off")
      yield* Deferred.succeed(end, undefined)
      yield* Fiber.join(other)
      expect((yield* run(october, ["journal"], { asOf })).batches).toHaveLength(1)
    }).pipe(Effect.scoped),
  )

  it.effect(
    "waits for transactions that began before that time and may still record something, and gives up",
    () =>
      Effect.gen(function* () {
        const database = yield* Database
        yield* postMonths(yield* openBook("BEGUN", client(8)))
        const run = exporting("BEGUN", temporaryFolder())
        const begun = yield* Deferred.make<string>()
        const end = yield* Deferred.make<void>()
        yield* Effect.addFinalizer(() => Deferred.succeed(end, undefined))
        // The transaction has read something, and written nothing yet.
        const reading = database.query(
          "Test.reading",
          (sql) => sql<Array<{ now: string }>>`select (now() + interval '1 microsecond')::text as now`,
        )
        const other = yield* Effect.fork(
          database.transaction(
            reading.pipe(
              Effect.tap(([row]) => Deferred.succeed(begun, row?.now ?? "")),
              Effect.zipRight(Deferred.await(end)),
            ),
          ),
        )
        const asOf = { kind: "moment", text: yield* Deferred.await(begun) } as const
        const busy = yield* Effect.flip(Effect.asVoid(run(october, ["journal"], { asOf })))
        expect(busy).toMatchObject({ _tag: "AsOfError", reason: "Busy" })
        expect(busy.message).toContain("A transaction that began before")
        const waiting = yield* Effect.fork(run(october, ["journal"], { asOf }))
        yield* Effect.sleep("300 millis")
        yield* Deferred.succeed(end, undefined)
        yield* Fiber.join(other)
        expect((yield* Fiber.join(waiting)).batches).toHaveLength(1)
      }).pipe(Effect.scoped),
  )
})
