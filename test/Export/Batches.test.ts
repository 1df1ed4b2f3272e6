import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import fc from "fast-check"
import * as Batches from "../../src/Batches.ts"
import { Database } from "../../src/Database.ts"
import type { ExportScope } from "../../src/Export/Scope.ts"
import * as Export from "../../src/Export.ts"
import * as Verify from "../../src/Verify.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { assignNumbers, openBook, partner, post, postMonths } from "./Books.ts"
import { temporaryFolder } from "./Folders.ts"

const october: ExportScope = { kind: "period", period: "2026-10" }
const all: ExportScope = { kind: "all" }
const range = (from: string, to: string): ExportScope => ({ kind: "range", from, to })

const client = (last: number): string => `66666666-0000-4000-8000-${String(last).padStart(12, "0")}`

const exporting =
  (book: string, out: string) =>
  (scope: ExportScope, formats: ReadonlyArray<string>, more: Partial<Export.ExportRequest> = {}) =>
    Export.run({
      ...{ formats, scope, out, connection: Option.none(), book: Option.some(book), who: "jane" },
      ...more,
    })

const deposit = Effect.fnUntraced(function* (bookId: number, date: string, amount = "7.00") {
  yield* post(bookId, {
    ...{ date, kind: "deposit", partner: partner.usd, cash: amount, description: "Late" },
    lines: [
      ["cash", "", "USD", amount],
      ["deposits_clearing", "", "USD", `-${amount}`],
    ],
  })
  yield* assignNumbers(bookId)
})

/** Journal numbers in the rows of all of a batch's qbo files. */
const imported = (folder: string): ReadonlyArray<string> => [
  ...new Set(
    readdirSync(folder)
      .filter((name) => name.startsWith("qbo"))
      .flatMap((name) => readFileSync(join(folder, name), "utf8").split(/\r?\n/).slice(1))
      .map((line) => line.split(",")[0] ?? "")
      .filter((number) => number !== ""),
  ),
]

const states = Effect.fnUntraced(function* (bookId: number) {
  const database = yield* Database
  const rows = yield* database.query(
    "Test.states",
    (sql) => sql<Array<{ batch: number; state: string; through: bigint }>>`
      select b.batch, export.batch_state(b.book_id, b.batch) as state
      from export.batches b where b.book_id = ${bookId} order by b.batch`,
  )
  return rows.map(({ batch, state }) => `${batch} ${state}`)
})

const everything = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(folder)
      .sort()
      .map((name) => [name, readFileSync(join(folder, name), "base64")]),
  )

