/** A reclassification that waited for a close is planned again, because its plan was made for months that are now closed. */
import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option } from "effect"
import { Database } from "../../src/Database.ts"
import { reclassify } from "../../src/Reclassify.ts"
import { credit, id, partnership } from "../Sync/Partnership.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { services } from "../support/BookServices.ts"
import { closePeriod } from "../support/Closing.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { someoneWaits } from "./LockWait.ts"

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a reclassification that waits for a close",
  (it) => {
    it.scoped("is dated today, like one of a closed month", () =>
      Effect.gen(function* () {
        const { service } = yield* partnership({
          balance: "10.00",
          statement: [credit(11, "10.00", "10.00")],
        })
        yield* sync(service.url)
        const database = yield* Database
        const locked = yield* Deferred.make<void>()
        const go = yield* Deferred.make<void>()
        const closing = yield* Effect.fork(
          database.transaction(
            Effect.gen(function* () {
              yield* database.query("Test.lock", (sql) => sql`select 1 from ledger.locks for update`)
              yield* Deferred.succeed(locked, undefined)
              yield* Deferred.await(go)
              yield* database.query("Test.close", (sql) => sql.unsafe(closePeriod(1, "2026-10")))
            }),
          ),
        )
        yield* Deferred.await(locked)
        const moving = yield* Effect.fork(
          reclassify({
            id: id(11),
            to: "6900",
            name: Option.some("Sundry"),
            reason: "Interest",
            who: "controller",
          }).pipe(Effect.provide(services)),
        )
        yield* someoneWaits
        yield* Deferred.succeed(go, undefined)
        yield* Fiber.join(closing)
        yield* Fiber.join(moving)
        expect(
          yield* rows(`select effective_date = (now() at time zone 'UTC')::date as today, late_for
          from ledger.journal_entries where source_type = 'manual'`),
        ).toEqual([{ today: true, late_for: null }])
      }),
    )
  },
)
