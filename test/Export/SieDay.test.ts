/** The day on which a SIE file says that it was made. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { decodeUnknownSync } from "effect/Schema"
import * as Export from "../../src/Export.ts"
import { Content } from "../../src/Settings/Content.ts"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"
import { openBook, postMonths } from "./Books.ts"
import { client } from "./Exporting.ts"

const { accounting, chart, formats } = decodeUnknownSync(Content)({})
const base = { baseCurrency: "SEK", settings: accounting.valuation, chart }

const rates = Array.from({ length: 30 }, (_, day) =>
  ["USD", "JPY", "USDT"].map((from) => ({
    date: `2026-09-${String(day + 1).padStart(2, "0")}`,
    ...{ from, to: "SEK", rate: "10.5", source: "test" },
  })),
).flat()

layer(TestDatabase.layer, { excludeTestServices: true })("a SIE file", (it) => {
  // At every moment one of the two has another day than UTC.
  it.effect("is of the day in the book's time zone, as its vouchers are", () =>
    Effect.gen(function* () {
      yield* addRates(rates)
      for (const [book, clientId, timeZone] of [
        ["WEST", null, "Pacific/Pago_Pago"],
        ["EAST", client(1), "Pacific/Kiritimati"],
      ] as const) {
        const bookId = yield* openBook(book, clientId)
        yield* postMonths(bookId)
        yield* unruled(`update ledger.locks set time_zone = '${timeZone}' where book_id = ${bookId}`)
        const { batches } = yield* Export.run({
          formats: ["sie"],
          scope: { kind: "period", period: "2026-09" },
          ...{ connection: Option.none(), book: Option.some(book), out: temporaryFolder(), base },
          tables: { settings: formats, baseCurrency: "SEK" },
        })
        const { folder, manifest } = batches[0] ?? expect.fail("no batch")
        const [file] = manifest.files.filter(({ format }) => format === "sie")
        const text = readFileSync(join(folder, file?.name ?? ""), "latin1")
        const day = new Intl.DateTimeFormat("sv-SE", { timeZone }).format(Date.parse(manifest.createdAt))
        expect(text).toContain(`#GEN ${day.replaceAll("-", "")}\r\n`)
      }
    }),
  )
})
