import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { parse } from "csv-parse/sync"
import { Effect, Either, Option } from "effect"
import { Database } from "../../src/Database.ts"
import type { ExportScope } from "../../src/Export/Request/ExportScope.ts"
import * as Export from "../../src/Export.ts"
import { formatNames } from "../../src/Format/Formats.ts"
import * as Verify from "../../src/Verify.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { assignNumbers, awkward, openBook, partner, post, postMonths } from "./Books.ts"
import { october } from "./Exporting.ts"

const all: ExportScope = { kind: "all" }

const request = (out: string, scope: ExportScope, formats: ReadonlyArray<string>, book: string) => ({
  formats,
  scope,
  connection: Option.none<string>(),
  book: Option.some(book),
  out,
})

const read = (...path: ReadonlyArray<string>): string => readFileSync(join(...path), "utf8")

const rowsOf = (csv: string): ReadonlyArray<Record<string, string>> =>
  parse<Record<string, string>>(csv, { columns: true })

/** The journal without recorded_at and ids, which differ from run to run. */
const essence = (csv: string): ReadonlyArray<string> =>
  rowsOf(csv).map((row) =>
    ["journal_number", "line_number", "effective_date", "account_code", "currency", "debit", "credit"]
      .map((column) => row[column])
      .join(),
  )

const files = (root: string): ReadonlyArray<string> =>
  existsSync(root)
    ? readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
        .sort()
    : []

interface Batch {
  readonly batch: number
  readonly scope: string
  readonly from_date: string | null
  readonly to_date: string | null
  readonly folder: string
  readonly manifest: string
}

