import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync, gzipSync } from "node:zlib"
import { expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { describe } from "vitest"
import { leftOut } from "../../src/Backup/Catalog.ts"
import { restore } from "../../src/Backup/Restore.ts"
import { backup } from "../../src/Backup.ts"
import { beginRun } from "../../src/Run.ts"
import { threeMonths } from "../Close/Months.ts"
import { filled, planted, proof } from "../Proof/Filled.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { digests } from "./Digests.ts"

const rowsLeftOut = Effect.forEach(leftOut, (name) =>
  Effect.map(rows(`select count(*)::integer as n from ${name}`), ([row]) => `${name} ${row?.n}`),
)
const epochs = rows("select connection, book_id, epoch::integer as epoch from sync.leases order by 1, 2")

const sequences = rows(
  "select schemaname, sequencename, last_value from pg_sequences where schemaname <> 'drizzle' order by 1, 2",
)

const target = () => join(temporaryFolder(), "tieout.gz")

/** A backup of a database with a row of everything, and the digests of that database. */
const made = (file: string) =>
  Effect.gen(function* () {
    yield* filled
    yield* planted
    const before = {
      ...{ digests: yield* digests, sequences: yield* sequences, proof: yield* proof },
      ...{ leftOut: yield* rowsLeftOut, epochs: yield* epochs },
    }
    return { ...before, written: yield* backup(file) }
  }).pipe(Effect.provide(TestDatabase.layer))

describe("a backup", () => {
  it.scopedLive("restored into an empty database is the same in every row, and syncs continue", () =>
    Effect.gen(function* () {
      const file = target()
      const before = yield* made(file)
      expect(statSync(file).mode & 0o777).toBe(0o600)
      expect(readdirSync(join(file, ".."))).toEqual(["tieout.gz"])
      const tables = Object.entries(before.digests)
      expect(
        tables.filter(([, found]) => JSON.stringify(found).includes('"rows":0')).map(([name]) => name),
      ).toEqual(["ledger.unnumbered"])
      expect(before.written.tables).toBe(tables.length)
      yield* Effect.gen(function* () {
        const restored = yield* restore(file)
        expect(restored).toMatchObject({ rows: before.written.rows, sha256: before.written.sha256 })
        expect(yield* digests).toEqual(before.digests)
        expect(yield* sequences).toEqual(before.sequences)
        expect(yield* proof).toEqual(before.proof)
        const run = yield* beginRun("default", "sync")
        expect(run.runId).toBeGreaterThan(1)
      }).pipe(Effect.provide(TestDatabase.blankLayer))
    }),
  )

  it.scopedLive("holds no token, no pace and no handed-out work, and fences earlier lease holders", () =>
    Effect.gen(function* () {
      const file = target()
      const before = yield* made(file)
      expect(before.leftOut.filter((table) => table.endsWith(" 0"))).toEqual([])
      const lines = gunzipSync(readFileSync(file)).toString().split("\n")
      for (const name of leftOut) expect(lines.filter((line) => line.includes(`"${name}"`))).toEqual([])
      yield* Effect.gen(function* () {
        yield* restore(file)
        expect(yield* rowsLeftOut).toEqual(leftOut.map((name) => `${name} 0`))
        expect(before.epochs).not.toEqual([])
        expect(yield* epochs).toEqual(
          before.epochs.map((lease) => ({ ...lease, epoch: Number(lease.epoch) + 1 })),
        )
      }).pipe(Effect.provide(TestDatabase.blankLayer))
    }),
  )

  it.scopedLive("is restored into a prepared database, and the next sync continues where it stopped", () =>
    Effect.gen(function* () {
      const file = target()
      const { service } = yield* threeMonths
      yield* Effect.zipRight(sync(service.url), backup(file)).pipe(Effect.provide(TestDatabase.layer))
      yield* Effect.gen(function* () {
        yield* restore(file)
        expect(yield* proof).toMatchObject({ ok: true, wrong: [] })
        const again = yield* sync(service.url)
        expect([again.counters.entries, again.counters.journalEntries]).toEqual([0, 0])
      }).pipe(Effect.provide(TestDatabase.layer))
    }),
  )

  it.scopedLive(
    "is refused, and nothing is changed, where it is not what was written or the database is not empty",
    () =>
      Effect.gen(function* () {
        const file = target()
        const { service } = yield* threeMonths
        yield* Effect.gen(function* () {
          yield* sync(service.url)
          yield* backup(file)
          const again = yield* Effect.flip(backup(file))
          expect(again).toMatchObject({ _tag: "BackupError", reason: "Usage" })
          const full = yield* Effect.flip(restore(file))
          expect(full).toMatchObject({ _tag: "BackupError", reason: "Usage" })
          expect(yield* proof).toMatchObject({ ok: true })
        }).pipe(Effect.provide(TestDatabase.layer))

        const content = gunzipSync(readFileSync(file)).toString()
        const lines = content.split("\n")
        const wrong: Record<string, Buffer> = {
          "cut off": readFileSync(file).subarray(0, 2_000),
          "without its end": gzipSync(`${lines.slice(0, -2).join("\n")}\n`),
          "a digit changed": gzipSync(content.replace("100.00", "900.00")),
          "a row less": gzipSync(
            lines.filter((_, at) => at !== lines.findIndex((row) => row.startsWith("["))).join("\n"),
          ),
          "rows after the end": gzipSync(`${content}["1"]\n`),
          "no backup": Buffer.from("hello"),
        }
        yield* Effect.gen(function* () {
          for (const [what, bytes] of Object.entries(wrong)) {
            writeFileSync(file, bytes)
            const error = yield* Effect.flip(restore(file))
            expect([what, error]).toMatchObject([what, { _tag: "BackupError", reason: "Damaged" }])
          }
          expect(yield* rows("select 1 from pg_namespace where nspname = 'ledger'")).toEqual([])
          writeFileSync(file, "")
          expect(yield* Effect.option(restore(file))).toEqual(Option.none())
          // A backup of a later version is valid, but not for this version.
          const later = content
            .replace('"format":1', '"format":9')
            .replace(/"version":"[^"]*"/, '"version":"7.0.0"')
          writeFileSync(file, gzipSync(later))
          const error = yield* Effect.flip(restore(file))
          expect(error).toMatchObject({ reason: "OtherVersion" })
          expect(error.message).toContain("was made by Tieout 7.0.0 in the format 9")
        }).pipe(Effect.provide(TestDatabase.blankLayer))
      }),
  )
})
