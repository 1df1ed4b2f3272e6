/** A rate that contradicts one of the opposite direction, imported before, would change nothing. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { exportRates, importRates } from "../../../src/Rates.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const imported = (...lines: ReadonlyArray<string>) => {
  const file = join(temporaryFolder(), "rates.csv")
  writeFileSync(file, [...lines, ""].join("\n"))
  return importRates(file)
}

const header = "date,from,to,rate,source"

layer(TestDatabase.layer, { excludeTestServices: true })("a file of rates", (it) => {
  it.scoped("is refused where it corrects a rate in the opposite direction alone", () =>
    Effect.gen(function* () {
      const first = yield* imported(header, "2026-10-01,USD,EUR,0.90,bank", "2026-10-02,USD,EUR,0.90,bank")
      expect(first).toEqual({ version: 1, rates: 2, stored: 2 })
      const refused = yield* Effect.flip(
        imported(header, "2026-10-01,EUR,USD,1.25,corrected", "2026-10-03,EUR,USD,1.25,bank"),
      )
      expect(refused).toMatchObject({ _tag: "RatesError", reason: "Invalid" })
      expect(refused.message).toContain(
        "2026-10-01 EUR USD is 1.25 here and USD EUR is 0.90 in version 1: one turned round, they are more than 1 % apart",
      )
      expect(refused.message).toContain("Nothing was stored")
      expect(refused.message).not.toContain("2026-10-03")

      // About the same rate, both directions of one file, and a correction in the rate's own direction.
      yield* imported(header, "2026-10-02,EUR,USD,1.1112,bank")
      yield* imported(header, "2026-10-01,EUR,USD,1.25,corrected", "2026-10-01,USD,EUR,0.80,corrected")
      yield* imported(header, "2026-10-02,USD,EUR,0.901,corrected")
      const lines = yield* exportRates()
      expect(lines).toContain("2026-10-01,USD,EUR,0.80,corrected")
      // What is exported can be imported again.
      expect(yield* imported(...lines)).toMatchObject({ rates: lines.length - 1, stored: 0 })
    }),
  )

  it.scoped("is taken where it is the bank's, which states one direction alone", () =>
    Effect.gen(function* () {
      yield* imported(header, "2026-10-01,USD,EUR,0.90,own")
      yield* imported("Date,USD,JPY,", "2026-10-01,1.25,161,")
      expect(yield* exportRates()).toContain("2026-10-01,EUR,USD,1.25,ECB")
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
