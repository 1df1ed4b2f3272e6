/** Runs of the real sync against a service on loopback, and what they leave in the database. */
import { Effect, Layer } from "effect"
import { Database } from "../../src/Database.ts"
import { Settings } from "../../src/Settings.ts"
import { Sync, type SyncOptions } from "../../src/Sync.ts"
import { unpaced } from "../support/Unpaced.ts"

/** The environment of a connection named `default`. */
export const variablesFor = (url: string): Record<string, string> => ({
  TIEOUT_BASE_URL: url,
  TIEOUT_CLIENT_ID: "sandbox-client",
  TIEOUT_CLIENT_SECRET: "sandbox-secret",
  TIEOUT_SCOPE: "accounts:read",
})

/** One run of given settings, as `tieout sync` does it. */
export const syncWith = (variables: Record<string, string>, options: Partial<SyncOptions> = {}) =>
  Effect.flatMap(Sync, (service) => service.run({ connection: "default", full: false, ...options })).pipe(
    Effect.provide(Sync.Default.pipe(Layer.provideMerge(Settings.from({ variables })))),
    unpaced,
  )

/** One run of the connection named `default`. */
export const sync = (url: string, variables: Record<string, string> = {}, full = false, quick = false) =>
  syncWith({ ...variablesFor(url), ...variables }, { full, quick })

export const rows = (statement: string) =>
  Effect.flatMap(Database, (database) =>
    database.query("Test.rows", (sql) => sql.unsafe<Array<Record<string, unknown>>>(statement)),
  ).pipe(Effect.orDie)

/** The canonical journal in every column but `recorded_at`, one text per line, in the order of the books. */
export const journal = rows(`
  select concat_ws('|', b.code, n.period, n.number, p.line_number, e.effective_date, e.occurred_at, a.code, a.name,
    a.role, a.partner_account_id, p.currency, p.amount, e.kind, e.description, e.source_type, e.source_id, e.sequence,
    e.resource_type, e.resource_id, e.external_reference, e.counterparty, e.late_for) as line
  from ledger.journal_entries e
  join ledger.postings p using (book_id, entry_id)
  join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
  join mirror.books b on b.book_id = e.book_id
  left join ledger.journal_numbers n on n.book_id = e.book_id and n.entry_id = e.entry_id
  order by b.code, n.period, n.number, p.line_number`).pipe(
  Effect.map((found) => found.map(({ line }) => line)),
)

/** Kind, and role, currency and amount of every line, in the order of the books: what the books say, at a glance. */
export const postings = rows(`
  select e.kind || ' ' || string_agg(a.role || ' ' || trim_scale(p.amount)::text, ', ' order by p.line_number) as line
  from ledger.journal_entries e
  join ledger.postings p using (book_id, entry_id)
  join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
  left join ledger.journal_numbers n on n.book_id = e.book_id and n.entry_id = e.entry_id
  group by e.book_id, e.entry_id, e.kind, n.period, n.number, e.position, e.sequence
  order by n.period, n.number nulls last, e.position, e.sequence`).pipe(
  Effect.map((found) => found.map(({ line }) => line)),
)

/** Open findings as `check subject`. */
export const findings = rows(`
  select check_name || ' ' || severity as finding from reconcile.findings where closed_at is null order by 1`).pipe(
  Effect.map((found) => found.map(({ finding }) => finding)),
)

/** The accounts that hold something, each with its amount. */
export const balances = rows(`
  select a.code || ' ' || trim_scale(sum(p.amount))::text as line from ledger.postings p
  join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
  group by a.code having sum(p.amount) <> 0 order by a.code`).pipe(
  Effect.map((found) => found.map(({ line }) => line)),
)

/** The events of the inbox, counted by state. */
export const inboxStates = rows(
  "select state, count(*)::integer as n from webhook.inbox group by 1 order by 1",
).pipe(Effect.map((found) => found.map(({ n, state }) => `${state} ${n}`)))

export const bookIdOf = (code: string) =>
  Effect.map(rows(`select book_id from mirror.books where code = '${code}'`), ([row]) => Number(row?.book_id))
