/** A service may list an entry some moments before it shows the movement that the entry names. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { json } from "../../Partner/Service.ts"
import { inOwnDatabase, TestDatabase } from "../../support/TestDatabase.ts"
import { credit, deposit, id, partnership } from "../Partnership.ts"
import { findings, postings, sync } from "../Runs.ts"

/** The deposit is answered with 404 the first times that it is asked for; its entry is so old, in seconds. */
const lagging = (times: number, age: number) =>
  Effect.gen(function* () {
    const occurredAt = new Date(Date.now() - age * 1_000).toISOString()
    const { held, service } = yield* partnership({
      balance: "10.00",
      statement: [{ ...credit(21, "10.00", "10.00", id(11)), occurredAt }],
      deposits: [deposit(11, "10.00")],
    })
    let asked = 0
    held.interfere = (path, response) => {
      if (path.startsWith("/deposits?")) json(response, { items: [], pageInfo: { hasNextPage: false } })
      else if (path !== `/deposits/${id(11)}` || ++asked > times) return false
      else json(response, { code: "not_found" }, 404)
      return true
    }
    return { url: service.url, asked: () => asked }
  })

layer(TestDatabase.layer, { excludeTestServices: true })("a movement that comes after its entry", (it) => {
  it.scoped.each([1, 2, 3])("is asked for again by the run that missed it: %d times in vain", (times) =>
    Effect.gen(function* () {
      const { asked, url } = yield* lagging(times, 5)
      yield* sync(url)
      expect(asked()).toBe(times + 1)
      expect(yield* findings).toEqual([])
      expect(yield* postings).toContainEqual(expect.stringMatching(/deposits_clearing -10/))
    }).pipe(inOwnDatabase),
  )

  it.scoped("is a finding where it stays away, and later runs ask for it once", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* lagging(5, 5)
      yield* sync(url)
      expect(asked()).toBe(4)
      expect(yield* findings).toEqual(["missing-resource blocking"])
      yield* sync(url)
      expect(asked()).toBe(5)
      expect(yield* findings).toEqual(["missing-resource blocking"])
      yield* sync(url)
      expect(yield* findings).toEqual([])
    }).pipe(inOwnDatabase),
  )

  it.scoped("is asked for once where its entry is older than the lag of a service", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* lagging(1, 90)
      yield* sync(url)
      expect(asked()).toBe(1)
      expect(yield* findings).toEqual(["missing-resource blocking"])
    }).pipe(inOwnDatabase),
  )
})
