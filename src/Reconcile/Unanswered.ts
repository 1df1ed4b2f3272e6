/** Blocking findings, and rows in quarantine, that nobody has answered for at a close. */
import { Effect } from "effect"
import { isIn } from "../Book/ByBook.ts"
import { int4 } from "../Database/Columns.ts"
import { Database } from "../Database.ts"

/** Of a book. */
export interface Unanswered {
  readonly findings: number
  readonly quarantined: number
}

export const nothingUnanswered: Unanswered = { findings: 0, quarantined: 0 }

/**
 * How many open blocking findings say that something is wrong with the books up to a day (`2026-10-31`), or with all of them (null).
 * By `bookId`; a book without any is missing.
 *
 * Not counted is what was accepted at the standing close of that day's month, what was accepted for good at the book's last close and
 * says the same still, and, where that month is closed, what came up in a later one. Rows in quarantine are answered for with the
 * finding of their stream.
 */
export const unansweredFindings = Effect.fn("Reconcile.unansweredFindings")(function* (
  bookIds: ReadonlyArray<number>,
  to: string | null,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Reconcile.unansweredFindings",
    { bookId: int4, findings: int4, quarantined: int4 },
    (sql) => sql`
      with asked as (select date_trunc('month', ${to}::text::date)::date as month),
      accepted as materialized (
        select l.book_id, a.one ->> 'id' as id
        from asked, ledger.locks l
        cross join lateral ledger.standing_closes(l.book_id, 'infinity') c
        cross join lateral jsonb_array_elements(c.accepted) a (one)
        where l.book_id ${isIn(sql, bookIds)} and c.period = asked.month and a.one ->> 'id' is not null
        union all
        select k.book_id, 'F' || k.finding_id from reconcile.accepted_findings k
        where k.book_id ${isIn(sql, bookIds)}),
      -- NOT IN, and IN that is compared with true, use hash tables: thousands may have been accepted, and joins would compare each finding
      -- and each row with all of them.
      unanswered as (
        select f.book_id, 1 as finding, 0 as row
        from asked, reconcile.open_findings f
        join ledger.locks l on l.book_id = f.book_id
        where f.book_id ${isIn(sql, bookIds)} and f.severity = 'blocking'
          and (f.book_id, 'F' || f.finding_id) not in (select a.book_id, a.id from accepted a)
          and not coalesce(l.closed_through >= asked.month and exists (
            select 1 from reconcile.facts_of(f.evidence, l.time_zone) x where x.month > to_char(asked.month, 'YYYY-MM')), false)
        union all
        select q.book_id, 0, 1
        from mirror.open_quarantine q
        where q.book_id ${isIn(sql, bookIds)} and (q.book_id, q.stream) not in (
          select f.book_id, f.subject_id from reconcile.open_findings f
          where f.book_id ${isIn(sql, bookIds)} and f.check_name = 'quarantine'
            and ((f.book_id, 'F' || f.finding_id) in (select a.book_id, a.id from accepted a)) is true))
      select u.book_id as "bookId", sum(u.finding)::integer as findings, sum(u.row)::integer as quarantined
      from unanswered u group by u.book_id`,
  )
  return new Map(rows.map(({ bookId, ...counts }): [number, Unanswered] => [bookId, counts]))
})

/**
 * The same at an instant (`asOf`), by what was open, closed and accepted then. A finding that has changed since counts as one
 * that was not accepted for good.
 */
export const unansweredThen = Effect.fn("Reconcile.unansweredThen")(function* (
  bookIds: ReadonlyArray<number>,
  to: string | null,
  asOf: string,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Reconcile.unansweredThen",
    { bookId: int4, findings: int4, quarantined: int4 },
    (sql) => sql`
      with asked as (
        select date_trunc('month', ${to}::text::date)::date as month, ${asOf}::text::timestamptz as at),
      standing as materialized (
        select l.book_id, l.time_zone, c.period, c.accepted
        from asked, ledger.locks l
        left join lateral ledger.standing_closes(l.book_id, asked.at) c on true
        where l.book_id ${isIn(sql, bookIds)}),
      locked as (select s.book_id, s.time_zone, max(s.period) as through from standing s group by s.book_id, s.time_zone),
      open as materialized (
        select f.* from asked, reconcile.findings_open_at(asked.at) f
        where f.book_id ${isIn(sql, bookIds)} and f.severity = 'blocking'),
      accepted as materialized (
        select s.book_id, a.one ->> 'id' as id
        from asked join standing s on s.period = asked.month
        cross join lateral jsonb_array_elements(s.accepted) a (one)
        where a.one ->> 'id' is not null
        union all
        -- For good, at the last close before.
        select l.book_id, a.one ->> 'id'
        from asked, locked l
        cross join lateral (
          select k.accepted from ledger.closes k where k.book_id = l.book_id and k.action = 'close' and k.at <= asked.at
          order by k.sequence desc limit 1) k
        cross join lateral jsonb_array_elements(k.accepted) a (one)
        where (l.book_id, a.one ->> 'id', a.one ->> 'evidence') in (
          select o.book_id, 'F' || o.finding_id, md5(o.evidence::text) from open o)),
      unanswered as (
        select o.book_id, 1 as finding, 0 as row
        from asked, open o
        join locked l on l.book_id = o.book_id
        where (o.book_id, 'F' || o.finding_id) not in (select a.book_id, a.id from accepted a)
          and not coalesce(l.through >= asked.month and exists (
            select 1 from reconcile.facts_of(o.evidence, l.time_zone) x where x.month > to_char(asked.month, 'YYYY-MM')), false)
        union all
        select q.book_id, 0, 1
        from asked, mirror.quarantine q
        where q.book_id ${isIn(sql, bookIds)} and q.first_seen_at <= asked.at
          and (q.resolved_at is null or q.resolved_at > asked.at) and (q.book_id, q.stream) not in (
            select o.book_id, o.subject_id from open o
            where o.check_name = 'quarantine'
              and ((o.book_id, 'F' || o.finding_id) in (select a.book_id, a.id from accepted a)) is true))
      select u.book_id as "bookId", sum(u.finding)::integer as findings, sum(u.row)::integer as quarantined
      from unanswered u group by u.book_id`,
  )
  return new Map(rows.map(({ bookId, ...counts }): [number, Unanswered] => [bookId, counts]))
})
