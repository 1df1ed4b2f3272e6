/** What a run booked and did not prove, because it was stopped, is proved before a month closes. */
import { expect, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { accounts, exchange } from "../Sync/Exchange.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { closing } from "./Months.ts"

const booked = Effect.map(rows("select 1 from ledger.journal_entries"), (found) => found.length)

layer(TestDatabase.layer, { excludeTestServices: true })("what a stopped run has booked late", (it) => {
  it.scoped("blocks the close of the month that it is dated to", () =>
    Effect.gen(function* () {
      const { held, service } = yield* exchange()
      yield* sync(service.url)
      expect(yield* closing("2026-09")).toMatchObject([{ state: "closed" }])
      held.moves = [{ on: "usd", at: "2026-09-20", amount: "250" }]
      // The other account gives no answer: the run has booked the entry of this one, and waits.
      held.interfere = (path) => path.startsWith(`/accounts/${accounts.eur.accountId}/statement`)
      const run = yield* Effect.fork(sync(service.url))
      yield* Effect.repeat(Effect.delay(booked, "20 millis"), { until: (entries) => entries === 1 })
      yield* Fiber.interrupt(run)
      expect(yield* closing("2026-10")).toMatchObject([
        { state: "blocked", blockers: [{ check: "adjustment" }] },
      ])
    }),
  )
})
