/**
 * Updates the planner's statistics while a first sync fills the tables. Sessions keep their plans until new statistics come.
 * Autovacuum makes those up to a minute later, and until then plans made for a handful of rows would serve every page.
 */
import { Effect } from "effect"
import type { PendingQuery, Row } from "postgres"
import type { Sql } from "../../Database/Client.ts"
import { int4 } from "../../Database/Columns.ts"
import type { DatabaseError } from "../../Database/DatabaseError.ts"
import { textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import type { Counters } from "../../Run/Counters.ts"
import { Run } from "../../Run.ts"

/** The least number of rows of a run after which the tables are first analyzed. */
const first = 250
/** They are analyzed again when they have grown by this factor. */
const growth = 4

/**
 * A tenth of the usual sample: plans depend on the number of rows, and a larger sample would cost more than posting them.
 * Autovacuum samples more, later.
 */
const sampleLess = (sql: Sql): PendingQuery<Row[]> => sql`set local default_statistics_target = 10`

interface Watched {
  /** How many rows a run has brought of it. */
  readonly count: (counters: Counters) => number
  /** The table whose size says how much there was before. */
  readonly table: string
  /** Of which statistics are made. */
  readonly tables: ReadonlyArray<string>
}

const watched: ReadonlyArray<Watched> = [
  {
    count: (counters) => counters.resources,
    table: "mirror.resources",
    tables: ["mirror.accounts", "mirror.resources"],
  },
  {
    count: (counters) => counters.entries,
    table: "mirror.statement_entries",
    tables: [
      ...["mirror.statement_entries", "mirror.accounts", "sync.checkpoints", "sync.page_boundaries"],
      ...["ledger.accounts", "ledger.journal_entries", "ledger.postings", "ledger.balances"],
    ],
  },
]

const made = Effect.gen(function* () {
  const database = yield* Database
  const one = yield* Effect.makeSemaphore(1)
  const due = new Map<string, number>()

  const rowsOf = (table: string) =>
    database
      .rows(
        "Sync.Statistics.rowsOf",
        { rows: int4 },
        (sql) => sql`
            select coalesce(sum(greatest(0, c.reltuples)), 0)::integer as rows
            from pg_partition_tree(${table}::text::regclass) p join pg_class c on c.oid = p.relid where p.isleaf`,
      )
      .pipe(Effect.map((rows) => rows[0]?.rows ?? 0))

  const look = ({ count, table, tables }: Watched): Effect.Effect<void, DatabaseError, Run> =>
    Effect.gen(function* () {
      const { counters } = yield* Run
      if (count(counters) < (due.get(table) ?? first)) return
      yield* one.withPermits(1)(
        Effect.gen(function* () {
          const at = due.get(table) ?? Math.max(first, (growth - 1) * (yield* rowsOf(table)))
          due.set(table, at)
          const rows = count(counters)
          if (rows < at) return
          due.set(table, growth * rows)
          yield* database.transaction(
            Effect.zipRight(
              database.execute("Sync.Statistics.sample", sampleLess),
              database.execute(
                "Sync.Statistics.analyze",
                (sql) => sql`select ledger.make_statistics(${textArray(sql, tables)})`,
              ),
            ),
          )
        }),
      )
    })

  /** Called after every page, outside its transaction. */
  const follow = Effect.forEach(watched, look, { discard: true })

  return { follow }
})

export class Statistics extends Effect.Service<Statistics>()("tieout/Sync/Statistics", { effect: made }) {
  static readonly made = Effect.map(made, (parts) => new Statistics(parts))
}
