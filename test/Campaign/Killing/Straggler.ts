/** A process that was stopped while another one took its lease, and then goes on: whatever it does, it may write nothing. */
import { Effect } from "effect"
import { Database } from "../../../src/Database.ts"

const schemas = ["mirror", "ledger", "reconcile", "sync", "export", "webhook"]

/** Of the connection's lease; null: nobody has taken it yet. */
export const epochOf = (connection: string) =>
  Effect.flatMap(Database, ({ client }) =>
    Effect.promise(
      () => client<Array<{ epoch: string }>>`
        select epoch::text as epoch from sync.leases where connection = ${connection} and book_id = 0`,
    ),
  ).pipe(Effect.map(([row]) => (row === undefined ? 0n : BigInt(row.epoch))))

/** By table, how many rows there are and the newest transaction that wrote one of them: it changes with whatever is written. */
export const marks = Effect.flatMap(Database, ({ client }) =>
  Effect.promise(
    () => client<Array<{ name: string; mark: string }>>`
      select format('%I.%I', n.nspname, c.relname) as name, (xpath('/row/mark/text()', query_to_xml(format(
        'select count(*) || '' '' || coalesce(max(xmin::text::bigint), 0) as mark from %I.%I', n.nspname, c.relname),
        false, true, '')))[1]::text as mark
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and n.nspname = any (${`{${schemas.join(",")}}`}::text[])`,
  ),
).pipe(Effect.map((rows) => new Map(rows.map(({ mark, name }) => [name, mark]))))

/** The tables that say something else. */
export const differing = (
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): ReadonlyArray<string> => [...after].flatMap(([name, mark]) => (before.get(name) === mark ? [] : [name]))

/**
 * Takes the lease as another machine would whose server has let go of the first one's lock, while the first one has noticed
 * nothing: only the fence is left. Not where it is in the middle of a transaction of its own, which comes first.
 */
export const takeLeaseAway = (connection: string) =>
  Effect.flatMap(Database, ({ client }) =>
    Effect.promise(() =>
      client
        .begin(async (sql) => {
          await sql`set local lock_timeout = '200ms'`
          await sql`update sync.leases set epoch = epoch + 1, taken_at = now() where connection = ${connection}`
        })
        .catch((error: { readonly code?: string }) => {
          const lockTimeout = "55P03"
          if (error.code !== lockTimeout) throw error
        }),
    ),
  )
