/** Files in the base currency that name their days. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { ExportRequest } from "../../src/Export/Request.ts"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { openBook } from "./Books.ts"
import { all, base, client, deposit, ecbRate, exporting } from "./Exporting.ts"

/** The files that name their days, and of the trial balance what it says of cash. */
const detail = Effect.fnUntraced(function* (more: Partial<ExportRequest>) {
  const { batches } = yield* exporting("DAYS", temporaryFolder())(all, ["gl-detail"], { base, ...more })
  const folder = batches[0]?.folder ?? ""
  const names = readdirSync(folder).filter((name) => name.includes("_2026"))
  const balances = readFileSync(join(folder, names.at(-1) ?? ""), "utf8").split("\n")
  return { names, cash: balances.filter((line) => line.startsWith("1010-USD-")) }
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "the general ledger detail in the base currency",
  (it) => {
    it.effect("goes to the revaluation of its last month, as of a time as well", () =>
      Effect.gen(function* () {
        yield* addRates([ecbRate("2026-09-10", "0.90"), ecbRate("2026-09-30", "0.95")])
        const bookId = yield* openBook("DAYS", client(17))
        yield* deposit(bookId, "2026-09-10", "1000.00")
        const then = new Date().toISOString()
        const found = yield* detail({})
        expect(found.names).toEqual([
          "Chart_Of_Accounts_20260910_20260930.csv",
          "GL_Detail_20260910_20260930.csv",
          "Trial_Balance_20260910_20260930.csv",
        ])
        expect(found.cash).toEqual([expect.stringMatching(/,2026,9,2026-09-30,0\.00,950\.00,EUR,DAYS$/)])
        expect(yield* detail({ asOf: { kind: "moment", text: then } })).toEqual(found)
      }),
    )
  },
)
