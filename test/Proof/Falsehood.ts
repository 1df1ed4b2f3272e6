/** Tries one statement that falsifies a row, in a transaction that is rolled back. */
import { Data, Effect } from "effect"
import { Database } from "../../src/Database.ts"

class Undone extends Data.TaggedError("Undone") {}

/** The kinds of session: an owner's, the program's own, and one that no rule holds. */
export const sessions = {
  hand: "set local tieout.program = ''",
  program: "set local tieout.program = 'on'",
  unruled: "set local session_replication_role = replica",
} as const

/** The number of rows that the statement wrote, or the SQLSTATE of its refusal; then the result of `look` before the rollback. */
export const tried = Effect.fn("Test.tried")(function* <A, E, R>(
  session: keyof typeof sessions,
  statement: string,
  look: Effect.Effect<A, E, R>,
) {
  const database = yield* Database
  let seen: { readonly written: number; readonly look: A } | undefined
  const refused = yield* database
    .transaction(
      Effect.gen(function* () {
        yield* database.query("Test.session", (sql) => sql.unsafe(sessions[session]))
        const { count } = yield* database.query("Test.falsehood", (sql) => sql.unsafe(statement))
        yield* database.query("Test.deferred", (sql) => sql`set constraints all immediate`)
        seen = { written: count, look: yield* Effect.orDie(look) }
        return yield* new Undone()
      }),
    )
    .pipe(
      Effect.as(""),
      Effect.catchTag("Undone", () => Effect.succeed("")),
      Effect.catchTag("DatabaseError", ({ sqlstate }) => Effect.succeed(sqlstate ?? "no SQLSTATE")),
    )
  return seen === undefined ? { refused, written: 0, look: undefined } : { refused, ...seen }
})

/** Another possible value of a column. Where a column takes only a few words, another of these. */
const words: Readonly<Record<string, string>> = {
  "ledger.closes.action": "case action when 'close' then 'reopen' else 'close' end",
  "ledger.accounts.role": "'suspense'",
  "ledger.journal_entries.source_type": "'manual'",
  "ledger.periods.status": "case status when 'open' then 'closed' else 'open' end",
  "ledger.receivable_dues.side": "-side",
  "ledger.receivable_shares.purpose": "'disbursement'",
  "mirror.receivable_transactions.purpose": "'disbursement'",
  "mirror.resources.resource_type": "'WITHDRAWAL'",
  "mirror.resources.status": "case status when 'COMPLETED' then 'REJECTED' else 'COMPLETED' end",
  "mirror.statement_entries.type": "case type when 'CREDIT' then 'DEBIT' else 'CREDIT' end",
  "reconcile.findings.severity": "case severity when 'warning' then 'blocking' else 'warning' end",
  "export.batch_states.state": "'superseded', reason = ''",
  "sync.dead_letters.from_day": "'2026-01-01', to_day = '2026-01-31', kind = 'backfill'",
  "sync.dead_letters.to_day": "'2026-01-31', from_day = '2026-01-01', kind = 'backfill'",
  "sync.runs.state": "'stopped'",
  "valuation.settings.method": "case method when 'fifo' then 'average' else 'fifo' end",
  "valuation.settings.rates": "'conversions'",
  "valuation.months.method": "case method when 'fifo' then 'average' else 'fifo' end",
  "valuation.months.rates": "'conversions'",
  "webhook.inbox.state": "'done'",
  "sync.stream_reads.trouble": "'Forbidden', failing_since = now()",
  "mirror.books.code": "'ELSE'",
}

const others: Readonly<Record<string, (name: string) => string>> = {
  integer: (name) => `coalesce(${name}, 0) + 1`,
  smallint: (name) => `coalesce(${name}, 0) + 1`,
  bigint: (name) => `coalesce(${name}, 0) + 1`,
  numeric: (name) => `coalesce(${name}, 0) + 1`,
  text: (name) => `coalesce(${name}, '') || 'x'`,
  boolean: (name) => `not coalesce(${name}, false)`,
  uuid: () => "gen_random_uuid()",
  date: (name) => `(coalesce(${name}, '2026-01-01') + interval '1 month')::date`,
  "timestamp with time zone": (name) => `coalesce(${name}, now()) - interval '1 hour'`,
  json: () => `'{"a":"b"}'`,
  jsonb: () => `'{"a":"b"}'`,
  bytea: () => "'else'",
  ARRAY: () => "'{}'",
  xid8: () => "'1'",
}

export interface Column {
  readonly table: string
  readonly column: string
  readonly type: string
}

export const falsehood = ({ column, table, type }: Column): string =>
  `update ${table} set ${column} = ${words[`${table}.${column}`] ?? others[type]?.(column) ?? `(no other ${type})`}`

export const columns = Effect.gen(function* () {
  const database = yield* Database
  return yield* database.query(
    "Test.columns",
    (sql) => sql<Array<Column>>`
      select c.table_schema || '.' || c.table_name as table, c.column_name as column, c.data_type as type
      from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
      where t.table_type = 'BASE TABLE' and c.table_schema not in ('pg_catalog', 'information_schema', 'drizzle')
        and c.table_schema not like 'pg_temp%'
        and not (select relispartition from pg_class where oid = format('%I.%I', c.table_schema, c.table_name)::regclass)
      order by 1, c.ordinal_position`,
  )
})
