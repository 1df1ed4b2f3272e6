/** The messages of commands that read a CSV file, where it cannot be read. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { importFrom } from "../../src/Export/Mapping.ts"
import { importRates } from "../../src/Rates.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

layer(TestDatabase.layer)("a CSV file that cannot be read", (it) => {
  it.scoped("is named, with the reason and advice", () =>
    Effect.gen(function* () {
      const place = temporaryFolder()
      const file = join(place, "file.csv")
      writeFileSync(file, "")
      const wrong = [
        [join(place, "gone.csv"), "there is no such file"],
        [join(file, "below.csv"), "there is no such file"],
        [place, "is a folder"],
      ] as const
      for (const [name, what] of wrong) {
        const expected = {
          reason: "Unreadable",
          message: `${name}: ${what}. Nothing was stored: name a CSV file that you may read.`,
        }
        expect(yield* Effect.flip(importRates(name))).toMatchObject(expected)
        expect(yield* Effect.flip(importFrom(name))).toMatchObject(expected)
      }
    }),
  )
})
