/** Which deliveries a statement takes, by a database whose statements end when the test says so. */
import { Deferred, Effect, Either, Exit } from "effect"
import { describe, expect, it } from "vitest"
import { type DatabaseError, databaseError } from "../../src/Database/DatabaseError.ts"
import { makeCommits } from "../../src/Webhook/Commits.ts"
import type { Delivery, Receipt } from "../../src/Webhook/Delivery.ts"

const bounds = {
  ...{ patience: 60_000, statementsAtOnce: 3, leastBeside: 1, usual: 60_000 },
  ...{ rowsPerStatement: 2, bytesPerStatement: 1_000, waitingRows: 4, waitingBytes: 20 },
}

const delivery = (eventId: string, body: string): Delivery => ({
  ...{ connection: "default", eventId, digest: body, type: "t", body: Buffer.from(body) },
  ...{ keyId: "k", algorithm: "ES256", poison: null },
})

type End = Exit.Exit<ReadonlyArray<Receipt>, DatabaseError>

const failure = (reason: DatabaseError["reason"]): End =>
  Exit.fail(databaseError(reason, "Test.put", "failed"))

/** `begun`: the bodies of the statements that have not been ended, oldest first. */
const commits = (own: Partial<typeof bounds> = {}) =>
  Effect.gen(function* () {
    const begun: Array<
      readonly [bodies: string, end: Deferred.Deferred<ReadonlyArray<Receipt>, DatabaseError>]
    > = []
    const made = yield* makeCommits(
      (deliveries) =>
        Effect.flatMap(Deferred.make<ReadonlyArray<Receipt>, DatabaseError>(), (end) => {
          begun.push([deliveries.map(({ digest }) => digest).join(" "), end])
          return Deferred.await(end)
        }),
      { ...bounds, ...own },
    )
    const turn = Effect.promise(() => new Promise((done) => setTimeout(done, 5)))
    const store = (eventId: string, body: string) =>
      Effect.runFork(
        Effect.map(
          Effect.promise(() => made.store(delivery(eventId, body))),
          Either.getOrElse((error) => (error._tag === "DatabaseError" ? error.reason : error._tag)),
        ),
      )
    const open = Effect.map(turn, () => begun.map(([bodies]) => bodies))
    const end = (exit: End) => {
      const [, first] = begun.shift() ?? expect.fail("no statement")
      return Effect.zipRight(Deferred.done(first, exit), turn)
    }
    return { store, open, end }
  })

const run = <A, E>(test: Effect.Effect<A, E, never>) => Effect.runPromise(test)

describe("a statement", () => {
  it("takes what waits, but an event with another body only after the one under way", () =>
    Effect.gen(function* () {
      const { end, open, store } = yield* commits()
      const stored = [store("a", "a1")]
      expect(yield* open).toEqual(["a1"])
      stored.push(store("a", "a2"), store("b", "b1"))
      expect(yield* open).toEqual(["a1", "b1"])
      yield* end(Exit.succeed(["stored"]))
      expect(yield* open).toEqual(["b1", "a2"])
      yield* end(Exit.succeed(["known"]))
      yield* end(Exit.succeed(["conflict"]))
      expect(yield* Effect.forEach(stored, (fiber) => fiber)).toEqual(["stored", "conflict", "known"])
    }).pipe(Effect.scoped, run))

  it("takes no more rows than it may, and what is written makes room for more", () =>
    Effect.gen(function* () {
      const { end, open, store } = yield* commits({ statementsAtOnce: 1 })
      for (const round of ["1", "2", "3"]) {
        const stored = ["a", "b", "c"].map((name) => store(name + round, `${name}23456`))
        const refused = store("d", "1234")
        expect(yield* open).toEqual(["a23456 b23456"])
        yield* end(Exit.succeed(["stored", "known"]))
        expect(yield* open).toEqual(["c23456"])
        yield* end(Exit.succeed(["stored"]))
        expect(yield* Effect.forEach(stored, (fiber) => fiber)).toEqual(["stored", "known", "stored"])
        expect(yield* refused).toBe("CommitsFull")
      }
    }).pipe(Effect.scoped, run))

  it.each(["Refused", "Other"] as const)("that failed by one row (%s) is tried row by row", (reason) =>
    Effect.gen(function* () {
      const { end, open, store } = yield* commits()
      const stored = [store("a", "a1"), store("b", "b1")]
      expect(yield* open).toEqual(["a1 b1"])
      yield* end(failure(reason))
      expect(yield* open).toEqual(["a1"])
      yield* end(failure(reason))
      yield* end(Exit.succeed(["stored"]))
      expect(yield* Effect.forEach(stored, (fiber) => fiber)).toEqual([reason, "stored"])
    }).pipe(Effect.scoped, run),
  )
})
