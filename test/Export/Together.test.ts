/** Several books are read, written and committed together; each batch holds what its book alone would give. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Logger, Option } from "effect"
import { decodeSync, decodeUnknownSync } from "effect/Schema"
import { failureOf } from "../../src/Cli/Failure.ts"
import { Database } from "../../src/Database.ts"
import { keepFiles } from "../../src/Export/Batch/Kept/KeptFiles.ts"
import { print, sha256Of } from "../../src/Export/Batch/Manifest/ManifestSeal.ts"
import type { Manifest } from "../../src/Export/Batch/Manifest.ts"
import { refused } from "../../src/Export/ExportError.ts"
import { fileText } from "../../src/Export/Mapping/MappingCsv.ts"
import { current, importFrom } from "../../src/Export/Mapping.ts"
import type { ExportRequest } from "../../src/Export/Request.ts"
import * as Export from "../../src/Export.ts"
import { Content } from "../../src/Settings/Content.ts"
import * as Verify from "../../src/Verify.ts"
import { closePeriod } from "../support/Closing.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"
import { openBook, partner, postMonths } from "./Books.ts"
import { client, deposit, october, states } from "./Exporting.ts"

const codes = ["ALPHA", "BETA", "GAMMA"] as const

/** Each book leaves out something else. */
const settings = decodeSync(Content)({
  formats: { leaveOut: ["USDT"], books: { BETA: { leaveOut: ["USDT", "JPY"] } } },
}).formats

const exporting = (
  out: string,
  formats: ReadonlyArray<string>,
  more: Partial<ExportRequest> & { readonly code?: string } = {},
) =>
  Export.run({
    ...{ formats, out, scope: october, who: "jane", connection: Option.none(), perFormat: true },
    tables: { settings, baseCurrency: "USD" },
    book: Option.fromNullable(more.code),
    ...more,
  })

const execute = (statement: string) =>
  Effect.flatMap(Database, (database) => database.query("Test.run", (sql) => sql.unsafe(statement)))

/** The service's accounts have the same identifiers in all books, so that a query by these alone would read another book. */
const readAccounts = Effect.fnUntraced(function* (bookId: number, until: string, entries: number) {
  for (const [id, currency, own] of [
    [partner.usd, "USD", entries],
    [partner.jpy, "JPY", 1],
    [partner.usdt, "USDT", 1],
  ] as const) {
    yield* unruled(`
      insert into mirror.accounts (book_id, account_id, currency, payment_rails, status, balance, balance_read_at, raw,
        entries, run_id)
      values (${bookId}, '${id}', '${currency}', 'SEPA', 'ACTIVE', ${bookId}, now(), '{}', ${own}, 1)`)
    yield* unruled(`
      insert into sync.stream_reads (book_id, stream, began_at, ended_at, run_id)
      values (${bookId}, 'statement:${id}', '${until}', now(), 1)`)
  }
})

const opened = Effect.gen(function* () {
  const [alpha, beta, gamma] = yield* Effect.forEach(codes, (code, at) => openBook(code, client(at + 1)))
  if (alpha === undefined || beta === undefined || gamma === undefined) return expect.fail("three books")
  yield* postMonths(alpha)
  yield* postMonths(beta)
  yield* deposit(beta, "2026-10-02", "7.00")
  yield* deposit(beta, "2026-10-09", "9.00")
  yield* deposit(gamma, "2026-09-02", "11.00")
  yield* execute(closePeriod(gamma, "2026-09"))
  yield* deposit(gamma, "2026-10-03", "13.00")
  yield* execute(closePeriod(gamma, "2026-10"))
  yield* openBook("EMPTY", client(4))
  yield* readAccounts(alpha, "2026-10-08T00:30:00Z", 6)
  yield* readAccounts(beta, "2026-10-20T00:30:00Z", 8)
  yield* readAccounts(gamma, "2026-11-20T00:30:00Z", 2)
  // In one book only, the accounts have other names in the accounting system.
  const file = join(temporaryFolder(), "accounts.csv")
  const rows = yield* current(Option.some("BETA"))
  writeFileSync(file, fileText(rows.map((row) => ({ ...row, netsuite_account: `9${row.code}` }))))
  yield* importFrom(file)
  return { alpha, beta, gamma }
})

