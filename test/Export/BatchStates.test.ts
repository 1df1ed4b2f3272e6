import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { Database } from "../../src/Database.ts"
import { commitBatches } from "../../src/Export/Batch/Commit.ts"
import { listBatches } from "../../src/Export/Batch/Kept/KnownBatch.ts"
import * as Batches from "../../src/Export/Batches.ts"
import type * as Export from "../../src/Export.ts"
import * as Verify from "../../src/Verify.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { openBook, postMonths } from "./Books.ts"
import { all, base, client, deposit, exporting, october, states } from "./Exporting.ts"

layer(TestDatabase.layer)("the states of a batch", (it) => {
  it.effect("belong to one batch per number: an export that was overtaken says so and writes nothing", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("OVERTAKEN", client(19))
      yield* postMonths(bookId)
      const { batches } = yield* exporting("OVERTAKEN", temporaryFolder())(october, ["journal"])
      const manifest = batches[0]?.manifest
      if (manifest === undefined) return expect(manifest).toBeDefined()
      const commit = { bookId, place: "elsewhere", keepFrom: null, who: "jane" }
      const error = yield* Effect.flip(commitBatches([{ commit, manifest }], (effect) => effect))
      expect(error).toMatchObject({ _tag: "ExportError", reason: "Busy" })
      expect(error.message).toContain("the book OVERTAKEN made batch 1 while")
    }),
  )

  it.effect("change only in their order: the database refuses everything else", () =>
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

  it.effect("do not change for a batch as of a time, which does not count as exported", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const bookId = yield* openBook("PAST", client(23))
      yield* postMonths(bookId)
      const out = temporaryFolder()
      const run = exporting("PAST", out)
      yield* run(october, ["qbo"])
      yield* run(october, ["qbo"], { asOf: { kind: "moment", text: "2026-01-01T00:00:00Z" } })
      const refusals = [
        yield* Effect.flip(Batches.acknowledge("PAST/2", "joe", null)),
        yield* Effect.flip(Batches.supersede("PAST/2", "joe", "Not imported.")),
      ]
      for (const { message, ...refused } of refusals) {
        expect(refused).toMatchObject({ _tag: "ExportError", reason: "State" })
        expect(message).toContain("PAST/2 is what the books said as of 2026-01-01T00:00:00.000000Z")
      }
      for (const state of ["acknowledged", "superseded"]) {
        const insert = database.query(
          "Test.past",
          (sql) => sql`
            insert into export.batch_states (book_id, batch, sequence, state, who, reason)
            values (${bookId}, 2, 1, ${state}, 'joe', 'because')`,
        )
        expect((yield* Effect.flip(insert)).sqlstate).toBe("TO009")
      }
      expect(yield* states(bookId)).toEqual(["1 committed", "2 committed"])
      expect((yield* listBatches(Option.some("PAST"))).map(({ asOf }) => asOf)).toEqual([
        "2026-01-01T00:00:00.000000Z",
        null,
      ])
      yield* Batches.acknowledge("PAST/1", "joe", null)
    }),
  )

  it.effect(
    "let a preview count once it is committed, which works only while an export would write the same",
    () =>
      Effect.gen(function* () {
        const bookId = yield* openBook("PREVIEW", client(4))
        yield* postMonths(bookId)
        const out = temporaryFolder()
        const run = exporting("PREVIEW", out)
        const preview = yield* run(october, ["qbo"], { preview: true })
        expect(preview.batches[0]?.manifest.lineage?.state).toBe("preview")
        // A preview does not count: the same export once more is no delta.
        expect((yield* run(october, ["qbo"], { preview: true })).batches[0]?.manifest.entries).toBe(6)
        const commit = (batch: number) => Batches.commit(`PREVIEW/${batch}`, out, "jane", true, base)
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

  it.effect("let a plain batch replace the one before with the same selection and formats", () =>
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

  it.effect("count everything as new to a format whose batches were superseded", () =>
    Effect.gen(function* () {
      const since = { kind: "since-last" } as const
      const held = ({ batches }: Export.ExportSummary) =>
        batches.map(({ manifest }) => `${manifest.formats} ${manifest.entries}`)

      // Superseded by hand: the first batch goes, the journal's later batch stays.
      const byHand = yield* openBook("BYHAND", client(21))
      yield* postMonths(byHand)
      const run = exporting("BYHAND", temporaryFolder())
      expect(held(yield* run(all, ["journal", "qbo"]))).toEqual(["journal,qbo 7"])
      yield* deposit(byHand, "2026-10-03")
      expect(held(yield* run(since, ["journal"]))).toEqual(["journal 1"])
      yield* Batches.supersede("BYHAND/1", "jane", "Not imported.")
      expect(held(yield* run(since, ["journal", "qbo"]))).toEqual(["journal 7", "qbo 8"])
      expect(held(yield* run(since, ["journal", "qbo"]))).toEqual([])

      // Superseded by another export: the journal of the batch goes with its import file.
      const byAgain = yield* openBook("BYAGAIN", client(22))
      yield* postMonths(byAgain)
      const again = exporting("BYAGAIN", temporaryFolder())
      yield* again(all, ["journal", "qbo"])
      yield* deposit(byAgain, "2026-10-03")
      yield* again(since, ["journal"])
      yield* again(all, ["qbo"], { again: true })
      expect(yield* states(byAgain)).toEqual(["1 superseded", "2 committed", "3 committed"])
      const back = yield* again(since, ["journal"])
      expect(held(back)).toEqual(["journal 7"])
      expect((yield* Verify.run(back.batches[0]?.folder ?? "")).problems).toEqual([])
    }),
  )

  it.effect("let a batch that was acknowledged count as exported", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("ACKNOWLEDGED", client(29))
      yield* postMonths(bookId)
      const run = exporting("ACKNOWLEDGED", temporaryFolder())
      yield* run(all, ["qbo"])
      yield* Batches.acknowledge("ACKNOWLEDGED/1", "joe", null)
      yield* deposit(bookId, "2026-10-03")
      const { batches } = yield* run({ kind: "since-last" }, ["qbo"])
      expect(batches.map(({ manifest }) => manifest.entries)).toEqual([1])
      expect((yield* run(all, ["qbo"])).exported).toMatchObject([{ book: "ACKNOWLEDGED", batches: [1, 2] }])
    }),
  )

  it.effect("stay unknown where the export was killed before its commit, and the next one clears them", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("KILLED", client(8))
      yield* postMonths(bookId)
      const out = temporaryFolder()
      const run = exporting("KILLED", out)
      const asOf = { kind: "moment", text: "2026-10-01T00:00:00Z" } as const
      const { batches } = yield* run(october, ["qbo"], { asOf })
      const folder = batches[0]?.folder ?? ""
      // A kill between the folder and the commit leaves the folder complete, with its marker, and not in the database.
      const place = folder.slice(out.length + 1).split("/")
      const database = yield* Database
      yield* database.transaction(
        Effect.forEach(
          [
            "set local session_replication_role = replica",
            "delete from export.batch_files",
            "delete from export.batches",
          ],
          (text) => database.query("Test.kill", (sql) => sql.unsafe(text)),
        ),
      )
      writeFileSync(join(out, place[0] ?? "", ".unfinished"), `${place[1]}/1\n`)
      const next = yield* run(october, ["qbo"])
      expect(next.batches[0]?.manifest).toMatchObject({ batch: 1, entries: 6, lineage: { delta: false } })
      expect(readdirSync(join(out, place[0] ?? ""))).toEqual(["2026-10"])
    }),
  )
})