layer(TestDatabase.layer)("an accounting system's batches", (it) => {
  it.effect("hold each entry once: overlapping dates give a delta, nothing new gives none", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("DELTA", client(1))
      yield* postMonths(bookId)
      const out = temporaryFolder()
      const run = exporting("DELTA", out)
      const first = yield* run(october, ["qbo"])
      expect(first.batches[0]?.manifest.lineage).toMatchObject({
        state: "committed",
        delta: false,
        previous: null,
      })
      const wider = yield* run(range("2026-09-01", "2026-10-15"), ["qbo"])
      expect(wider.batches[0]?.manifest).toMatchObject({
        entries: 1,
        lineage: { delta: true, follows: [1], supersedes: [], previous: { batch: 1 } },
      })
      expect(imported(wider.batches[0]?.folder ?? "").map((number) => number.slice(-6))).toEqual(["000001"])

      const none = yield* run(all, ["qbo"])
      expect([none.batches, none.exported]).toEqual([
        [],
        [{ book: "DELTA", formats: ["qbo"], batches: [1, 2] }],
      ])
      yield* deposit(bookId, "2026-10-03")
      const late = yield* run(october, ["qbo", "journal"])
      // The journal is whole, the import file is not.
      expect(late.batches.map(({ manifest }) => [manifest.formats, manifest.entries])).toEqual([
        [["journal"], 7],
        [["qbo"], 1],
      ])
      for (const { folder } of [...first.batches, ...wider.batches, ...late.batches]) {
        expect((yield* Verify.run(folder)).problems).toEqual([])
      }
    }),
  )

  it.effect("are superseded as a whole where all is wanted again, and never half", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("AGAIN", client(2))
      yield* postMonths(bookId)
      const run = exporting("AGAIN", temporaryFolder())
      yield* run(october, ["qbo", "sage50"])
      const half = yield* Effect.flip(run(october, ["qbo"], { again: true }))
      expect(half.message).toContain("holds sage50 too")
      const whole = yield* run(range("2026-10-01", "2026-10-05"), ["qbo", "sage50"], { again: true })
      expect(whole.batches[0]?.manifest).toMatchObject({
        entries: 5,
        lineage: { supersedes: [1], delta: false },
      })
      expect(yield* states(bookId)).toEqual(["1 superseded", "2 committed"])
      const rest = yield* run(october, ["qbo"])
      expect(rest.batches[0]?.manifest).toMatchObject({ entries: 1, lineage: { delta: true, follows: [2] } })
      const contradiction = yield* Effect.flip(run({ kind: "since-last" }, ["qbo"], { again: true }))
      expect(contradiction).toMatchObject({ reason: "Usage" })
    }),
  )

  let books = 10
  const days = ["2026-09-29", "2026-09-30", "2026-10-01", "2026-10-05", "2026-10-15", "2026-10-31"]
  const step = fc.oneof(
    { weight: 2, arbitrary: fc.record({ post: fc.constantFrom(...days) }) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(fc.constantFrom(...days), fc.constantFrom(...days), fc.integer({ min: 0, max: 5 }))
        .map(([a, b, kind]) => ({
          scope:
            kind === 0
              ? all
              : kind === 1
                ? { kind: "since-last" as const }
                : a < b
                  ? range(a, b)
                  : range(b, a),
          again: kind === 5,
        })),
    },
    { weight: 1, arbitrary: fc.record({ supersede: fc.nat(5) }) },
  )

  it.effect(
    "have each entry at most once, and after an export of all exactly once, whatever came before",
    () =>
      Effect.gen(function* () {
        const runtime = yield* Effect.runtime<Database>()
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 9 }), (steps) =>
              Effect.gen(function* () {
                books += 1
                const code = `P${books}`
                const bookId = yield* openBook(code, client(books))
                yield* deposit(bookId, "2026-10-01")
                const run = exporting(code, temporaryFolder())
                const folders = new Map<number, string>()
                const keep = ({ batches }: Export.ExportSummary) => {
                  for (const { folder, manifest } of batches) folders.set(manifest.batch, folder)
                }
                const standing = Effect.fnUntraced(function* () {
                  return (yield* states(bookId))
                    .filter((text) => text.endsWith(" committed"))
                    .flatMap((text) => imported(folders.get(Number.parseInt(text, 10)) ?? ""))
                })
                let posted = 1
                for (const one of [...steps, { scope: all, again: false }]) {
                  if ("post" in one) {
                    yield* deposit(bookId, one.post)
                    posted += 1
                  } else if ("supersede" in one) {
                    const committed = (yield* states(bookId)).filter((text) => text.endsWith(" committed"))
                    const chosen = committed[one.supersede % Math.max(1, committed.length)]
                    if (chosen !== undefined) {
                      yield* Batches.supersede(
                        `${code}/${Number.parseInt(chosen, 10)}`,
                        "jane",
                        "Not imported.",
                      )
                    }
                  } else keep(yield* run(one.scope, ["qbo"], { again: one.again }))
                  const had = yield* standing()
                  expect(new Set(had).size).toBe(had.length)
                }
                expect((yield* standing()).length).toBe(posted)
              }).pipe(Effect.provide(runtime), Effect.runPromise),
            ),
            { numRuns: 12 },
          ),
        )
      }),
    120_000,
  )
})

