/** NetSuite takes an External ID once: no two of its journals share one, in whichever files they are. */
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { decodeUnknownSync } from "effect/Schema"
import * as Export from "../../src/Export.ts"
import type { SummaryStyle } from "../../src/Format/Table/SummaryJournals.ts"
import { Content } from "../../src/Settings/Content.ts"
import * as Verify from "../../src/Verify.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { addConversionAccounts, assignNumbers, leg, openBook, post, whole } from "./Books.ts"
import { rowsOf } from "./Cells.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("the numbers of summaries", (it) => {
  it.effect("are in NetSuite's files once, also where a day begins with an entry in two currencies", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("ORG")
      yield* addConversionAccounts(bookId)
      const id = "55555555-0000-4000-8000-000000000001"
      // Both sides were there in September; the conversion was completed in October.
      yield* post(bookId, leg(id, "2026-09-30", ["USD", "-100.00"]))
      yield* post(bookId, leg(id, "2026-09-30", ["EUR", "90.00"]))
      yield* post(bookId, whole(id, "2026-10-01", ["USD", "100.00"], ["EUR", "90.00"]))
      yield* assignNumbers(bookId)
      const { formats } = decodeUnknownSync(Content)({})
      const styles: ReadonlyArray<SummaryStyle> = [
        { by: "day", net: false },
        { by: "month", net: false },
      ]
      for (const summary of styles) {
        const { batches } = yield* Export.run({
          ...{ formats: ["netsuite"], scope: { kind: "all" }, mode: "summary", summary, again: true },
          ...{ connection: Option.none(), book: Option.none(), out: temporaryFolder() },
          tables: { settings: formats, baseCurrency: "EUR" },
        })
        const { folder, manifest } = batches[0] ?? expect.fail("no batch")
        const files = manifest.files.filter(({ format }) => format === "netsuite")
        const numbers = files.map(({ name }) => [
          ...new Set(
            rowsOf(join(folder, name))
              .slice(1)
              .map(([number]) => number),
          ),
        ])
        expect(numbers).toEqual([
          ["ORG-2026-09-000002S", "ORG-2026-10-000001S-EUR"],
          ["ORG-2026-09-000001S", "ORG-2026-10-000001S-USD"],
        ])
        // The list of entries names each journal as the file does, or none could be looked up in the other.
        const listed = rowsOf(join(folder, "summary_entries_netsuite.csv")).slice(1)
        expect([...new Set(listed.map(([number]) => number))].sort()).toEqual(numbers.flat().sort())
        expect((yield* Verify.run(folder)).problems).toEqual([])
      }
    }),
  )
})
