/** Control and direction characters in texts from a bank: `journal.csv` keeps them, every other text file leaves them out. */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { parse } from "csv-parse/sync"
import { Effect, Option } from "effect"
import { decodeUnknownSync } from "effect/Schema"
import * as Export from "../../src/Export.ts"
import { Content } from "../../src/Settings/Content.ts"
import * as Verify from "../../src/Verify.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { assignNumbers, openBook, partner, post } from "./Books.ts"

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at)

/** C0 (Postgres holds no NUL) and C1 with DEL, separators of lines, marks and overrides of direction, zero-width characters. */
const characters = [
  ...[...range(0x01, 0x1f), ...range(0x7f, 0x9f), 0x061c, ...range(0x200b, 0x200f), 0x2028, 0x2029],
  ...[...range(0x202a, 0x202e), ...range(0x2060, 0x2069), 0xfeff],
].map((code) => String.fromCodePoint(code))

const plain = ["hledger", "ledger", "beancount"]
const tables = [
  ...["xero", "xero-statement", "qbo", "netsuite", "intacct", "sage50", "business-central", "datev"],
  "gl-detail",
]

/** What no other file may have, line ends and separators apart. The joiners U+200C and U+200D are letters' own in some scripts. */
const hidden = /(?![\r\n\t])[\p{Cc}\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/u

layer(TestDatabase.layer)("control characters in a text", (it) => {
  it.effect("are kept in journal.csv and in no other file; all files are read back", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("CONTROL")
      for (const character of characters) {
        yield* post(bookId, {
          ...{ date: "2026-10-01", kind: "deposit", partner: partner.usd, cash: "1.00" },
          description: `${character}before${character}after${character}`,
          counterparty: `${character}=1+1${character}`,
          reference: `INV${character}7`,
          lines: [
            ["cash", "", "USD", "1.00"],
            ["deposits_clearing", "", "USD", "-1.00"],
          ],
        })
      }
      yield* assignNumbers(bookId)
      const { batches } = yield* Export.run({
        formats: ["journal", ...plain, "parquet", ...tables],
        scope: { kind: "all" },
        ...{ connection: Option.none(), book: Option.none(), out: temporaryFolder() },
        tables: {
          settings: decodeUnknownSync(Content)({ formats: { datev: { consultant: 1001, client: 1 } } })
            .formats,
          baseCurrency: "USD",
        },
      })
      const { folder, manifest } = batches[0] ?? expect.fail("no batch")
      expect((yield* Verify.run(folder)).problems).toEqual([])
      const rows: ReadonlyArray<Readonly<Record<string, string>>> = parse(
        readFileSync(join(folder, "journal.csv"), "utf8"),
        { columns: true },
      )
      const texts = rows
        .filter(({ line_number }) => line_number === "1")
        .map(({ description }) => description)
      // A tab or a return could begin a formula, so that an apostrophe precedes it.
      expect(texts.map((text) => text?.replace(/^'/, ""))).toEqual(
        characters.map((character) => `${character}before${character}after${character}`),
      )
      for (const { format, name } of manifest.files) {
        if (format === "journal" || format === "parquet") continue
        const text = readFileSync(join(folder, name), format === "datev" ? "latin1" : "utf8")
        expect([name, hidden.exec(text)?.[0]?.codePointAt(0)]).toEqual([name, undefined])
      }
      for (const [program = "", ...options] of [
        ["hledger", "-f", "books.journal", "check", "-s", "ordereddates"],
        ["ledger", "-f", "books.ledger", "--strict", "--pedantic", "bal"],
        ["bean-check", "--no-cache", "books.beancount"],
      ]) {
        const { error, status, stderr } = spawnSync(program, options, { cwd: folder, encoding: "utf8" })
        // Where these programs are not installed, .ci/run has them.
        if (error === undefined) expect([program, status, stderr]).toEqual([program, 0, ""])
      }
    }),
  )
})
