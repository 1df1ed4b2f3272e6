import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import { restore } from "../../src/Backup/Restore.ts"
import { backup } from "../../src/Backup.ts"
import { migrate } from "../../src/Database/Migrate.ts"
import { partitionedTables, withoutPartition } from "../../src/Database/Migrations/PartitionNames.ts"
import { readPartitions } from "../../src/Database/Migrations/Partitions.ts"
import { digests } from "../Backup/Digests.ts"
import { threeMonths } from "../Close/Months.ts"
import { filled, planted, proof } from "../Proof/Filled.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { testPartitions } from "../support/DatabaseAddress.ts"
import { statement as run } from "../support/statement.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

/** The partitions of a table, and how many rows each holds of each book. */
const spread = (table: string) =>
  rows(`select tableoid::regclass::text as partition, book_id from ${table} group by 1, 2 order by 2`)

describe("partitions", () => {
  it.scopedLive("are one by default, and hold the same rows under the same rules in any number", () =>
    Effect.gen(function* () {
      const file = join(temporaryFolder(), "tieout.gz")
      const before = yield* Effect.gen(function* () {
        yield* filled
        yield* planted
        yield* backup(file)
        return { partitions: yield* readPartitions(), digests: yield* digests, proof: yield* proof }
      }).pipe(Effect.provide(TestDatabase.layer))
      expect(before.partitions).toBe(testPartitions)

      yield* Effect.gen(function* () {
        yield* restore(file, { partitions: 5 })
        expect(yield* readPartitions()).toBe(5)
        expect(yield* digests).toEqual(before.digests)
        expect(yield* proof).toEqual(before.proof)
        for (const table of partitionedTables) {
          const books = yield* spread(table)
          expect(new Set(books.map(({ book_id: book }) => book)).size).toBe(books.length)
        }
        const other = yield* Effect.flip(migrate(undefined, 3))
        expect(other.message).toContain("the tables have 5 partitions already, not 3")
        expect(yield* migrate(undefined, 5)).toEqual([])
      }).pipe(Effect.provide(TestDatabase.blankLayer))
    }),
  )

  it.scopedLive("are refused by the name of the table's rule", () =>
    Effect.gen(function* () {
      yield* migrate(undefined, 3)
      const found = yield* rows(`
        select i.relname as index, p.relname as rule from pg_inherits h
        join pg_class p on p.oid = h.inhparent and p.relkind = 'I'
        join pg_class i on i.oid = h.inhrelid`)
      expect(found.length).toBe(3 * 20)
      for (const { index, rule } of found) expect(withoutPartition(String(index))).toBe(rule)
      for (const name of [
        "batches_book_id_batch_pk",
        "journal_entries_source",
        "statement_entries",
        "runs_0",
      ])
        expect(withoutPartition(name)).toBe(name)
      expect(withoutPartition("statement_entries_12")).toBe("statement_entries")
    }).pipe(Effect.provide(TestDatabase.blankLayer)),
  )

  it.scopedLive("are read and written only by their table's name", () =>
    Effect.gen(function* () {
      yield* migrate(undefined, 3)
      const { service } = yield* threeMonths
      expect((yield* sync(service.url)).counters.journalEntries).toBeGreaterThan(0)
      expect(yield* proof).toMatchObject({ ok: true })
      for (const table of partitionedTables) {
        for (const remainder of [0, 1, 2]) {
          const partition = `${table}_${remainder}`
          for (const statement of [
            `insert into ${partition} (book_id) values (1)`,
            `update ${partition} set book_id = book_id`,
            `delete from ${partition}`,
            `truncate ${partition}`,
          ]) {
            const refused = yield* Effect.flip(run(statement))
            expect([statement, refused.sqlstate]).toEqual([statement, "TO013"])
          }
        }
      }
    }).pipe(Effect.provide(TestDatabase.blankLayer)),
  )
})
