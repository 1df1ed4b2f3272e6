/** The files beside the general ledger detail: the account numbers are the detail's own, whatever characters the chart has. */
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { decodeUnknownSync } from "effect/Schema"
import * as Export from "../../src/Export.ts"
import { AccountCode } from "../../src/Settings/Chart.ts"
import { Content } from "../../src/Settings/Content.ts"
import * as Verify from "../../src/Verify.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"
import { openBook, postMonths } from "./Books.ts"
import { rowsOf } from "./Cells.ts"

const exported = Effect.fnUntraced(function* (book: string, settings: unknown = {}) {
  const { formats } = decodeUnknownSync(Content)({ formats: { profiles: { "gl-detail": settings } } })
  const { batches } = yield* Export.run({
    formats: ["gl-detail"],
    scope: { kind: "period", period: "2026-10" },
    ...{ connection: Option.none(), book: Option.some(book), out: temporaryFolder() },
    tables: { settings: formats, baseCurrency: "EUR" },
  })
  return batches[0] ?? expect.fail("no batch")
})

/** A column of one of the files. */
const column = (folder: string, name: string, header: string): ReadonlySet<string> => {
  const [head = [], ...rows] = rowsOf(join(folder, name))
  const at = head.indexOf(header)
  return new Set(rows.map((row) => row[at] ?? ""))
}

layer(TestDatabase.layer, { excludeTestServices: true })(
  "the account numbers of the general ledger detail",
  (it) => {
    it.effect("are the same in the chart of accounts and the trial balance beside it", () =>
      Effect.gen(function* () {
        // A sign before it, two spaces, a letter and its accent apart, and a sign that stands for several characters.
        const codes = ["-6850", "68  50", "6850-Gebu\u0308hren", "6850\u2026"]
        for (const [at, code] of codes.entries()) {
          expect(decodeUnknownSync(AccountCode)(code)).toBe(code)
          const book = `BOOK${at}`
          const bookId = yield* openBook(book, `33333333-0000-4000-8000-00000000000${at}`)
          yield* unruled(
            `update ledger.accounts set code = '${code}' where book_id = ${bookId} and role = 'fees'`,
          )
          yield* postMonths(bookId)
          const { folder, manifest } = yield* exported(book)
          const [detail = "", chart = "", balance = ""] = manifest.files.map(({ name }) => name)
          const numbers = column(folder, chart, "GL_Account_Number")
          expect(numbers).toContain(`${code}-USD`)
          expect(column(folder, balance, "GL_Account_Number")).toEqual(numbers)
          expect([...column(folder, detail, "GL_Account_Number")].filter((one) => !numbers.has(one))).toEqual(
            [],
          )
          expect((yield* Verify.run(folder)).problems).toEqual([])
        }
      }),
    )

    it.effect("refuse a batch whose encoding lacks one of them, also of an account without entries", () =>
      Effect.gen(function* () {
        const bookId = yield* openBook("ENCODED", "33333333-0000-4000-8000-000000000009")
        yield* unruled(
          `insert into ledger.accounts (book_id, role, currency, rule_code, code, name)
         values (${bookId}, 'other', 'USD', 'Ł', 'Ł', 'Expenses:Never used')`,
        )
        yield* postMonths(bookId)
        const error = yield* Effect.flip(exported("ENCODED", { encoding: "windows-1252" }))
        expect(error.message).toBe(
          'gl-detail cannot hold what would be exported: "Ł-USD" is not in windows-1252. Nothing of this export was written.',
        )
      }),
    )
  },
)
