/** Streams that a connection's last sync did not read to their end, so that it is unknown whether they tie out. */
import { Effect } from "effect"
import type { Book } from "../Book.ts"
import { count, counted } from "../Common/Text.ts"
import type { Sql } from "../Database/Client.ts"
import { bool, int4, type RowOf, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { Settings } from "../Settings.ts"
import { expected, standing } from "./Checks/Streams.ts"
import { type Fragment, surfacesIn } from "./ReconcileScope.ts"

const notReadColumns = {
  what: text,
  count: int4,
  /** No surface of the settings reads them, so no sync will. */
  leftOut: bool,
}

/** The number of unread streams of one kind: `statements`, or a list by its name. */
export type NotRead = RowOf<typeof notReadColumns>

/**
 * Whether the evidence `s` of a stream is older than a sync `r`. By the times as well: a backfill goes on beside later runs, and what it reads
 * after them bears its own, lower number.
 */
export const isOlderThan = (sql: Sql, sync: Fragment): Fragment => sql`
  (coalesce(s.run_id, 0) < ${sync}.run_id and coalesce(s.ended_at < ${sync}.started_at, true))`

/**
 * The streams that a close requires and that neither the connection's last sync nor a later run read to their end; without the
 * streams that the service does not serve, which are findings.
 */
export const notReadBySync = Effect.fn("Reconcile.notReadBySync")(function* (books: ReadonlyArray<Book>) {
  const database = yield* Database
  const surfaces = surfacesIn(yield* Settings)
  const scope = { books: books.map(({ bookId }) => bookId), surfaces, closing: null }
  return yield* database.rows(
    "Reconcile.notReadBySync",
    notReadColumns,
    (sql) => sql`
      with ${expected(sql, scope)}
      select w.what, count(*)::integer as count, not e.configured as "leftOut"
      from lists e
      join mirror.books b on b.book_id = e.book_id
      join lateral (
        select r.run_id, r.started_at from sync.runs r
        where r.connection = b.connection and r.command = 'sync' and r.state <> 'running'
          -- One that was not possible as asked is none, as in sync.last_sync.
          and r.exit_code is distinct from 2
        order by r.run_id desc limit 1) l on true
      ${standing(sql)}
      cross join lateral (
        select case when e.stream like 'statement:%' then 'statements' else e.stream end as what) w
      where not coalesce(s.unreadable or s.gone, false) and e.book_id not in (select g.book_id from gone g)
        and ${isOlderThan(sql, sql`l`)}
      group by w.what, e.configured order by w.what <> 'statements', w.what collate "C"`,
  )
})

/** `3 statements`, `the list of deposits`, `2 lists of accounts`. */
const notReadText = ({ count: many, what }: NotRead): string => {
  if (what === "statements") return counted(many, "statement")
  const name = what.replaceAll("_", " ")
  return many === 1 ? `the list of ${name}` : `${count(many)} lists of ${name}`
}

/** `; not read by the last sync: 3 statements; left out by the settings (surfaces): the list of receivables`; empty if all was read. */
export const notReadClause = (all: ReadonlyArray<NotRead>): string =>
  [
    ["not read by the last sync", all.filter(({ leftOut }) => !leftOut)] as const,
    ["left out by the settings (surfaces)", all.filter(({ leftOut }) => leftOut)] as const,
  ]
    .flatMap(([why, some]) => (some.length === 0 ? [] : [`; ${why}: ${some.map(notReadText).join(", ")}`]))
    .join("")
