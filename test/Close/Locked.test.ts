/** Months without a close of their own, because a later close locked them: nothing is wrong with them, and there is nothing to do. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { check } from "../../src/Close.ts"
import { Settings } from "../../src/Settings.ts"
import { reporting, textOf } from "../Report/Reports.ts"
import { sync } from "../Sync/Runs.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { checking, closing, movement, threeMonths } from "./Months.ts"

const told = (entries: string) =>
  `2026-07 lies before the first close of ORG, 2026-08: it was locked with it, with ${entries}.`

layer(TestDatabase.layer, { excludeTestServices: true })("a month before a book's first close", (it) => {
  it.scoped("was locked with it, and has nothing to close or to check", () =>
    Effect.gen(function* () {
      const { held, service } = yield* threeMonths
      // September has no entries, either.
      const moved = movement(12, "50.00", "150.00", "2026-10-02")
      held.statement[1] = moved.entry
      held.deposits[1] = moved.deposit
      yield* sync(service.url)
      expect(yield* Effect.flip(closing("2026-10"))).toMatchObject({ reason: "OutOfOrder" })
      for (const month of ["2026-08", "2026-10"]) expect((yield* closing(month))[0]?.state).toBe("closed")

      const refused = yield* Effect.flip(closing("2026-07"))
      expect(refused).toMatchObject({
        reason: "AlreadyClosed",
        message: `${told("0 entries")} There is nothing to close.`,
      })
      expect((yield* Effect.flip(closing("2026-08"))).message).toContain("--check")
      const checked = (period: string) =>
        check(period, Option.none()).pipe(Effect.provide(Settings.from({ variables: {} })))
      const [early] = yield* checked("2026-07")
      expect(early).toMatchObject({ close: null, locked: told("0 entries"), differences: [] })
      const [between] = yield* checked("2026-09")
      expect(between?.locked).toBe(
        "2026-09 of ORG has no close of its own: it was locked with 2026-10, with 0 entries.",
      )
      const [own] = yield* checked("2026-10")
      expect(own).toMatchObject({ locked: null, differences: [], close: { period: "2026-10" } })
      expect(yield* checking("2026-08")).toEqual([])

      const { folder, manifest } = yield* reporting("2026-07", temporaryFolder())
      expect([manifest.state, manifest.close, manifest.reasons]).toEqual([
        "closed",
        null,
        [told("0 entries")],
      ])
      expect(textOf(folder, "report.html")).toContain("locked without a close of its own")
    }),
  )
})