layer(TestDatabase.layer)("the states of a batch", (it) => {
  it.effect("change in order only: the database refuses everything else", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const bookId = yield* openBook("STATES", client(3))
      yield* postMonths(bookId)
      const run = exporting("STATES", temporaryFolder())
      const insert = (batch: number, sequence: number, state: string) =>
        database
          .query(
            "Test.state",
            (sql) => sql`
              insert into export.batch_states (book_id, batch, sequence, state, who, reason)
              values (${bookId}, ${batch}, ${sequence}, ${state}, 'jane', 'because')`,
          )
          .pipe(
            Effect.as("done"),
            Effect.catchAll(({ sqlstate }) => Effect.succeed(sqlstate)),
          )
      const kinds = ["preview", "committed", "acknowledged", "superseded"]
      const paths: ReadonlyArray<readonly [boolean, ReadonlyArray<string>, ReadonlyArray<string>]> = [
        [true, [], ["committed", "superseded"]],
        [false, [], ["acknowledged", "superseded"]],
        [true, ["committed"], ["acknowledged", "superseded"]],
        [false, ["acknowledged"], ["superseded"]],
        [false, ["superseded"], []],
        [true, ["superseded"], []],
        [false, ["acknowledged", "superseded"], []],
      ]
      for (const [preview, path, allowed] of paths) {
        for (const next of kinds) {
          const { batches } = yield* run(october, ["journal"], { preview })
          const batch = batches[0]?.manifest.batch ?? 0
          for (const [index, state] of path.entries())
            expect(yield* insert(batch, index + 1, state)).toBe("done")
          const found = yield* insert(batch, path.length + 1, next)
          expect([preview, path, next, found === "done"]).toEqual([
            preview,
            path,
            next,
            allowed.includes(next),
          ])
          expect(yield* insert(batch, path.length + 3, "superseded")).toBe("TO009")
        }
      }
      for (const table of ["batch_states", "batch_files", "batches"]) {
        for (const statement of [`delete from export.${table}`, `update export.${table} set batch = 1`]) {
          const refused = yield* Effect.flip(database.query("Test.change", (sql) => sql.unsafe(statement)))
          expect([statement, refused.sqlstate]).toEqual([statement, "TO004"])
        }
      }
    }),
  )

  it.effect("let a preview count once it is committed, and only while it is what would be exported", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("PREVIEW", client(4))
      yield* postMonths(bookId)
      const out = temporaryFolder()
      const run = exporting("PREVIEW", out)
      const preview = yield* run(october, ["qbo"], { preview: true })
      expect(preview.batches[0]?.manifest.lineage?.state).toBe("preview")
      // It counts for nothing: the same once more is no delta.
      expect((yield* run(october, ["qbo"], { preview: true })).batches[0]?.manifest.entries).toBe(6)
      const commit = (batch: number) => Batches.commit(`PREVIEW/${batch}`, out, "jane", true)
      const folder = preview.batches[0]?.folder ?? ""
      const file = join(folder, "qbo-USD.csv")
      const was = readFileSync(file)
      appendFileSync(file, "x")
      expect((yield* Effect.flip(commit(1))).message).toContain("qbo-USD.csv its content has changed")
      writeFileSync(file, was)
      yield* commit(1)
      expect((yield* Effect.flip(commit(2))).message).toContain(
        "other batches of the book have been committed",
      )
      expect((yield* Effect.flip(commit(1))).message).toContain("PREVIEW/1 is committed")
      expect((yield* run(october, ["qbo"])).exported).toHaveLength(1)

      const late = yield* run({ kind: "since-last" }, ["journal"], { preview: true })
      yield* deposit(bookId, "2026-10-03")
      expect((yield* Effect.flip(commit(late.batches[0]?.manifest.batch ?? 0))).message).toContain(
        "entries of its selection have been numbered since",
      )
      yield* Batches.acknowledge("PREVIEW/1", "joe", "import 7")
      const twice = yield* Effect.flip(Batches.acknowledge("preview/1", "joe", null))
      expect(twice).toMatchObject({ reason: "State" })
      const shown = yield* Batches.show("PREVIEW/1", out)
      expect(shown.problems).toEqual([])
      expect(shown.changes).toMatchObject([
        { state: "committed", who: "jane" },
        { state: "acknowledged", who: "joe", reason: "import 7" },
      ])
    }),
  )

  it.effect("let a plain batch take the place of the one before of the same selection and formats", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("PLAIN", client(5))
      yield* postMonths(bookId)
      const run = exporting("PLAIN", temporaryFolder())
      yield* run(october, ["journal"])
      yield* run(october, ["journal", "hledger"])
      yield* run(october, ["journal"])
      yield* run(all, ["journal"])
      yield* run(october, ["journal"], { preview: true })
      expect(yield* states(bookId)).toEqual([
        "1 superseded",
        "2 committed",
        "3 committed",
        "4 committed",
        "5 preview",
      ])
    }),
  )
})

layer(TestDatabase.layer)("a batch's files", (it) => {
  it.effect("come back byte for byte when the folder is gone, into an empty folder only", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("KEPT", client(6))
      yield* postMonths(bookId)
      const out = temporaryFolder()
      const { batches } = yield* exporting("KEPT", out)(all, ["journal", "hledger", "qbo"])
      const folder = batches[0]?.folder ?? ""
      const was = everything(folder)
      const taken = yield* Effect.flip(Batches.download("KEPT/1", folder, out))
      expect(taken).toMatchObject({ reason: "FolderTaken" })
      expect(taken.message).toContain("books.journal")
      expect(everything(folder)).toEqual(was)
      rmSync(folder, { recursive: true })
      const to = join(temporaryFolder(), "new", "folder")
      yield* Batches.download("KEPT/1", to, out)
      expect(everything(to)).toEqual(was)
      expect((yield* Batches.show("KEPT/1", out)).problems).toEqual(["the folder is not there"])
    }),
  )

  it.effect("come from the folder where the database has none, if not a byte has changed", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("UNKEPT", client(7))
      yield* postMonths(bookId)
      const out = temporaryFolder()
      const { batches } = yield* exporting("UNKEPT", out)(all, ["journal"], { keepFiles: false })
      const folder = batches[0]?.folder ?? ""
      const to = temporaryFolder()
      yield* Batches.download("UNKEPT/1", to, out)
      expect(everything(to)).toEqual(everything(folder))
      const file = join(folder, "journal.csv")
      writeFileSync(file, readFileSync(file, "utf8").replace("995.00", "996.00"))
      const other = temporaryFolder()
      const refused = yield* Effect.flip(Batches.download("UNKEPT/1", other, out))
      expect(refused).toMatchObject({ reason: "Missing" })
      expect(refused.message).toContain("journal.csv its content has changed")
      expect(readdirSync(other)).toEqual([])
    }),
  )

  it.effect("are chained: a manifest that was edited and sealed again is found by its neighbours", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("CHAIN", client(8))
      yield* postMonths(bookId)
      const out = temporaryFolder()
      const run = exporting("CHAIN", out)
      const one = (yield* run(october, ["journal"])).batches[0]
      const two = (yield* run(all, ["journal"])).batches[0]
      const three = (yield* run(october, ["hledger"])).batches[0]
      const problems = (folder: string | undefined) =>
        Effect.map(Verify.run(folder ?? ""), ({ problems: found }) =>
          found.map(({ message }) => message).join(),
        )
      expect(yield* Effect.forEach([one, two, three], (batch) => problems(batch?.folder))).toEqual([
        "",
        "",
        "",
      ])
      if (one === undefined) return
      const { print } = yield* Effect.promise(() => import("../../src/Export/Manifest.ts"))
      writeFileSync(join(one.folder, "manifest.json"), print({ ...one.manifest, reasons: ["none"] }))
      expect(yield* problems(one.folder)).toContain("the next batch says otherwise")
      expect(yield* problems(two?.folder)).toContain("does not follow the batch 1 beside it")
      expect(yield* problems(three?.folder)).toContain("batch 2 does not follow the batch 1 beside it")
    }),
  )
})

