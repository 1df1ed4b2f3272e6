import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { Database } from "../../src/Database.ts"
import { findings, rows, sync } from "../Sync/Runs.ts"
import { closePeriod } from "../support/Closing.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { someoneWaits } from "./LockWait.ts"
import { bridging, checking, closing, movement, threeMonths } from "./Months.ts"

/** The late entries, and where the books date them. */
const dated = rows(`
  select to_char(j.occurred_at, 'YYYY-MM') as occurred, j.effective_date::text as date,
    to_char(j.late_for, 'YYYY-MM') as late_for
  from ledger.journal_entries j where j.source_type = 'statement_entry' order by j.occurred_at`)

layer(TestDatabase.layer, { excludeTestServices: true })("a close beside a running sync", (it) => {
  it.scoped("lets a page that waits for it find the month closed, and date its entries after it", () =>
    Effect.gen(function* () {
      const { held, service } = yield* threeMonths
      yield* sync(service.url)
      yield* closing("2026-08")
      const late = movement(14, "7.00", "182.00", "2026-09-30")
      held.statement.push(late.entry)
      held.deposits.push(late.deposit)
      held.balance = "182.00"

      // As a close does, this takes the book's lock and then the period. The sync posts in between.
      const database = yield* Database
      const locked = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const close = yield* Effect.fork(
        database.transaction(
          Effect.gen(function* () {
            yield* database.query("Test.lock", (sql) => sql`select 1 from ledger.locks for update`)
            yield* Deferred.succeed(locked, undefined)
            yield* Deferred.await(go)
            yield* database.query("Test.close", (sql) => sql.unsafe(closePeriod(1, "2026-09")))
          }),
        ),
      )
      yield* Deferred.await(locked)
      const running = yield* Effect.fork(sync(service.url))
      yield* someoneWaits
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(close)
      yield* Fiber.join(running)
      expect(yield* dated).toEqual([
        { occurred: "2026-08", date: "2026-08-10", late_for: null },
        { occurred: "2026-09", date: "2026-09-10", late_for: null },
        { occurred: "2026-09", date: "2026-10-01", late_for: "2026-09" },
        { occurred: "2026-10", date: "2026-10-05", late_for: null },
      ])
      expect(yield* findings).toEqual([])
      const [bridge] = yield* bridging("2026-09")
      expect(bridge?.accounts[0]?.difference).toBe("0.00")
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("closes and syncs at once", (it) => {
  it.scoped("leave every entry before the close or dated after it, whoever is first", () =>
    Effect.gen(function* () {
      const { held, service } = yield* threeMonths
      yield* sync(service.url)
      let balance = 175
      for (const [index, month] of ["2026-08", "2026-09"].entries()) {
        for (let at = 0; at < 12; at++) {
          balance += 1
          const one = movement(20 + index * 12 + at, "1.00", `${balance}.00`, `${month}-20`)
          held.statement.push(one.entry)
          held.deposits.push(one.deposit)
        }
        held.balance = `${balance}.00`
        held.pageSize = 3
        const closeUntilDone: Effect.Effect<number, unknown, Database> = Effect.suspend(() =>
          Effect.flatMap(closing(month), ([result]) =>
            result?.state === "closed" ? Effect.succeed(1) : Effect.delay(closeUntilDone, "30 millis"),
          ),
        )
        yield* Effect.all([sync(service.url), closeUntilDone], { concurrency: "unbounded" }).pipe(
          Effect.orDie,
        )
        yield* sync(service.url)
        expect(yield* checking(month)).toEqual([])
        const [bridge] = yield* bridging(month)
        expect(bridge?.accounts[0]?.difference).toBe("0.00")
        expect(bridge?.accounts[0]?.closingDifference).toBe("0.00")
      }
      expect(yield* findings).toEqual([])
      expect(
        yield* rows(`select count(*)::integer as wrong from ledger.journal_entries
          where late_for is null and period <> date_trunc('month', occurred_at at time zone 'UTC')::date`),
      ).toEqual([{ wrong: 0 }])
    }),
  )
})
