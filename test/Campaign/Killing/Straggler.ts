/** A process that was suspended while another one took its lease, and then resumes, may write nothing. */
import { Effect } from "effect"
import { aside } from "../../support/aside.ts"

const schemas = ["mirror", "ledger", "reconcile", "sync", "export", "webhook"]

/** The epoch of the connection's lease; 0 where nobody has taken it yet. */
export const epochOf = (connection: string) =>
  aside(
    (sql) => sql<Array<{ epoch: string }>>`
      select epoch::text as epoch from sync.leases where connection = ${connection} and book_id = 0`,
  ).pipe(Effect.map(([row]) => (row === undefined ? 0n : BigInt(row.epoch))))

/** A mark of each table: its number of rows and the newest transaction that wrote one of them. Every write changes it. */
export const marks = aside(
  (sql) => sql<Array<{ name: string; mark: string }>>`
      select format('%I.%I', n.nspname, c.relname) as name, (xpath('/row/mark/text()', query_to_xml(format(
        'select count(*) || '' '' || coalesce(max(xmin::text::bigint), 0) as mark from %I.%I', n.nspname, c.relname),
        false, true, '')))[1]::text as mark
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and n.nspname = any (${`{${schemas.join(",")}}`}::text[])`,
).pipe(Effect.map((rows) => new Map(rows.map(({ mark, name }) => [name, mark]))))

/** The tables whose marks differ. */
export const differing = (
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): ReadonlyArray<string> => [...after].flatMap(([name, mark]) => (before.get(name) === mark ? [] : [name]))

/**
 * Takes the lease as another machine would after the server released the first machine's lock without its notice: only the fence
 * is left. A transaction that the first process is in comes first; then the lease stays as it is.
 */
export const takeLeaseAway = (connection: string) =>
  aside((client) =>
    client
      .begin(async (sql) => {
        await sql`set local lock_timeout = '200ms'`
        await sql`update sync.leases set epoch = epoch + 1, taken_at = now() where connection = ${connection}`
      })
      .catch((error: { readonly code?: string }) => {
        const lockTimeout = "55P03"
        if (error.code !== lockTimeout) throw error
      }),
  )