layer(TestDatabase.layer)("what the books said at a time", (it) => {
  it.effect("is the export of that time, whatever came later, with the difference to now", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const bookId = yield* openBook("ASOF", client(9))
      yield* postMonths(bookId)
      const formats = ["journal", "hledger", "trial-balance", "qbo"]
      const run = exporting("ASOF", temporaryFolder())
      const then = (yield* run(october, formats)).batches[0]
      const [clock] = yield* database.query(
        "Test.clock",
        (sql) => sql<Array<{ now: string }>>`
          select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`,
      )
      const asOf = { kind: "moment", text: clock?.now ?? "" } as const
      yield* deposit(bookId, "2026-10-03", "7.00")
      yield* deposit(bookId, "2026-09-03", "1.00")
      yield* deposit(bookId, "2026-11-03", "9.00")
      yield* database.query(
        "Test.account",
        (sql) => sql`
          insert into ledger.accounts (book_id, role, currency, rule_code, code, name)
          values (${bookId}, 'fees', 'JPY', '', '6850', 'Expenses:Fees:JPY')`,
      )
      const at = yield* run(october, formats, { asOf })
      const [batch] = at.batches
      expect(batch?.folder).toMatch(/\/2026-10@\d{8}T\d{6}Z\/2$/)
      const { "difference.csv": difference, "manifest.json": _, ...files } = everything(batch?.folder ?? "")
      const { "manifest.json": __, ...before } = everything(then?.folder ?? "")
      const hledger = (from: typeof files): string =>
        Buffer.from(from["books.journal"] ?? "", "base64")
          .toString()
          .replaceAll(/2026-10@\d{8}T\d{6}Z/g, "2026-10")
      expect(hledger(files)).toBe(hledger(before))
      expect({ ...files, "books.journal": "" }).toEqual({ ...before, "books.journal": "" })
      expect(batch?.difference).toMatchObject({
        entries: 2,
        accounts: [
          { code: "1010", before: "475.01", now: "483.01", difference: "8.00" },
          { difference: "-8.00" },
        ],
      })
      const rows = Buffer.from(difference ?? "", "base64")
        .toString()
        .split("\n")
      expect(
        rows.filter((row) => row.startsWith("entry,")).map((row) => row.replace(/^entry,(\S+?),.*,/, "$1 ")),
      ).toEqual([
        "ASOF-2026-09-000002 1.00",
        "ASOF-2026-09-000002 -1.00",
        "ASOF-2026-10-000007 7.00",
        "ASOF-2026-10-000007 -7.00",
      ])
      expect((yield* Verify.run(batch?.folder ?? "")).problems).toEqual([])
      // It counts for nothing, and gives the same files once more.
      const again = (yield* run(october, formats, { asOf })).batches[0]
      const { "manifest.json": ___, ...same } = everything(again?.folder ?? "")
      expect(same).toEqual({ ...files, "difference.csv": difference })
      expect((yield* run(october, ["qbo"])).batches[0]?.manifest).toMatchObject({
        entries: 1,
        lineage: { follows: [1] },
      })

      const future = yield* Effect.flip(run(october, formats, { asOf: { kind: "day", text: "2199-01-01" } }))
      expect(future).toMatchObject({ _tag: "ExportError", reason: "Usage" })
    }),
  )
})