layer(TestDatabase.layer)("an export", (it) => {
  it.effect("writes the canonical journal of a period, with texts unchanged and no formula", () =>
    Effect.gen(function* () {
      yield* postMonths(yield* openBook("CANON", "33333333-0000-4000-8000-000000000001"))
      const out = temporaryFolder()
      const { batches, complete } = yield* Export.run(request(out, october, ["journal"], "CANON"))
      expect(complete).toBe(true)
      expect(batches.map((batch) => batch.folder)).toEqual([join(out, "default-CANON", "2026-10", "1")])
      const csv = read(batches[0]?.folder ?? "", "journal.csv")
      expect(csv.split("\n", 1)[0]).toBe(
        "journal_number,line_number,book,period,effective_date,occurred_at,recorded_at,account_code,account_name,account_role,partner_account_id,currency,debit,credit,kind,description,source_type,source_id,resource_type,resource_id,external_reference,counterparty,reverses,late_for",
      )
      expect(essence(csv)).toEqual([
        "CANON-2026-10-000001,1,2026-10-01,1010,USD,995.00,",
        "CANON-2026-10-000001,2,2026-10-01,6850,USD,5.00,",
        "CANON-2026-10-000001,3,2026-10-01,1020,USD,,1000.00",
        "CANON-2026-10-000002,1,2026-10-01,1010,USD,0.01,",
        "CANON-2026-10-000002,2,2026-10-01,1020,USD,,0.01",
        "CANON-2026-10-000003,1,2026-10-05,1010,USD,,1000.00",
        "CANON-2026-10-000003,2,2026-10-05,6850,USD,5.00,",
        "CANON-2026-10-000003,3,2026-10-05,3020,USD,995.00,",
        "CANON-2026-10-000004,1,2026-10-05,1010,USDT,994.20310000,",
        "CANON-2026-10-000004,2,2026-10-05,3020,USDT,,994.20310000",
        "CANON-2026-10-000005,1,2026-10-07,1010,JPY,120000,",
        "CANON-2026-10-000005,2,2026-10-07,4120,JPY,,120000",
        "CANON-2026-10-000006,1,2026-10-03,1010,USD,,20.00",
        "CANON-2026-10-000006,2,2026-10-03,4120,USD,15.00,",
        "CANON-2026-10-000006,3,2026-10-03,4121,USD,3.00,",
        "CANON-2026-10-000006,4,2026-10-03,1990,USD,2.00,",
      ])
      const rows = rowsOf(csv)
      expect(rows[3]).toMatchObject({
        description: `'${awkward}`,
        counterparty: `'${awkward}`,
        external_reference: `'${awkward}`,
      })
      expect(rows[0]).toMatchObject({
        book: "CANON",
        period: "2026-10",
        occurred_at: "2026-10-01T09:30:00.123000Z",
        account_role: "cash",
        partner_account_id: partner.usd,
        counterparty: "Acme, Inc. | London",
        external_reference: "'-INV 7",
        reverses: "",
        late_for: "",
      })
    }),
  )

  it.effect("writes a trial balance of a period and of days within it, with opening and closing", () =>
    Effect.gen(function* () {
      yield* postMonths(yield* openBook("TRIAL", "33333333-0000-4000-8000-000000000002"))
      const usd = Effect.fnUntraced(function* (scope: ExportScope) {
        const { batches } = yield* Export.run(request(temporaryFolder(), scope, ["trial-balance"], "TRIAL"))
        const lines = read(batches[0]?.folder ?? "", "trial-balance.csv").split("\n")
        expect(lines[0]).toBe("account_code,account_name,account_role,currency,opening,debit,credit,closing")
        return lines
          .filter((line) => /^(?:1010|1020|6850),.*,USD,/.test(line))
          .map((line) => line.replace(/^(\d+),.*,USD,/, "$1 "))
      })
      expect(yield* usd(october)).toEqual([
        "1010 500.00,995.01,1020.00,475.01",
        "1020 -500.00,0.00,1000.01,-1500.01",
        "6850 0.00,10.00,0.00,10.00",
      ])
      expect(yield* usd({ kind: "range", from: "2026-10-02", to: "2026-10-04" })).toEqual([
        "1010 1495.01,0.00,20.00,1475.01",
        "1020 -1500.01,0.00,0.00,-1500.01",
        "6850 5.00,0.00,0.00,5.00",
      ])
      expect(yield* usd({ kind: "range", from: "2026-09-01", to: "2026-10-31" })).toEqual([
        "1010 0.00,1495.01,1020.00,475.01",
        "1020 0.00,0.00,1500.01,-1500.01",
        "6850 0.00,10.00,0.00,10.00",
      ])
    }),
  )

  it.effect("gives each format what is new since its last batch: nothing twice, nothing left out", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("SINCE", "33333333-0000-4000-8000-000000000003")
      yield* postMonths(bookId)
      const out = temporaryFolder()
      const since = (...formats: ReadonlyArray<string>) =>
        Export.run(request(out, { kind: "since-last" }, formats, "SINCE"))
      const numbers = (batch: Export.ExportSummary["batches"][number] | undefined): ReadonlyArray<string> => [
        ...new Set(essence(read(batch?.folder ?? "", "journal.csv")).map((line) => line.slice(6, 20))),
      ]
      // A batch of one month does not count for the other.
      yield* Export.run(
        request(out, { kind: "range", from: "2026-10-01", to: "2026-10-04" }, ["journal"], "SINCE"),
      )
      const first = yield* since("journal", "trial-balance")
      expect(
        first.batches.map(({ manifest }) => [manifest.formats, manifest.entries, manifest.batch]),
      ).toEqual([
        [["journal"], 4, 2],
        [["trial-balance"], 7, 3],
      ])
      expect(numbers(first.batches[0])).toEqual([
        "2026-09-000001",
        "2026-10-000003",
        "2026-10-000004",
        "2026-10-000005",
      ])
      expect(yield* since("journal", "trial-balance")).toEqual({
        batches: [],
        outdated: [],
        unchanged: ["SINCE"],
        empty: [],
        exported: [],
        lacking: [],
        complete: true,
      })

      yield* post(bookId, {
        date: "2026-10-02",
        kind: "deposit",
        partner: partner.usd,
        cash: "7.00",
        description: "Late",
        lines: [
          ["cash", "", "USD", "7.00"],
          ["deposits_clearing", "", "USD", "-7.00"],
        ],
      })
      yield* assignNumbers(bookId)
      const second = yield* since("journal")
      expect(numbers(second.batches[0])).toEqual(["2026-10-000007"])
      expect(
        second.batches[0]?.manifest.accounts.find(({ name }) => name.includes("USD:SWIFT")),
      ).toMatchObject({
        opening: "475.01",
        debit: "7.00",
        credit: "0.00",
        closing: "482.01",
      })
      for (const { folder: path } of [...first.batches, ...second.batches]) {
        expect((yield* Verify.run(path)).problems).toEqual([])
      }
    }),
  )

  it.effect("leaves entries without a number out, and says that it is incomplete", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("HALF", "33333333-0000-4000-8000-000000000004")
      yield* postMonths(bookId)
      yield* post(bookId, {
        date: "2026-10-30",
        kind: "deposit",
        partner: partner.usd,
        cash: "7.00",
        description: "Not yet numbered",
        lines: [
          ["cash", "", "USD", "7.00"],
          ["deposits_clearing", "", "USD", "-7.00"],
        ],
      })
      const database = yield* Database
      yield* database.query(
        "Test.finding",
        (sql) => sql`
          insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence)
          values (${bookId}, 'chain', 'blocking', 'account', 'x', 'broken', '{}')`,
      )
      const { batches, complete } = yield* Export.run(
        request(temporaryFolder(), october, ["journal", "trial-balance"], "HALF"),
      )
      expect(complete).toBe(false)
      expect(batches[0]?.manifest.reasons).toEqual([
        "1 blocking finding is open",
        "1 journal entry without a journal number is left out",
      ])
      expect(batches[0]?.manifest.entries).toBe(6)
      expect((yield* Verify.run(batches[0]?.folder ?? "")).problems).toEqual([])
    }),
  )

  it.effect("numbers batches per book and records what it wrote", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("BATCH", "33333333-0000-4000-8000-000000000005")
      yield* postMonths(bookId)
      const out = temporaryFolder()
      const one = yield* Export.run(request(out, all, ["journal"], "BATCH"))
      const two = yield* Export.run(
        request(out, october, ["journal"], "33333333-0000-4000-8000-000000000005"),
      )
      expect([...one.batches, ...two.batches].map(({ folder: path }) => path.slice(out.length + 1))).toEqual([
        "default-BATCH/all/1",
        "default-BATCH/2026-10/2",
      ])
      const database = yield* Database
      const rows = yield* database.query(
        "Test.batches",
        (sql) => sql<
          ReadonlyArray<Batch>
        >`select batch, scope, from_date, to_date, formats, folder, manifest::text as manifest
          from export.batches where book_id = ${bookId} order by batch`,
      )
      expect(rows.map(({ batch, from_date, scope, to_date }) => [batch, scope, from_date, to_date])).toEqual([
        [1, "all", null, null],
        [2, "2026-10", "2026-10-01", "2026-10-31"],
      ])
      expect(rows.map((row) => row.manifest)).toEqual(
        rows.map((row) => read(out, row.folder, "manifest.json")),
      )
    }),
  )

  it.effect("replaces the folder that a killed export left, and never another database's batch", () =>
    Effect.gen(function* () {
      yield* postMonths(yield* openBook("KILLED", "33333333-0000-4000-8000-000000000006"))
      const out = temporaryFolder()
      const book = join(out, "default-KILLED")
      mkdirSync(join(book, "all", "1"), { recursive: true })
      writeFileSync(join(book, "all", "1", "journal.csv.partial"), "half a li")
      writeFileSync(join(book, ".unfinished"), "all/1\n")
      yield* Export.run(request(out, october, ["journal"], "KILLED"))
      expect(files(book)).toEqual([
        "2026-10/1/journal.csv",
        "2026-10/1/manifest.json",
        "2026-10/1/statement.csv",
      ])

      mkdirSync(join(book, "all", "2"), { recursive: true })
      writeFileSync(join(book, "all", "2", "manifest.json"), "{}")
      const refused = yield* Effect.either(Export.run(request(out, all, ["journal"], "KILLED")))
      expect(Either.getLeft(refused)).toMatchObject(
        Option.some({ _tag: "ExportError", reason: "FolderTaken" }),
      )
      expect(files(book)).toEqual([
        "2026-10/1/journal.csv",
        "2026-10/1/manifest.json",
        "2026-10/1/statement.csv",
        "all/2/manifest.json",
      ])
    }),
  )

  it.effect("leaves alone what another database's export is writing, and clears its own", () =>
    Effect.gen(function* () {
      yield* postMonths(yield* openBook("SHARED", "33333333-0000-4000-8000-000000000026"))
      const out = temporaryFolder()
      const book = join(out, "default-SHARED")
      const { batches } = yield* Export.run(request(out, october, ["journal"], "SHARED"))
      const half = join(book, "all", "2")
      mkdirSync(half, { recursive: true })
      writeFileSync(join(half, "journal.csv.partial"), "half a li")
      writeFileSync(join(book, ".unfinished"), "of 2026-01-01T00:00:00.000000Z\nall/2\n")
      const refused = yield* Effect.flip(Export.run(request(out, all, ["journal"], "SHARED")))
      expect(refused).toMatchObject({ _tag: "ExportError", reason: "FolderTaken" })
      expect(files(book)).toContain("all/2/journal.csv.partial")

      writeFileSync(join(book, ".unfinished"), `of ${batches[0]?.manifest.book.knownSince}\nall/2\n`)
      yield* Export.run(request(out, all, ["journal"], "SHARED"))
      expect(files(book)).not.toContain("all/2/journal.csv.partial")
    }),
  )

  it.effect(
    "goes on where an export was killed after its mark and before its folder, or while it was removed",
    () =>
      Effect.gen(function* () {
        yield* postMonths(yield* openBook("MARKED", "33333333-0000-4000-8000-000000000016"))
        const out = temporaryFolder()
        const book = join(out, "default-MARKED")
        mkdirSync(book)
        // Of two batches one has its folder, the other not even the month's.
        mkdirSync(join(book, "2026-10", "1"), { recursive: true })
        writeFileSync(join(book, ".unfinished"), "2026-10/1\nall/2\n")
        yield* Export.run(request(out, october, ["journal"], "MARKED"))
        expect(files(book)).toEqual([
          "2026-10/1/journal.csv",
          "2026-10/1/manifest.json",
          "2026-10/1/statement.csv",
        ])
      }),
  )

  it.effect("fails with the reason and the path where it cannot write, and leaves nothing", () =>
    Effect.gen(function* () {
      yield* postMonths(yield* openBook("STUCK", "33333333-0000-4000-8000-000000000007"))
      const out = temporaryFolder()
      writeFileSync(join(out, "default-STUCK"), "a file in the way")
      const blocked = yield* Effect.flip(Export.run(request(out, october, ["journal"], "STUCK")))
      expect(blocked).toMatchObject({ _tag: "ExportError", reason: "Folder" })
      expect(blocked.message).toContain(join(out, "default-STUCK"))

      const full = yield* Effect.flip(Export.run(request("/dev/full/exports", october, ["journal"], "STUCK")))
      expect(full).toMatchObject({ _tag: "ExportError", reason: "Folder" })

      // Nobody can make a folder there, not even root.
      if (process.platform === "linux") {
        const refused = yield* Effect.flip(Export.run(request("/sys", october, ["journal"], "STUCK")))
        expect(refused).toMatchObject({ _tag: "ExportError", reason: "Folder" })
        expect(refused.message).toMatch(/^\/sys\/default-STUCK.* --out \[E(?:ACCES|PERM|ROFS)\]\. Nothing/)
      }
      const database = yield* Database
      const [row] = yield* database.query(
        "Test.batches",
        (sql) =>
          sql`select count(*)::integer as count from export.batches b join mirror.books using (book_id) where code = 'STUCK'`,
      )
      expect(row).toEqual({ count: 0 })
    }),
  )

  it.effect("refuses an impossible request before it writes anything", () =>
    Effect.gen(function* () {
      yield* openBook("USAGE", "33333333-0000-4000-8000-000000000008")
      const out = join(temporaryFolder(), "exports")
      const message = (scope: ExportScope, formats: ReadonlyArray<string>, book = "USAGE") =>
        Effect.map(Effect.flip(Export.run(request(out, scope, formats, book))), (error) => error.message)
      expect(yield* message(all, ["xls"])).toBe(
        `There is no format xls: choose from ${formatNames.join(", ")}.`,
      )
      expect(yield* message({ kind: "period", period: "2026-13" }, ["journal"])).toContain("such as 2026-10")
      expect(yield* message({ kind: "range", from: "2026-02-30", to: "2026-03-01" }, ["journal"])).toContain(
        "2026-02-30",
      )
      expect(yield* message({ kind: "range", from: "2026-03-02", to: "2026-03-01" }, ["journal"])).toContain(
        "before it begins",
      )
      expect(yield* message(all, ["journal"], "NOBODY")).toContain("There is no book NOBODY: known are ")
      expect(existsSync(out)).toBe(false)
    }),
  )
})
