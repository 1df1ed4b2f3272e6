/** The checks of everything are planned by how large the tables are, also where no sync has made statistics. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Database } from "../../src/Database.ts"
import { analyze } from "../../src/Reconcile/Planning.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"

/** That the statistics know of, over all partitions. */
const pages = rows(`
  select sum(greatest(0, c.relpages)) as pages
  from pg_partition_tree('mirror.resources') p join pg_class c on c.oid = p.relid where p.isleaf`)

const analyzed = Effect.flatMap(Database, (database) => database.transaction(analyze(database)))

layer(TestDatabase.layer, { excludeTestServices: true })("statistics before a check of everything", (it) => {
  it.scoped("are made once the tables have grown a lot, and not of a small book", () =>
    Effect.gen(function* () {
      const sandbox = yield* runningSandbox({ entries: 60 })
      yield* sync(sandbox.url)
      const before = yield* pages
      yield* analyzed
      expect(yield* pages).toEqual(before)
      yield* unruled(
        `insert into mirror.resources
         select (jsonb_populate_record(r, jsonb_build_object('resource_id', gen_random_uuid()))).*
         from mirror.resources r, generate_series(1, 200)`,
      )
      yield* analyzed
      const [after] = yield* pages
      expect(Number(after?.pages)).toBeGreaterThan(4 * 8)
    }),
  )
})
