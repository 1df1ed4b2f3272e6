import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { json } from "../Partner/Service.ts"
import { inOwnDatabase, TestDatabase } from "../support/TestDatabase.ts"
import { deposit, id, partnership } from "./Partnership.ts"
import { rows, sync } from "./Runs.ts"

const mirrored = rows("select resource_id from mirror.resources order by resource_id").pipe(
  Effect.map((found) => found.map((row) => row.resource_id)),
)

const perPage = 2

/** A service with three deposits, two on a page; `asked` holds the cursors that its list of deposits was asked with. */
const listed = (cursors: "offsets" | "page numbers") =>
  Effect.gen(function* () {
    const asked: Array<string | null> = []
    const { held, service } = yield* partnership({
      deposits: [deposit(11, "1"), deposit(12, "1"), deposit(13, "1")],
      pageSize: perPage,
    })
    held.interfere = (path, response) => {
      const { pathname, searchParams } = new URL(path, "http://x")
      if (pathname !== "/deposits") return false
      const after = searchParams.get("after")
      asked.push(after)
      if (cursors === "offsets") return false
      const number = Number(after ?? "1")
      const items = held.deposits.slice((number - 1) * perPage, number * perPage)
      const hasNextPage = number * perPage < held.deposits.length
      json(response, { items, pageInfo: { hasNextPage, endCursor: String(number + 1) } })
      return true
    }
    const night = Effect.suspend(() => {
      asked.length = 0
      return sync(service.url)
    })
    return { asked, held, night }
  })

layer(TestDatabase.layer, { excludeTestServices: true })(
  "[C14] the last page of an oldest-first list",
  (it) => {
    for (const cursors of ["offsets", "page numbers"] as const) {
      it.scoped(
        `is read again, with ${cursors}: what it has gained is found, and nothing new costs one request`,
        () =>
          Effect.gen(function* () {
            const { asked, held, night } = yield* listed(cursors)
            yield* night
            expect(asked).toEqual([null, "2"])
            held.deposits.push(deposit(14, "1"))
            yield* night
            expect(asked).toEqual(["2"])
            expect(yield* mirrored).toEqual([11, 12, 13, 14].map(id))
            yield* night
            expect(asked).toEqual(["2"])
            held.deposits.push(deposit(15, "1"))
            yield* night
            expect(yield* mirrored).toEqual([11, 12, 13, 14, 15].map(id))
            yield* night
            expect(asked).toHaveLength(1)
          }).pipe(inOwnDatabase),
      )

      it.scoped(`that begins with another item, with ${cursors}, leads to the whole list, once`, () =>
        Effect.gen(function* () {
          const { asked, held, night } = yield* listed(cursors)
          yield* night
          held.deposits = [deposit(10, "1"), ...held.deposits]
          yield* night
          expect(asked).toEqual(["2", null, "2"])
          expect(yield* mirrored).toEqual([10, 11, 12, 13].map(id))
          yield* night
          expect(asked).toEqual(["2"])
        }).pipe(inOwnDatabase),
      )
    }

    it.scoped("shows that a final item has changed, and leaves those that are as they were", () =>
      Effect.gen(function* () {
        const { held, night } = yield* listed("page numbers")
        // Without an entry to come, so that it is not asked for by its identifier.
        held.deposits = [11, 12, 13].map((index) => deposit(index, "1", { status: "REJECTED" }))
        yield* night
        expect((yield* night).counters.resources).toBe(0)
        held.deposits = held.deposits.with(2, deposit(13, "2", { status: "REJECTED" }))
        const { counters } = yield* night
        expect([counters.resources, counters.changedResources]).toEqual([1, 1])
        expect(
          yield* rows(
            "select resource_id, trim_scale(amount)::text as amount from mirror.resources where version > 1",
          ),
        ).toEqual([{ resource_id: id(13), amount: "2" }])
      }).pipe(inOwnDatabase),
    )

    it.scoped("that is gone leads to the whole list, once", () =>
      Effect.gen(function* () {
        const { asked, held, night } = yield* listed("page numbers")
        yield* night
        held.deposits = [deposit(11, "1"), deposit(14, "1")]
        yield* night
        expect(asked).toEqual(["2", null])
        expect(yield* mirrored).toEqual([11, 12, 13, 14].map(id))
        yield* night
        expect(asked).toEqual([null])
      }).pipe(inOwnDatabase),
    )

    it.scoped("is not known from an earlier version, so that the list is read whole, once", () =>
      Effect.gen(function* () {
        const { asked, held, night } = yield* listed("page numbers")
        yield* night
        yield* rows(
          "update sync.checkpoints set cursor = '3', leads_to = null where stream = 'deposits' returning 1",
        )
        held.deposits.push(deposit(14, "1"))
        yield* night
        expect(asked).toEqual(["3", null, "2"])
        expect(yield* mirrored).toEqual([11, 12, 13, 14].map(id))
        yield* night
        expect(asked).toEqual(["2"])
      }).pipe(inOwnDatabase),
    )

    it.scoped("is followed where it has become full, and where an empty page follows", () =>
      Effect.gen(function* () {
        const { asked, held, night } = yield* listed("page numbers")
        held.deposits.push(deposit(14, "1"))
        yield* night
        expect(asked).toEqual([null, "2"])
        yield* night
        expect(asked).toEqual(["2"])
        held.deposits.push(deposit(15, "1"), deposit(16, "1"), deposit(17, "1"))
        yield* night
        expect(asked).toEqual(["2", "3", "4"])
        yield* night
        expect(asked).toEqual(["4"])
        expect(yield* mirrored).toHaveLength(7)
      }).pipe(inOwnDatabase),
    )
  },
)
