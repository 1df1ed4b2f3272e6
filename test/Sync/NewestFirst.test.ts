import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { json } from "../Partner/Service.ts"
import { inOwnDatabase, TestDatabase } from "../support/TestDatabase.ts"
import { credit, deposit, id, partnership } from "./Partnership.ts"
import { rows, sync } from "./Runs.ts"

const mirrored = rows("select count(*)::integer as n from mirror.resources").pipe(
  Effect.map(([row]) => row?.n),
)

const perPage = 2

const made = (index: number, status = "REJECTED") =>
  deposit(index, "1", { status, createdAt: new Date(1_790_000_000_000 + index * 1000).toISOString() })

/** A service with so many deposits, newest first; `asked` has the cursors of a night, `refuse` says which request is refused. */
const listed = (count: number) =>
  Effect.gen(function* () {
    const asked: Array<string | null> = []
    const { held, service } = yield* partnership({ pageSize: perPage })
    const more = (from: number, to: number, status?: string) => {
      for (let index = from; index <= to; index++) held.deposits.unshift(made(index, status))
    }
    more(101, 100 + count)
    const answers = { refuses: (_request: number): number | undefined => undefined }
    held.interfere = (path, response) => {
      const { pathname, searchParams } = new URL(path, "http://x")
      if (pathname !== "/deposits") return false
      asked.push(searchParams.get("after"))
      const status = answers.refuses(asked.length)
      if (status !== undefined) json(response, { code: "refused" }, status)
      return status !== undefined
    }
    const night = Effect.suspend(() => {
      asked.length = 0
      return sync(service.url)
    })
    return { asked, held, more, night, service: answers }
  })

layer(TestDatabase.layer, { excludeTestServices: true })("[C14] a newest-first list", (it) => {
  it.scoped("whose cursor is refused in the middle of the first reading is read to its end", () =>
    Effect.gen(function* () {
      const { asked, night, service } = yield* listed(60)
      service.refuses = (request) => (request === 25 ? 410 : undefined)
      yield* night
      expect(yield* mirrored).toBe(60)
      yield* night
      expect(asked).toEqual([null])
    }).pipe(inOwnDatabase),
  )

  it.scoped("whose first reading stopped, and whose cursor has expired, is read to its end", () =>
    Effect.gen(function* () {
      const { asked, night, service } = yield* listed(60)
      service.refuses = (request) => (request > 24 ? 403 : undefined)
      yield* Effect.flip(night)
      expect(yield* mirrored).toBe(48)
      service.refuses = (request) => (request === 1 ? 410 : undefined)
      yield* night
      expect(yield* mirrored).toBe(60)
      service.refuses = () => undefined
      yield* night
      expect(asked).toEqual([null])
    }).pipe(inOwnDatabase),
  )

  it.scoped("whose first reading stopped goes on at its last page, then looks for what has come on top", () =>
    Effect.gen(function* () {
      const { asked, more, night, service } = yield* listed(60)
      service.refuses = (request) => (request > 24 ? 403 : undefined)
      yield* Effect.flip(night)
      service.refuses = (request) => {
        // Right before the list is asked for from its start.
        if (request === 8) more(161, 164)
        return undefined
      }
      yield* night
      expect(yield* mirrored).toBe(64)
      expect(asked.slice(0, 2)).toEqual(["46", "48"])
      // To the item that was the first of those.
      expect(asked.slice(asked.indexOf(null)).slice(0, 3)).toEqual([null, "2", "4"])
      expect(asked.at(-1)).toBe("50")
      yield* night
      expect(asked).toEqual([null])
    }).pipe(inOwnDatabase),
  )

  it.scoped("whose first reading stopped is read anew where that page shows other items", () =>
    Effect.gen(function* () {
      const { asked, more, night, service } = yield* listed(60)
      service.refuses = (request) => (request > 24 ? 403 : undefined)
      yield* Effect.flip(night)
      service.refuses = () => undefined
      more(161, 164)
      yield* night
      expect(yield* mirrored).toBe(64)
      expect(asked.filter((cursor) => cursor === null)).toHaveLength(1)
      expect(asked[0]).toBe("46")
      expect(asked.at(-1)).toBe("62")
      yield* night
      expect(asked).toEqual([null])
    }).pipe(inOwnDatabase),
  )

  for (const refused of [403, 410])
    it.scoped(`is read to where it was known, though a night's reading was refused with ${refused}`, () =>
      Effect.gen(function* () {
        const { asked, more, night, service } = yield* listed(6)
        yield* night
        more(107, 146)
        service.refuses = (request) => (request === 16 ? refused : undefined)
        yield* Effect.either(night)
        service.refuses = () => undefined
        yield* night
        expect(yield* mirrored).toBe(46)
        yield* night
        expect(asked).toEqual([null])
      }).pipe(inOwnDatabase),
    )

  it.scoped("shows what lies behind a page whose items are known from their entries", () =>
    Effect.gen(function* () {
      const { asked, held, more, night, service } = yield* listed(4)
      yield* night
      more(105, 105, "PENDING")
      more(106, 109, "COMPLETED")
      held.statement = [1, 2, 3, 4].map((n) => credit(20 + n, "1", String(n), id(105 + n)))
      held.balance = "4"
      service.refuses = () => 403
      yield* Effect.flip(night)
      expect(yield* mirrored).toBe(8)
      service.refuses = () => undefined
      yield* night
      expect(yield* mirrored).toBe(9)
      yield* night
      expect(asked).toEqual([null])
    }).pipe(inOwnDatabase),
  )

  it.scoped("costs one request where its newest item is gone", () =>
    Effect.gen(function* () {
      const { asked, held, night } = yield* listed(20)
      yield* night
      held.deposits.shift()
      yield* night
      expect(asked.length).toBeLessThanOrEqual(2)
      yield* night
      expect(asked).toEqual([null])
    }).pipe(inOwnDatabase),
  )
})
