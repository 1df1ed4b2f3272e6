/** SIE 4I of a book in kronor: read back against the journal, or refused with what to do. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { decodeUnknownSync } from "effect/Schema"
import * as Export from "../../src/Export.ts"
import { Content } from "../../src/Settings/Content.ts"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import * as Verify from "../../src/Verify.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { openBook, postMonths } from "./Books.ts"

const { accounting, chart, formats } = decodeUnknownSync(Content)({
  formats: { sie: { organizationNumber: "556036-0793", company: "Åkes Växel AB", series: "T" } },
})

const rates = [30, 31].flatMap((days, at) =>
  Array.from({ length: days }, (_, day) =>
    ["EUR", "USD", "JPY", "USDT"].map((from) => ({
      date: `2026-${at === 0 ? "09" : "10"}-${String(day + 1).padStart(2, "0")}`,
      ...{ from, to: "SEK", rate: from === "JPY" ? "0.071" : "10.5", source: "test" },
    })),
  ).flat(),
)

const exporting = (baseCurrency: string, base: boolean, mode: "detail" | "summary" = "detail") =>
  Export.run({
    formats: ["journal", "sie"],
    scope: { kind: "all" },
    ...{ connection: Option.none(), book: Option.some("SIE"), out: temporaryFolder(), mode, again: true },
    tables: { settings: formats, baseCurrency },
    ...(base ? { base: { baseCurrency, settings: accounting.valuation, chart } } : {}),
  })

layer(TestDatabase.layer, { excludeTestServices: true })("SIE 4I", (it) => {
  it.effect(
    "is refused in another base currency than kronor, and without --base where other currencies moved",
    () =>
      Effect.gen(function* () {
        yield* postMonths(yield* openBook("SIE"))
        yield* addRates(rates)
        for (const base of [false, true]) {
          // `--base` would write euros, so that no command is proposed before the settings say kronor.
          const { message } = yield* Effect.flip(exporting("EUR", base))
          expect(message).toBe(
            "sie takes SEK alone, and accounting.baseCurrency is EUR. It needs accounting.baseCurrency: SEK in the settings and rates into SEK (tieout rates import). Nothing was written.",
          )
        }
        const { message } = yield* Effect.flip(exporting("SEK", false))
        expect(message).toContain("nothing of it was written")
        expect(message).toMatch(/tieout export --base --format sie/)
      }),
  )

  it.effect("holds vouchers that add up to the journal, in code page 437", () =>
    Effect.gen(function* () {
      for (const mode of ["detail", "summary"] as const) {
        const { batches } = yield* exporting("SEK", true, mode)
        const { folder, manifest } = batches[0] ?? expect.fail("no batch")
        expect((yield* Verify.run(folder)).problems).toEqual([])
        const [file] = manifest.files.filter(({ format }) => format === "sie")
        expect(file?.name).toBe("sie-SEK.si")
        const bytes = readFileSync(join(folder, "sie-SEK.si"))
        const lines = bytes.toString("latin1").split("\r\n")
        expect(lines.slice(0, 3)).toEqual([
          "#FLAGGA 0",
          expect.stringContaining('#PROGRAM "Tieout"'),
          "#FORMAT PC8",
        ])
        expect(lines).toContain('#FNAMN "\x8fkes V\x84xel AB"')
        expect(lines.filter((line) => line.startsWith("#TRANS"))).toHaveLength(file?.rows ?? 0)
        expect(lines.find((line) => line.startsWith("#VER"))).toMatch(
          mode === "detail"
            ? /^#VER T "" 2026\d{4} "SIE-2026-09-000001 \w+/
            : /^#VER T "" 2026\d{4} "SIE-2026-09-\d{6}S /,
        )
      }
    }),
  )
})
