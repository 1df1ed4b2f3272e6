/** A reclassification that waited for a close is planned again, because its plan was made for months that are now closed. */
import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, type Layer, Option } from "effect"
import { Database } from "../../src/Database.ts"
import { reclassify, reclassifyAll } from "../../src/Reclassify.ts"
import { client, clientId, lending, move } from "../Sync/Lending.ts"
import { credit, id, partnership } from "../Sync/Partnership.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { services } from "../support/BookServices.ts"
import { closePeriod } from "../support/Closing.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { someoneWaits } from "./LockWait.ts"

/** Begins to close October of the first book, has the effect wait for that, and lets the close end. */
const whileClosing = <A, E>(moves: Effect.Effect<A, E, Layer.Layer.Success<typeof services> | Database>) =>
  Effect.gen(function* () {
    const database = yield* Database
    const locked = yield* Deferred.make<void>()
    const go = yield* Deferred.make<void>()
    const closing = yield* Effect.fork(
      database.transaction(
        Effect.gen(function* () {
          yield* database.query(
            "Test.lock",
            (sql) => sql`select 1 from ledger.locks where book_id = 1 for update`,
          )
          yield* Deferred.succeed(locked, undefined)
          yield* Deferred.await(go)
          yield* database.query("Test.close", (sql) => sql.unsafe(closePeriod(1, "2026-10")))
        }),
      ),
    )
    yield* Deferred.await(locked)
    const moving = yield* Effect.fork(Effect.provide(moves, services))
    yield* someoneWaits
    yield* Deferred.succeed(go, undefined)
    yield* Fiber.join(closing)
    return yield* Fiber.join(moving)
  })

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
        yield* whileClosing(
          reclassify({
            id: id(11),
            to: "6900",
            name: Option.some("Sundry"),
            reason: "Interest",
            who: "controller",
          }),
        )
        expect(
          yield* rows(`select effective_date = (now() at time zone 'UTC')::date as today, late_for
          from ledger.journal_entries where source_type = 'manual'`),
        ).toEqual([{ today: true, late_for: null }])
      }),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a reclassification in many books that waits for a close of one",
  (it) => {
    const clients = [1, 2, 3, 4, 5, 6]

    it.scoped("is planned once more, not once more for each of the books in turn", () =>
      Effect.gen(function* () {
        const { held, service } = yield* lending({ clients: clients.map((index) => client(index)) })
        move(held, "", { type: "CREDIT", amount: 10 })
        for (const index of clients) move(held, clientId(index), { type: "CREDIT", amount: 10 })
        yield* sync(service.url, {
          TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, client]}}",
        })
        // With a plan for each of the books in turn it would not end.
        const { moved } = yield* whileClosing(
          reclassifyAll({
            ...{ ids: [], to: "6900", name: Option.some("Sundry"), reason: "Interest", who: "controller" },
            allOf: { check: "adjustment", book: Option.none(), maxAmount: Option.none() },
          }),
        )
        expect(moved).toHaveLength(7)
      }),
    )
  },
)
