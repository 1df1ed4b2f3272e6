/** What a reopened month shows again. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { credit, deposit, id, partnership } from "../Sync/Partnership.ts"
import { findings, sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { closing, reopening } from "./Months.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("a month that is reopened", (it) => {
  it.scoped("has the warnings again that concern open months alone", () =>
    Effect.gen(function* () {
      const on = (day: string) => ({ occurredAt: `${day}T12:00:00Z` })
      const { service } = yield* partnership({
        balance: "10.00",
        statement: [
          { ...credit(11, "10.00", "10.00", id(111)), ...on("2026-09-10") },
          { ...credit(12, "0.00", "10.00"), ...on("2026-09-11") },
        ],
        deposits: [deposit(111, "10.00", { createdAt: "2026-09-10T12:00:00Z" })],
      })
      yield* sync(service.url)
      expect(yield* findings).toEqual(["zero-entry warning"])
      expect(yield* closing("2026-09")).toMatchObject([{ state: "closed" }])
      yield* sync(service.url)
      expect(yield* findings).toEqual([])
      yield* reopening("2026-09")
      expect(yield* findings).toEqual(["zero-entry warning"])
    }),
  )
})
