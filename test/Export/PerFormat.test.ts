/** Each format has a batch of its own: writing one again leaves the others alone. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { decodeUnknownSync } from "effect/Schema"
import { exportLines } from "../../src/Cli/Tables/ExportTable.ts"
import { listBatches } from "../../src/Export/Batch/Kept/KnownBatch.ts"
import { print, sha256Of } from "../../src/Export/Batch/Manifest/ManifestSeal.ts"
import type { ExportRequest } from "../../src/Export/Request.ts"
import * as Export from "../../src/Export.ts"
import { Content } from "../../src/Settings/Content.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { openBook, postMonths } from "./Books.ts"

const settings = decodeUnknownSync(Content)({
  formats: { datev: { consultant: 1001, client: 1 }, leaveOut: ["USDT", "JPY"] },
}).formats

const out = temporaryFolder()

const exporting = (
  formats: ReadonlyArray<string>,
  again = false,
  perFormat = true,
  baseCurrency = "USD",
  more: Partial<ExportRequest> = {},
) =>
  Export.run({
    ...{ formats, again, perFormat, out },
    scope: { kind: "period", period: "2026-10" },
    ...{ connection: Option.none(), book: Option.some("EACH") },
    tables: { settings, baseCurrency },
    ...more,
  })

const standing = Effect.map(listBatches(Option.some("EACH")), (batches) =>
  batches
    .filter(({ state }) => state === "committed")
    .map(({ batch, formats }) => `${batch} ${formats.join(",")}`)
    .toSorted(),
)

layer(TestDatabase.layer, { excludeTestServices: true })("a command for several formats", (it) => {
  it.effect(
    "writes a batch for each, in folders of the book's code; redoing one does not touch the others",
    () =>
      Effect.gen(function* () {
        yield* postMonths(yield* openBook("EACH"))
        const summary = yield* exporting(["journal", "hledger", "xero", "datev"])
        const { batches } = summary
        // Each accounting system's batch names the currencies that formats.leaveOut keeps out of it.
        const lines = exportLines(summary, { interactive: false, color: false, width: 200 })
        expect(lines.filter((line) => line.includes("left out"))).toEqual(
          ["xero", "datev"].map(() => "  left out by formats.leaveOut: JPY (1 entry), USDT (1 entry)"),
        )
        // Once the settings leave out less, what the batches lack is said: nothing else would export it.
        const fewer = { tables: { settings: { ...settings, leaveOut: ["JPY"] }, baseCurrency: "USD" } }
        const later = yield* exporting(["xero"], false, true, "USD", fewer)
        expect(later.lacking).toEqual([
          { book: "EACH", formats: ["xero"], batches: [3], currencies: ["USDT"] },
        ])
        expect(exportLines(later, { interactive: false, color: false, width: 200 })).toContain(
          "LEFT OUT: xero has nothing in USDT of what batch EACH/3 holds, since formats.leaveOut named it then. --again with their days, or --all, writes everything, to be imported in the batch's place.",
        )
        expect(summary.lacking).toEqual([])
        expect(batches.map(({ folder }) => folder.replace(`${out}/`, ""))).toEqual(
          [1, 2, 3, 4].map((batch) => `default-EACH/2026-10/${batch}`),
        )
        expect(yield* standing).toEqual(["1 journal", "2 hledger", "3 xero", "4 datev"])
        yield* exporting(["xero"], true)
        expect(yield* standing).toEqual(["1 journal", "2 hledger", "4 datev", "5 xero"])
        yield* exporting(["hledger", "journal"])
        expect(yield* standing).toEqual(["4 datev", "5 xero", "6 hledger", "7 journal"])
      }),
  )

  it.effect("supersedes a batch that several formats share when the first of them is written", () =>
    Effect.gen(function* () {
      yield* exporting(["hledger", "journal"], false, false)
      expect(yield* standing).toEqual(["4 datev", "5 xero", "8 hledger,journal"])
      const { batches } = yield* exporting(["journal", "hledger"])
      expect(batches.map(({ manifest }) => manifest.lineage?.supersedes)).toEqual([[8], []])
      expect(yield* standing).toEqual(["10 hledger", "4 datev", "5 xero", "9 journal"])
    }),
  )

  it.effect("writes no batch where one is refused, and chains each to the one before", () =>
    Effect.gen(function* () {
      const before = yield* standing
      // This format needs its setting and the base-currency journal.
      const error = yield* Effect.flip(exporting(["trial-balance", "fec"], false, true, "EUR"))
      expect(error).toMatchObject({ reason: "Refused" })
      expect(yield* standing).toEqual(before)
      const { batches } = yield* exporting(["journal", "ledger", "beancount"])
      const manifests = batches.map(({ manifest }) => manifest)
      expect(manifests.slice(1).map(({ lineage }) => lineage?.previous)).toEqual(
        manifests.slice(0, -1).map((manifest) => ({
          batch: manifest.batch,
          manifestSha256: sha256Of(print(manifest)),
        })),
      )
      expect(manifests.map(({ files }) => files.map(({ name }) => name))).toEqual([
        ["journal.csv", "statement.csv"],
        ["books.ledger"],
        ["books.beancount"],
      ])
    }),
  )
})
