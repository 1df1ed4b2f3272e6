/** What is in the way of a month is listed by number with its amount, and a person answers for each. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { exchange } from "../Sync/Exchange.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { closing } from "./Months.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("a month with several things in the way", (it) => {
  it.scoped("lists each by its number with its amount, and closes when all are accepted", () =>
    Effect.gen(function* () {
      const { service } = yield* exchange({
        moves: [
          { on: "usd", at: "2026-09-04", amount: "250" },
          { on: "usd", at: "2026-09-05", amount: "-100", of: 500 },
        ],
        conversions: { 500: { sell: "usd", sold: "100", buy: "eur", bought: "90", status: "ACTIVE" } },
      })
      yield* sync(service.url)
      const [blocked] = yield* closing("2026-09")
      const found = (blocked?.blockers ?? []).map(({ what }) => what)
      expect(found).toEqual([
        expect.stringMatching(/^adjustment: .*250\.00 USD/),
        expect.stringMatching(/^conversion-in-transit: .*100\.00 USD/),
      ])
      const ids = (blocked?.blockers ?? []).map(({ id }) => id ?? "")
      for (const id of ids) expect(id).toMatch(/^F\d+$/)
      const [closed] = yield* closing("2026-09", {
        accept: ids.map((id) => ({ id, reason: "Known to the bank" })),
      })
      expect([closed?.state, closed?.blockers]).toEqual(["closed", []])
      expect(yield* rows("select jsonb_array_length(accepted) as accepted from ledger.closes")).toEqual([
        { accepted: 2 },
      ])
    }),
  )
})
