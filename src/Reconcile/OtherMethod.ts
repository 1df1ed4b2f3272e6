/** Closed months whose valuation method differs from the settings', and the message about it. */
import type { PendingQuery, Row } from "postgres"
import type { Sql } from "../Database/Client.ts"

interface OtherMethod {
  readonly book: string
  readonly closed: string
  readonly method: string
  /** `2026-09`, the first such month. */
  readonly period: string
  /** An archived month stays closed. */
  readonly archived: boolean
}

/** The other way beside setting it back, or why there is none. */
export const orReopen = ({ archived, period }: Pick<OtherMethod, "archived" | "period">): string =>
  archived
    ? `: ${period} is archived and stays closed`
    : `, or reopen the closed months, the last first, back to ${period}`

export const otherMethod = ({ archived, book, closed, method, period }: OtherMethod): string =>
  `${period} of book ${book} is closed and valued by ${closed}, the settings say ${method}: a book keeps its method from month to month. Set accounting.valuation.method back to ${closed} (accounting.valuation.books.${book}.method, where the book has its own)${orReopen({ archived, period })}.`

/**
 * Closed months with their method: the one that they were valued by, else the one that their close recorded. It is unknown
 * for a month that was locked by a later close and never valued.
 */
export const closedMethods = (sql: Sql): PendingQuery<Row[]> => sql`
  select k.book_id, p.period, coalesce(m.method, c.valuation_method) as method
  from ledger.locks k
  join ledger.periods p on p.book_id = k.book_id and p.period <= k.closed_through
  left join valuation.months m on m.book_id = p.book_id and m.period = p.period and m.state is not null and m.over
    and m.through_number = p.last_number
  left join lateral (
    select x.valuation_method from ledger.closes x
    where x.book_id = p.book_id and x.period = p.period and x.action = 'close' order by x.sequence desc limit 1) c on true`
