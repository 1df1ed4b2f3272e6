/** The formats' settings as each book has them: a Mandant, a subsidiary, a tax rate. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { decodeUnknownSync } from "effect/Schema"
import type { ExportRequest } from "../../src/Export/Request.ts"
import * as Export from "../../src/Export.ts"
import { Content } from "../../src/Settings/Content.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { openBook, postMonths } from "./Books.ts"
import { client } from "./Exporting.ts"

const { accounting, chart } = decodeUnknownSync(Content)({})

const exporting = (
  book: string | null,
  formats: ReadonlyArray<string>,
  own: object,
  more: Pick<ExportRequest, "base"> = {},
) =>
  Export.run({
    ...more,
    ...{ formats, scope: { kind: "period", period: "2026-10" }, connection: Option.none() },
    ...{ book: Option.fromNullable(book), out: temporaryFolder(), again: true },
    tables: {
      settings: decodeUnknownSync(Content)({ formats: { leaveOut: ["USDT"], ...own } }).formats,
      baseCurrency: "EUR",
    },
  })

const opened = Effect.runSync(
  Effect.cached(
    Effect.gen(function* () {
      yield* postMonths(yield* openBook("FIRST", client(41)))
      yield* postMonths(yield* openBook("SECOND", client(42)))
    }),
  ),
)

layer(TestDatabase.layer)("the settings of a book", (it) => {
  it.effect("override the common ones, key by key", () =>
    Effect.gen(function* () {
      yield* opened
      const own = {
        netsuite: { subsidiary: "Parent", description: "{number}" },
        books: { SECOND: { netsuite: { subsidiary: "Child" }, leaveOut: ["USDT", "JPY"] } },
      }
      const { batches } = yield* exporting(null, ["netsuite"], own)
      const told = batches.map(({ folder, manifest }) => [
        manifest.book.code,
        manifest.files.map(({ name }) => name),
        readFileSync(join(folder, "netsuite-USD.csv"), "utf8").split("\n")[1]?.split(",").slice(2, 6),
      ])
      expect(told).toEqual([
        ["FIRST", ["netsuite-JPY.csv", "netsuite-USD.csv"], ["Parent", "USD", "", "FIRST-2026-10-000001"]],
        ["SECOND", ["netsuite-USD.csv"], ["Child", "USD", "", "SECOND-2026-10-000001"]],
      ])
    }),
  )

  it.effect("keep two legal entities out of one Mandant, together and one after the other", () =>
    Effect.gen(function* () {
      yield* opened
      const datev = { consultant: 1001, client: 1 }
      const refused =
        "datev: FIRST and SECOND are two legal entities and would share the Mandant 1001/1. Give each its own: formats.books.SECOND.datev in the settings. Nothing was written."
      expect((yield* Effect.flip(exporting(null, ["datev"], { datev }))).message).toBe(refused)
      // Also before anything is valued, for which rates are missing here.
      const base = { base: { baseCurrency: "EUR", settings: accounting.valuation, chart } }
      expect((yield* Effect.flip(exporting(null, ["datev"], { datev }, base))).message).toBe(refused)
      expect((yield* exporting("FIRST", ["datev"], { datev })).batches).toHaveLength(1)
      const second = yield* Effect.flip(exporting("SECOND", ["datev"], { datev }))
      expect(second).toMatchObject({ reason: "Refused" })
      expect(second.message).toContain("SECOND and FIRST are two legal entities")
      const own = { datev, books: { SECOND: { datev: { client: 2 } } } }
      expect((yield* exporting(null, ["datev"], own)).batches).toHaveLength(2)
    }),
  )

  it.effect("are refused where there is no such book", () =>
    Effect.gen(function* () {
      yield* opened
      const nobody = yield* Effect.flip(
        exporting("FIRST", ["netsuite"], { books: { SECND: { netsuite: { subsidiary: "Child" } } } }),
      )
      expect(nobody.message).toContain("formats.books names SECND, which is no book: known are FIRST, SECOND")
      const valued = yield* Effect.flip(
        exporting(
          "FIRST",
          ["journal"],
          {},
          {
            base: {
              ...{ baseCurrency: "EUR", chart },
              settings: { ...accounting.valuation, books: { SECND: { method: "fifo" } } },
            },
          },
        ),
      )
      expect(valued).toMatchObject({
        reason: "Usage",
        message:
          "accounting.valuation.books names SECND, which is no book: known are FIRST, SECOND. Nothing was written.",
      })
    }),
  )
})
