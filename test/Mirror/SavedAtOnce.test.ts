/** Two transactions of one run save what they read of one movement: pages and events overlap. */
import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option } from "effect"
import { allBooks } from "../../src/Book.ts"
import { Database } from "../../src/Database.ts"
import { Resources } from "../../src/Mirror/Resources.ts"
import { someoneWaits } from "../Close/LockWait.ts"
import { id, partnership, threeDeposits } from "../Sync/Partnership.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("a movement that is saved twice at once", (it) => {
  it.scoped("keeps each content that it had", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership(threeDeposits)
      yield* sync(service.url)
      const [book] = yield* allBooks(Option.none())
      if (book === undefined) return expect.fail("no book")
      const database = yield* Database
      const resources = yield* Resources.made
      const depositId = id(11)
      const [known] = yield* resources.find(book, [depositId], "2026-10-01T00:00:00Z")
      if (known === undefined) return expect.fail("no deposit")
      /** A content of its own of the same movement. */
      const as = (note: string) => JSON.stringify({ ...threeDeposits.deposits[0], note })
      const save = (raw: string) =>
        resources.put(book, 1, "2026-10-02T00:00:00Z", [{ ...known.resource, raw }], true)

      // Each pair: what the first to commit has read, and the second.
      const pairs = [
        [as("a"), as("b")],
        // What the second has read is what stood there when it began.
        [as("c"), as("b")],
      ] as const
      for (const [first, second] of pairs) {
        const written = yield* Deferred.make<void>()
        const commit = yield* Deferred.make<void>()
        const one = yield* Effect.fork(
          database.transaction(
            save(first).pipe(
              Effect.zipRight(Deferred.succeed(written, undefined)),
              Effect.zipRight(Deferred.await(commit)),
            ),
          ),
        )
        yield* Deferred.await(written)
        const other = yield* Effect.fork(database.transaction(save(second)))
        yield* someoneWaits
        yield* Deferred.succeed(commit, undefined)
        yield* Fiber.join(one)
        expect(yield* Fiber.join(other)).toBe(1)
      }
      expect(
        yield* rows(`
          select v.version, v.raw ->> 'note' as note from mirror.resource_versions v where v.resource_id = '${depositId}'
          union all
          select r.version, r.raw ->> 'note' from mirror.resources r where r.resource_id = '${depositId}'
          order by version`),
      ).toEqual([
        { version: 1, note: null },
        { version: 2, note: "a" },
        { version: 3, note: "b" },
        { version: 4, note: "c" },
        { version: 5, note: "b" },
      ])
    }),
  )
})
