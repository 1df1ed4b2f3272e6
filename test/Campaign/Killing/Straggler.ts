/** A process that was stopped while another one took its lease, and then goes on: whatever it does, it may write nothing. */
import { Effect } from "effect"
import { Database } from "../../../src/Database.ts"

const schemas = ["mirror", "ledger", "reconcile", "sync", "export", "webhook"]

/** Of the connection's lease; null: nobody has taken it yet. */
export const epochOf = (connection: string) =>
  Effect.flatMap(Database, ({ client }) =>
    Effect.promise(
      () => client<Array<{ epoch: string }>>`
        select epoch::text as epoch from sync.leases where connection = ${connection}`,
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
