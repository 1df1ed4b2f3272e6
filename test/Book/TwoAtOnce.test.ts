import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { clientBook, organizationBook } from "../../src/Book.ts"
import { text } from "../../src/Database/Columns.ts"
import { Database } from "../../src/Database.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

/** Waits until a statement waits for another transaction; nothing else in this database waits for a lock. */
const untilOneWaits = Effect.gen(function* () {
  const database = yield* Database
  for (;;) {
    const waiting = yield* database.rows(
      "Test.waiting",
      { type: text },
      (sql) =>
        sql`select wait_event_type as type from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    if (waiting.length > 0) return
    yield* Effect.promise(() => new Promise((done) => setTimeout(done, 5)))
  }
})

/** Asks for a book in a transaction, and once more concurrently before that ends. Answers both results. */
const both = <A, E>(ask: Effect.Effect<A, E, Database>) =>
  Effect.gen(function* () {
    const database = yield* Database
    const made = yield* Deferred.make<void>()
    const go = yield* Deferred.make<void>()
    const first = yield* Effect.fork(
      database.transaction(
        Effect.gen(function* () {
          const book = yield* ask
          yield* Deferred.succeed(made, undefined)
          yield* Deferred.await(go)
          return book
        }),
      ),
    )
    yield* Deferred.await(made)
    const second = yield* Effect.fork(ask)
    yield* untilOneWaits
    yield* Deferred.succeed(go, undefined)
    return [yield* Fiber.join(first), yield* Fiber.join(second)]
  })

layer(TestDatabase.layer, { excludeTestServices: true })("two first runs at once", (it) => {
  it.effect("have one organization's book", () =>
    Effect.gen(function* () {
      const [one, other] = yield* both(organizationBook("default"))
      expect(other).toEqual(one)
    }),
  )

  it.effect("have one book of a client", () =>
    Effect.gen(function* () {
      const clientId = "00000000-0000-4000-8000-000000000001"
      const [one, other] = yield* both(clientBook("default", { clientId, code: "ACME", name: "Acme" }))
      expect(other).toEqual(one)
    }),
  )
})
