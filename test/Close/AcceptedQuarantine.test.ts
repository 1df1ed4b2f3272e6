/** Rows that could not be understood and that a close accepted: for good where they hold up nothing, until there are others. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { allBooks } from "../../src/Book.ts"
import { Quarantine } from "../../src/Mirror/Quarantine.ts"
import { openCounts } from "../../src/Reconcile/Summary.ts"
import { bookTieOuts, combined, needsAttention, tieOutSentence } from "../../src/Reconcile/TieOut.ts"
import { nothingUnanswered, unansweredFindings } from "../../src/Reconcile/Unanswered.ts"
import { quarantined } from "../../src/Serve/Overview/OpenFindings.ts"
import { json } from "../Partner/Service.ts"
import { type Partnership, partnership } from "../Sync/Partnership.ts"
import { bookIdOf, findings, sync } from "../Sync/Runs.ts"
import { services } from "../support/BookServices.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { closing, movement } from "./Months.ts"

/** What the commands, the page and an export of a month say of the quarantine. */
const told = Effect.gen(function* () {
  const { blockingFindings, quarantined: waiting } = yield* openCounts(yield* allBooks(Option.none()))
  const standing = combined(yield* bookTieOuts(null))
  const bookId = yield* bookIdOf("ORG")
  const unanswered = yield* unansweredFindings([bookId], "2026-09-30")
  return {
    ...{ blockingFindings, waiting },
    sentence: tieOutSentence(standing),
    attention: needsAttention(standing),
    list: (yield* (yield* Quarantine).list({})).map(({ acceptedAt }) => acceptedAt),
    page: (yield* quarantined()).map(({ rows }) => rows),
    export: unanswered.get(bookId) ?? nothingUnanswered,
  }
}).pipe(Effect.provide(Layer.merge(services, Quarantine.Default)))

const accepting = Effect.gen(function* () {
  const [blocked] = yield* closing("2026-09")
  const accept = (blocked?.blockers ?? []).map(({ id }) => ({ id: id ?? "", reason: "It stays so" }))
  expect((yield* closing("2026-09", { accept }))[0]?.state).toBe("closed")
})

const { deposit, entry } = movement(11, "10.00", "10.00", "2026-09-05")

const answering = (held: Partnership, list: string, rows: () => ReadonlyArray<unknown>) => {
  held.interfere = (path, response) => {
    const [route = ""] = path.split("?")
    if (route !== list) return false
    json(response, { items: rows(), pageInfo: { hasNextPage: false } })
    return true
  }
}

layer(TestDatabase.layer, { excludeTestServices: true })("a row of a list that nobody can read", (it) => {
  it.scoped("asks for nobody once a close accepted it, until there is another one", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({
        balance: "10.00",
        statement: [entry],
        deposits: [deposit],
      })
      let odd: ReadonlyArray<unknown> = [{ id: 7 }, { id: 70 }]
      answering(held, "/destinations", () => odd)
      yield* sync(service.url)
      expect(yield* findings).toEqual(["quarantine blocking"])
      const open = {
        ...{ blockingFindings: 1, waiting: 2 },
        sentence: "Cash ties out; 2 rows are in quarantine",
        ...{ attention: true, list: [null, null] },
        page: [2],
        export: { findings: 1, quarantined: 2 },
      }
      expect(yield* told).toEqual(open)
      yield* accepting
      const accepted = {
        ...{ blockingFindings: 0, waiting: 0 },
        sentence: "Cash ties out; 1 accepted finding is open",
        ...{ attention: false, list: ["2026-09", "2026-09"] },
        page: [],
        export: nothingUnanswered,
      }
      expect(yield* told).toEqual(accepted)
      yield* sync(service.url)
      expect(yield* told).toEqual(accepted)
      const [later] = yield* closing("2026-10", { dryRun: true })
      expect(later?.blockers).toEqual([])

      // As many as before, and the first is the same.
      odd = [{ id: 7 }, { id: 8 }]
      yield* sync(service.url)
      // The month that was closed with it is as complete as it was then.
      expect(yield* told).toEqual({ ...open, export: nothingUnanswered })
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("an entry that nobody can read", (it) => {
  it.scoped("blocks again after the close that accepted it: what stands behind it waits", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({
        balance: "10.00",
        statement: [entry],
        deposits: [deposit],
      })
      held.statement.push({ ...movement(12, "1.00", "11.00", "2026-09-06").entry, amount: "one" })
      held.balance = "11.00"
      yield* sync(service.url)
      yield* accepting
      expect(yield* told).toMatchObject({ waiting: 1, attention: true })
    }),
  )
})
