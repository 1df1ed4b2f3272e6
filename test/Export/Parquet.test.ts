/** The journal in Parquet: DuckDB, which shares no code with Tieout, reads the content of `journal.csv` from it; verify finds changes. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DuckDBInstance } from "@duckdb/node-api"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { decodeUnknownSync } from "effect/Schema"
import * as Export from "../../src/Export.ts"
import { parquet } from "../../src/Format/Parquet/Parquet.ts"
import { Content } from "../../src/Settings/Content.ts"
import * as Verify from "../../src/Verify.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { openBook, postMonths } from "./Books.ts"

const exporting = (names: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { batches } = yield* Export.run({
      formats: names,
      scope: { kind: "all" },
      ...{ connection: Option.none(), book: Option.some("COLS"), out: temporaryFolder() },
      tables: { settings: decodeUnknownSync(Content)({}).formats, baseCurrency: "EUR" },
    })
    return batches[0] ?? expect.fail("no batch")
  })

/** The rows of a query, each cell as text. */
const asked = (sql: string) =>
  Effect.promise(async () => {
    const connection = await (await DuckDBInstance.create(":memory:")).connect()
    const rows = (await connection.runAndReadAll(sql)).getRows()
    connection.closeSync()
    return rows.map((row) => row.map(String))
  })

layer(TestDatabase.layer, { excludeTestServices: true })("the journal in Parquet", (it) => {
  it.effect("says in DuckDB what journal.csv says, column by column and to the last digit", () =>
    Effect.gen(function* () {
      yield* postMonths(yield* openBook("COLS"))
      const { folder, manifest } = yield* exporting(["journal", "parquet"])
      expect((yield* Verify.run(folder)).problems).toEqual([])
      const file = `'${join(folder, "journal.parquet")}'`
      const csv = `read_csv('${join(folder, "journal.csv")}', all_varchar = true, header = true)`
      const types = Object.fromEntries(
        (yield* asked(`select column_name, column_type from (describe select * from ${file})`)).map(
          ([name, type]) => [name, type],
        ),
      )
      expect(types).toMatchObject({
        ...{ debit: "DECIMAL(38,18)", credit: "DECIMAL(38,18)", effective_date: "DATE" },
        ...{ occurred_at: "TIMESTAMP WITH TIME ZONE", line_number: "INTEGER", description: "VARCHAR" },
      })
      // In journal.csv an apostrophe guards texts that a spreadsheet would run; the texts here are unchanged.
      const columns = Object.keys(types).map((name) => {
        if (types[name] === "DECIMAL(38,18)") return `${name}::decimal(38,18)`
        return types[name] === "VARCHAR"
          ? `replace(coalesce(${name}, ''), '''', '')`
          : `${name}::${types[name]}`
      })
      const same = columns.join(", ")
      const differing = yield* asked(
        `select count(*) from ((select ${same} from ${file} except all select ${same} from ${csv})
          union all (select ${same} from ${csv} except all select ${same} from ${file}))`,
      )
      expect(differing).toEqual([["0"]])
      const sums = yield* asked(
        `select currency, sum(debit)::varchar, sum(credit)::varchar from ${file} group by 1 order by 1`,
      )
      const digits = (text = "") => (text.includes(".") ? text.replace(/\.?0+$/, "") : text)
      expect(sums.map(([currency, debit, credit]) => [currency, digits(debit), digits(credit)])).toEqual(
        manifest.currencies
          .map(({ credit, currency, debit }) => [currency, digits(debit), digits(credit)])
          .toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1)),
      )
    }),
  )

  it.effect("is verified by itself, and a changed byte is reported", () =>
    Effect.gen(function* () {
      const { folder } = yield* exporting(["parquet"])
      expect((yield* Verify.run(folder)).problems).toEqual([])
      const path = join(folder, "journal.parquet")
      const bytes = readFileSync(path)
      for (const at of [0, 5, Math.floor(bytes.length / 2), bytes.length - 6]) {
        const changed = Buffer.from(bytes)
        changed[at] = (changed[at] ?? 0) ^ 0xff
        writeFileSync(path, changed)
        expect((yield* Verify.run(folder)).problems.map(({ file }) => file)).toContain("journal.parquet")
      }
      writeFileSync(path, bytes)
      expect((yield* Verify.run(folder)).problems).toEqual([])
    }),
  )

  it.effect("is damaged where a place in its footer is, and nothing else goes wrong", () =>
    Effect.gen(function* () {
      const { folder } = yield* exporting(["parquet"])
      const path = join(folder, "journal.parquet")
      const whole = readFileSync(path)
      const footer = whole.length - 8 - whole.readUInt32LE(whole.length - 8)
      const forgotten: Array<unknown> = []
      const forget = (error: unknown) => forgotten.push(error)
      const others = process.listeners("unhandledRejection")
      process.removeAllListeners("unhandledRejection").on("unhandledRejection", forget)
      // The places of the columns begin after their names.
      for (let at = footer + 600; at < footer + 900; at++) {
        const damaged = Buffer.from(whole)
        damaged[at] = (damaged[at] ?? 0) ^ 0x80
        writeFileSync(path, damaged)
        const { problems } = yield* Verify.run(folder)
        expect(problems, `${at}`).not.toEqual([])
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      }
      process.removeAllListeners("unhandledRejection")
      for (const other of others) process.on("unhandledRejection", other)
      expect(forgotten).toEqual([])
    }),
  )

  it("refuses an amount of more than twenty digits before the point, and writes every one that fits", () => {
    const account = {
      code: "1010",
      name: "Cash",
      role: "cash",
      currency: "EUR",
      scale: 2,
      partnerAccountId: null,
    }
    const context = { book: { code: "ORG", name: "Org" }, scope: "all", from: null, accounts: [] }
    const entry = (minor: bigint) => ({
      ...{ number: "ORG-2026-10-000001", period: "2026-10", effectiveDate: "2026-10-01", kind: "deposit" },
      ...{
        occurredAt: "2026-10-01T10:00:00.000000Z",
        recordedAt: "2026-10-01T10:00:00.000000Z",
        recordedOn: "2026-10-01",
      },
      ...{ description: "", sourceType: "manual", sourceId: "s", resourceType: null, resourceId: null },
      ...{ externalReference: null, counterparty: null, reverses: null, lateFor: null },
      lines: [
        { number: 1, account, minor },
        { number: 2, account, minor: -minor },
      ],
    })
    const most = 10n ** 22n - 1n
    expect(parquet.open(context).write([entry(most)])).toBeInstanceOf(Uint8Array)
    expect(() => parquet.open(context).write([entry(most + 1n)])).toThrow(
      "an amount of ORG-2026-10-000001 in EUR has more than 20 digits before the point",
    )
  })
})