/** The files without what differs between two exports of the same entries. */
const essence = (manifest: Manifest) => {
  const { batch: _, createdAt: __, files, lineage, ...rest } = manifest
  return {
    ...rest,
    lineage: { ...lineage, previous: null },
    files: files.map(({ bytes: _, lines: __, sha256: ___, ...file }) => file),
  }
}

/** A bank statement names its batch, and when it was made. */
const contents = (folder: string, { files }: Manifest): ReadonlyArray<string> =>
  files.map(({ name }) =>
    readFileSync(join(folder, name), "latin1")
      .replaceAll(/<(MsgId|Id)>[0-9a-f]{16}-[^<]*<\/\1>/g, "")
      .replaceAll(/<CreDtTm>[^<]*<\/CreDtTm>/g, ""),
  )

/** The batch that each one but the first follows, and the one that names each but the last. */
const followed = (batches: ReadonlyArray<Export.ExportSummary["batches"][number]>) =>
  batches.slice(1).map(({ manifest }) => manifest.lineage?.previous)
const named = (batches: ReadonlyArray<Export.ExportSummary["batches"][number]>) =>
  batches
    .slice(0, -1)
    .map(({ manifest }) => ({ batch: manifest.batch, manifestSha256: sha256Of(print(manifest)) }))

const markers = (out: string): ReadonlyArray<string> =>
  readdirSync(out, { recursive: true, encoding: "utf8" }).filter((name) => /unfinished|\.partial$/.test(name))

