/** Texts as long as the service may send them: ledger reads no line of 4,096 bytes, and then nothing of the file. */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { decodeUnknownSync } from "effect/Schema"
import { Database } from "../../src/Database.ts"
import * as Export from "../../src/Export.ts"
import { Content } from "../../src/Settings/Content.ts"
import * as Verify from "../../src/Verify.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { assignNumbers, openBook, partner, post } from "./Books.ts"

const long = "漢😀".repeat(1_000)

layer(TestDatabase.layer)("a text that is longer than a line of ledger", (it) => {
  it.effect("is cut in the journals of hledger and ledger, and whole in journal.csv", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const bookId = yield* openBook("LONG")
      yield* database.query(
        "Test.longNames",
        (sql) => sql`
          update ledger.accounts set name = ${`Assets:${"x".repeat(400)}:${long}`}
          where book_id = ${bookId} and currency = 'USD' and role in ('cash', 'deposits_clearing') and rule_code = ''`,
      )
      yield* database.query(
        "Test.longBook",
        (sql) => sql`update mirror.books set name = ${long} where book_id = ${bookId}`,
      )
      yield* post(bookId, {
        ...{ date: "2026-10-01", kind: "deposit", partner: partner.usd, cash: "1.00" },
        ...{ description: long, counterparty: long, reference: long },
        lines: [
          ["cash", "", "USD", "1.00"],
          ["deposits_clearing", "", "USD", "-1.00"],
        ],
      })
      yield* assignNumbers(bookId)
      const { batches } = yield* Export.run({
        formats: ["journal", "hledger", "ledger", "beancount"],
        scope: { kind: "all" },
        ...{ connection: Option.none(), book: Option.none(), out: temporaryFolder() },
        tables: { settings: decodeUnknownSync(Content)({}).formats, baseCurrency: "USD" },
      })
      const { folder } = batches[0] ?? expect.fail("no batch")
      expect((yield* Verify.run(folder)).problems).toEqual([])
      const written = (file: string) => readFileSync(join(folder, file), "utf8")
      expect(written("journal.csv")).toContain(`,${long},`)
      for (const file of ["books.journal", "books.ledger"]) {
        const lines = written(file).split("\n")
        expect(lines.filter((line) => Buffer.byteLength(line) >= 4_096)).toEqual([])
        // Never half a character, and the two accounts that are called the same stay two.
        expect(written(file)).not.toContain("\ufffd")
        expect(new Set(lines.filter((line) => line.startsWith("account Assets:x"))).size).toBe(2)
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
