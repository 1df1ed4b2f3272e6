/** The formats' settings as each book has them: a Mandant, a subsidiary, a tax rate. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Logger, Option } from "effect"
import { decodeUnknownSync } from "effect/Schema"
import type { ExportRequest } from "../../src/Export/Request.ts"
import * as Export from "../../src/Export.ts"
import { Content } from "../../src/Settings/Content.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { openBook, postMonths } from "./Books.ts"
import { client, failureOf } from "./Exporting.ts"

const { accounting, chart } = decodeUnknownSync(Content)({})

const exporting = (
  book: string | null,
  formats: ReadonlyArray<string>,
  own: object,
  more: Partial<Pick<ExportRequest, "base" | "scope">> = {},
) =>
  Export.run({
    ...{ formats, scope: { kind: "period", period: "2026-10" }, connection: Option.none(), ...more },
    ...{ book: Option.fromNullable(book), out: temporaryFolder(), again: true },
    tables: {
      settings: decodeUnknownSync(Content)({ formats: { leaveOut: ["USDT"], ...own } }).formats,
      baseCurrency: "EUR",
    },
  })

const withLogs = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => void lines.push(String(message)))
    const value = yield* effect.pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
    return { value, logged: lines.join("\n") }
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
      expect((yield* failureOf(exporting(null, ["datev"], { datev }))).message).toBe(refused)
      // Also before anything is valued, for which rates are missing here.
      const base = { base: { baseCurrency: "EUR", settings: accounting.valuation, chart } }
      expect((yield* failureOf(exporting(null, ["datev"], { datev }, base))).message).toBe(refused)
      expect((yield* exporting("FIRST", ["datev"], { datev })).batches).toHaveLength(1)
      const second = yield* failureOf(exporting("SECOND", ["datev"], { datev }))
      expect(second).toMatchObject({ reason: "Refused" })
      expect(second.message).toContain("SECOND and FIRST are two legal entities")
      const own = { datev, books: { SECOND: { datev: { client: 2 } } } }
      expect((yield* exporting(null, ["datev"], own)).batches).toHaveLength(2)
    }),
  )

  it.effect(
    "keep a book out of the Mandant that another one's batch was written for, whatever they say now",
    () =>
      Effect.gen(function* () {
        yield* opened
        const mandants = (first: number, second: number) => ({
          datev: { consultant: 1002 },
          books: { FIRST: { datev: { client: first } }, SECOND: { datev: { client: second } } },
        })
        const [first] = (yield* exporting(null, ["datev"], mandants(1, 2))).batches
        expect(first?.manifest.tables?.entities).toEqual({ datev: "the Mandant 1002/1" })
        const both = yield* failureOf(exporting(null, ["datev"], mandants(2, 1)))
        expect(both.message).toContain("FIRST would be written for the Mandant 1002/2, for which SECOND/")
        const second = yield* failureOf(exporting("SECOND", ["datev"], mandants(2, 1)))
        expect(second).toMatchObject({ reason: "Refused" })
        expect(second.message).toContain(
          `SECOND would be written for the Mandant 1002/1, for which FIRST/${first?.manifest.batch} stands: FIRST and SECOND are two legal entities.`,
        )
        const { logged, value } = yield* withLogs(exporting("FIRST", ["datev"], mandants(3, 2)))
        expect(value.batches).toHaveLength(1)
        expect(logged).toContain(
          `datev: FIRST is written for the Mandant 1002/3, and FIRST/${first?.manifest.batch} was for the Mandant 1002/1`,
        )
        // Said once: from here on the newest batch is for the same one.
        const again = yield* withLogs(exporting("FIRST", ["datev"], mandants(3, 2)))
        expect(again.logged).toBe("")
        // With everything again, nothing is left behind.
        const whole = yield* withLogs(
          exporting("FIRST", ["datev"], mandants(4, 2), { scope: { kind: "all" } }),
        )
        expect(whole.logged).toBe("")
        // Nothing of FIRST stands there any more.
        expect((yield* exporting("SECOND", ["datev"], mandants(3, 1))).batches).toHaveLength(1)
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