layer(TestDatabase.layer, { excludeTestServices: true })("books that are exported together", (it) => {
  const books = Effect.runSync(Effect.cached(opened))
  const formats = ["journal", "parquet", "trial-balance", "beancount", "netsuite", "camt.053"]

  it.effect("have the files, figures and lineage that each has by itself", () =>
    Effect.gen(function* () {
      yield* books
      const out = temporaryFolder()
      const together = yield* exporting(out, formats, { preview: true, perFormat: false })
      expect(together.batches.map(({ manifest }) => manifest.book.code)).toEqual(codes)
      expect(together.empty).toEqual(["EMPTY"])
      expect(markers(out)).toEqual([])
      for (const { folder, manifest } of together.batches) {
        const alone = yield* exporting(out, formats, {
          preview: true,
          perFormat: false,
          code: manifest.book.code,
        })
        const [own] = alone.batches
        if (own === undefined) return expect(own).toBeDefined()
        expect(essence(manifest)).toEqual(essence(own.manifest))
        expect(contents(folder, manifest)).toEqual(contents(own.folder, own.manifest))
        expect((yield* Verify.run(folder)).problems).toEqual([])
        expect(readFileSync(join(folder, "journal.csv"), "utf8").split("\n")[1]?.slice(0, 5)).toBe(
          manifest.book.code.padEnd(5, "-"),
        )
      }
      const [alpha, beta, gamma] = together.batches.map(({ manifest }) => manifest)
      expect([alpha, beta, gamma].map((one) => [one?.entries, one?.tables?.mappingVersion])).toEqual([
        [6, null],
        [8, 1],
        [1, null],
      ])
      expect([alpha, beta, gamma].map((one) => one?.read[0]?.balance)).toEqual(
        Object.values(yield* books).map(String),
      )
      expect(gamma?.lineage?.closes.map(({ period }) => period)).toEqual(["2026-10"])
      expect(alpha?.lineage?.closes).toEqual([])
      expect([alpha, beta, gamma].map((one) => one?.bankStatements?.map(({ days }) => days))).toEqual([
        [1, 3],
        [5],
        [1],
      ])
    }),
  )

  it.effect("are committed together, each batch after the one before of its own book", () =>
    Effect.gen(function* () {
      const { alpha, beta, gamma } = yield* books
      const out = temporaryFolder()
      const first = yield* exporting(out, ["journal", "trial-balance", "netsuite"])
      expect(markers(out)).toEqual([])
      for (const code of codes) {
        const own = first.batches.filter(({ manifest }) => manifest.book.code === code)
        expect(own.map(({ manifest }) => manifest.formats)).toEqual([
          ["journal"],
          ["trial-balance"],
          ["netsuite"],
        ])
        expect(followed(own)).toEqual(named(own))
      }
      const files = yield* Effect.flatMap(Database, (database) =>
        database.query(
          "Test.kept",
          (sql) => sql<Array<{ files: number }>>`
            select count(*)::integer as files from export.batch_files group by book_id order by book_id`,
        ),
      )
      // A journal with its statement, a trial balance, and a file of NetSuite's for each currency.
      expect(files.map((row) => row.files)).toEqual([5, 4, 4])
      yield* deposit(beta, "2026-10-10", "3.00")
      const second = yield* exporting(out, ["journal", "netsuite"])
      expect(second.exported.map(({ batches, book }) => [book, batches])).toEqual([
        ["ALPHA", [5]],
        ["GAMMA", [5]],
      ])
      expect(
        second.batches.map(({ manifest: { book, formats: own, lineage } }) => [
          `${book.code} ${own.join()}`,
          lineage?.follows,
          lineage?.supersedes,
        ]),
      ).toEqual([
        ["ALPHA journal", [], [3]],
        ["BETA journal", [], [3]],
        ["BETA netsuite", [5], []],
        ["GAMMA journal", [], [3]],
      ])
      // Two selections need two passes.
      const ofBeta = second.batches.filter(({ manifest }) => manifest.book.code === "BETA")
      expect(followed(ofBeta)).toEqual(named(ofBeta))
      const standing = yield* Effect.forEach([alpha, beta, gamma], states)
      expect(standing.map((own) => own.filter((line) => line.endsWith("superseded")))).toEqual(
        codes.map(() => ["3 superseded"]),
      )
      const third = yield* Export.run({
        ...{ formats: ["netsuite", "ledger"], out, connection: Option.none(), book: Option.none() },
        ...{ scope: { kind: "since-last" }, perFormat: true, tables: { settings, baseCurrency: "USD" } },
      })
      expect(third.batches.map(({ manifest }) => [manifest.book.code, manifest.entries])).toEqual([
        ["ALPHA", 1],
        ["ALPHA", 7],
        ["BETA", 1],
        ["BETA", 10],
        ["GAMMA", 1],
        ["GAMMA", 2],
      ])
      expect(third.unchanged).toEqual(["EMPTY"])
      // Batches of one book do not cover another book, whose entry was numbered before.
      yield* deposit(beta, "2026-10-11", "4.00")
      yield* deposit(alpha, "2026-10-11", "5.00")
      yield* exporting(out, ["netsuite"], { code: "ALPHA" })
      const fourth = yield* exporting(out, ["netsuite"])
      expect(fourth.batches.map(({ manifest }) => [manifest.book.code, manifest.entries])).toEqual([
        ["BETA", 1],
      ])
      expect(fourth.exported.map(({ book }) => book)).toEqual(["ALPHA", "GAMMA"])
    }),
  )

  it.effect(
    "stop at one that fails: those before it are committed, and nothing is left of it and those after",
    () =>
      Effect.gen(function* () {
        const { alpha, beta, gamma } = yield* books
        const count = Effect.map(Effect.forEach([alpha, beta, gamma], states), (own) =>
          own.map(({ length }) => length),
        )
        const before = yield* count
        const out = temporaryFolder()
        writeFileSync(join(out, "default-BETA"), "a file in the way")
        const logged: Array<string> = []
        const logger = Logger.make(({ message }) => void logged.push(String(message)))
        const error = yield* Effect.flip(exporting(out, ["hledger"])).pipe(
          Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
        )
        expect(error).toMatchObject({ reason: "Folder" })
        expect(error.message).toContain(join(out, "default-BETA"))
        const [warning, ...others] = logged
        expect(others).toEqual([])
        expect(warning).toMatch(
          /^1 batch of the books before the one that failed is committed and stays?: ALPHA\/\d+ \(.*default-ALPHA.*\)\. See: tieout batches list$/,
        )
        expect(yield* count).toEqual([(before[0] ?? 0) + 1, before[1], before[2]])
        expect(readdirSync(out).toSorted()).toEqual(["default-ALPHA", "default-BETA"])
        expect(markers(out)).toEqual([])

        const database = yield* Database
        const other = temporaryFolder()
        const busy = yield* Effect.flip(
          database.withSessionLock(`export ${gamma}`, exporting(other, ["hledger"])),
        )
        expect(busy).toMatchObject({ reason: "Busy" })
        expect(busy).toHaveProperty("message", expect.stringContaining("the book GAMMA runs"))
        expect(yield* count).toEqual([(before[0] ?? 0) + 2, (before[1] ?? 0) + 1, before[2]])
        expect(readdirSync(other).toSorted()).toEqual(["default-ALPHA", "default-BETA"])
      }),
  )

  it.effect("are refused with the reason for each of them, and none is written", () =>
    Effect.gen(function* () {
      const { alpha } = yield* books
      const before = (yield* states(alpha)).length
      const out = temporaryFolder()
      // GAMMA can be written.
      const own = { consultant: 1001, client: 3 }
      const one = decodeUnknownSync(Content)({
        formats: { leaveOut: ["USDT"], books: { ALPHA: { leaveOut: [] }, GAMMA: { datev: own } } },
      }).formats
      const error = yield* Effect.flip(
        exporting(out, ["datev"], { tables: { settings: one, baseCurrency: "USD" } }),
      )
      expect(error.message.split("\n")).toEqual([
        "The export of the book ALPHA is refused, nothing of it was written:",
        "  datev needs the setting formats.datev.consultant",
        "  datev needs the setting formats.datev.client",
        "  datev has currencies of three letters only: 1 entry is in USDT",
        "The export of the book BETA is refused, nothing of it was written:",
        "  datev needs the setting formats.datev.consultant",
        "  datev needs the setting formats.datev.client",
        "Everything in USD: tieout export --base --format datev --period 2026-10 --book ALPHA",
        "Without these currencies: formats.leaveOut: [USDT] in the settings.",
      ])
      expect([readdirSync(out), (yield* states(alpha)).length]).toEqual([[], before])
    }),
  )

  it("get one list of currencies to leave out, because the setting is common to all", () => {
    const refusal = (book: string, without: ReadonlyArray<string>) => ({
      book,
      problems: ["x"],
      advice: [],
      without,
    })
    const { message } = refused([
      refusal("ALPHA", ["JPY", "USDT"]),
      refusal("BETA", []),
      refusal("GAMMA", ["USDC"]),
    ])
    expect(message.split("\n").slice(-2)).toEqual([
      "  x",
      "Without these currencies: formats.leaveOut: [JPY, USDC, USDT] in the settings.",
    ])
  })

  it.effect("get one command where all of them need it", () =>
    Effect.gen(function* () {
      yield* books
      const advice = (again: boolean) =>
        Effect.map(
          Effect.flip(
            exporting(temporaryFolder(), ["sage50"], { tables: { settings, baseCurrency: "EUR" }, again }),
          ),
          ({ message }) => message.split("\n").filter((line) => line.startsWith("Everything")),
        )
      const command = "Everything in EUR: tieout export --base --format sage50 --period 2026-10"
      expect(yield* advice(false)).toEqual([command])
      // Without it the command would be refused for the batches that the one before was to supersede.
      expect(yield* advice(true)).toEqual([`${command} --again`])
    }),
  )

  it.effect("are not written at all where the request is impossible for one of them", () =>
    Effect.gen(function* () {
      const { alpha } = yield* books
      const before = (yield* states(alpha)).length
      yield* exporting(temporaryFolder(), ["business-central", "qbo"], { perFormat: false, code: "GAMMA" })
      const out = temporaryFolder()
      const error = yield* Effect.flip(exporting(out, ["business-central"], { again: true }))
      expect(error).toMatchObject({
        reason: "Usage",
        message: expect.stringContaining("Nothing was written"),
      })
      expect([readdirSync(out), (yield* states(alpha)).length]).toEqual([[], before])
    }),
  )

  it.effect("clear the leftovers of a killed export in the folder of one of them", () =>
    Effect.gen(function* () {
      const { alpha, beta } = yield* books
      const next = ((yield* states(beta)).length ?? 0) + 1
      const out = temporaryFolder()
      const left = join(out, "default-BETA", "all", String(next))
      mkdirSync(left, { recursive: true })
      writeFileSync(join(left, "journal.csv.partial"), "half a li")
      const marker = join(out, "default-BETA", ".unfinished")
      writeFileSync(marker, `all/${next}\n`)
      writeFileSync(join(left, "notes.txt"), "by hand")
      const before = (yield* states(alpha)).length
      const error = yield* Effect.flip(exporting(out, ["ledger"]))
      expect(error).toMatchObject({ reason: "FolderTaken", message: expect.stringContaining("notes.txt") })
      // Nothing is written of the others, as its exit code says.
      expect([failureOf(error).code, (yield* states(alpha)).length]).toEqual([2, before])
      expect(readdirSync(left).toSorted()).toEqual(["journal.csv.partial", "notes.txt"])
      rmSync(join(left, "notes.txt"))
      const { batches } = yield* exporting(out, ["ledger"])
      expect(existsSync(join(left, "journal.csv.partial"))).toBe(false)
      expect(markers(out)).toEqual([])
      // The marker stays where nobody could tell whether the batch was committed: one that was is not removed.
      const committed = batches.find(({ manifest }) => manifest.book.code === "BETA")
      const { batch, scope } = committed?.manifest ?? expect.fail("BETA was not exported")
      writeFileSync(marker, `${scope.text}/${batch}\n`)
      yield* exporting(out, ["beancount"])
      expect(existsSync(join(committed?.folder ?? "", "manifest.json"))).toBe(true)
    }),
  )

  it.effect("name every folder that is in the way at once, as after a failover that lost batches", () =>
    Effect.gen(function* () {
      const { alpha, beta } = yield* books
      const out = temporaryFolder()
      const taken = yield* Effect.forEach(
        [["ALPHA", alpha] as const, ["BETA", beta] as const],
        ([code, book]) =>
          Effect.map(states(book), ({ length }) => {
            const path = join(out, `default-${code}`, "2026-10", String(length + 1))
            mkdirSync(path, { recursive: true })
            writeFileSync(join(path, "manifest.json"), "{}")
            return path
          }),
      )
      const error = yield* Effect.flip(exporting(out, ["ledger"]))
      expect(error).toMatchObject({
        reason: "FolderTaken",
        message: [
          "These folders hold batches that this database does not know; move them away, or choose another folder with --out:",
          ...taken.toSorted().map((path) => `  ${path}`),
        ].join("\n"),
      })
      expect(markers(out)).toEqual([])
    }),
  )

  it.effect("are not committed where a file is gone or has changed since it was written", () =>
    Effect.gen(function* () {
      const { alpha } = yield* books
      const out = temporaryFolder()
      const { batches } = yield* exporting(out, ["journal"], { preview: true, code: "ALPHA" })
      const [batch] = batches
      if (batch === undefined) return expect(batch).toBeDefined()
      const { folder: path, manifest } = batch
      const folder = { path, blocks: () => undefined }
      const keep = Effect.flip(keepFiles([{ bookId: alpha, folder, manifest }]))
      writeFileSync(join(path, "statement.csv"), "something else")
      expect(yield* keep).toMatchObject({ _tag: "ExportError", reason: "Disagrees" })
      const gone = { ...manifest, files: manifest.files.map((file) => ({ ...file, name: "gone.csv" })) }
      expect(yield* Effect.flip(keepFiles([{ bookId: alpha, folder, manifest: gone }]))).toMatchObject({
        reason: "Folder",
      })
    }),
  )

  it.effect("say of a figure that one of them cannot hold that nothing of this book was written", () =>
    Effect.gen(function* () {
      const { alpha, beta } = yield* books
      yield* deposit(beta, "2026-10-30", "12345678901.00")
      const before = [(yield* states(alpha)).length, (yield* states(beta)).length]
      const error = yield* Effect.flip(exporting(temporaryFolder(), ["netsuite"], { again: true }))
      // The batch of the book before it stays.
      expect([(yield* states(alpha)).length, (yield* states(beta)).length]).toEqual([
        (before[0] ?? 0) + 1,
        before[1],
      ])
      expect(error.message).toMatch(
        /^netsuite cannot hold what would be exported: -?12345678901\.00 USD of BETA-2026-10-\d+ does not fit netsuite, which takes 10 digits and 2 decimals\. Nothing of this export was written\.$/,
      )
    }),
  )
})
