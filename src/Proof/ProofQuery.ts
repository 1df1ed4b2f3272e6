/** One proof over the whole database: a query that selects the rows for which it does not hold. */
import type { Sql } from "../Database/Client.ts"
import { type RowOf, text } from "../Database/Columns.ts"

/** A part of an SQL statement. */
export type Fragment = ReturnType<Sql>

export const wrongColumns = {
  /** The book's code. */
  book: text,
  /** The row for a person: `journal entry ORG-2026-10-000007, line 2`. */
  row: text,
  message: text,
}

/** A wrong row, named so that it can be found again. */
export type Wrong = RowOf<typeof wrongColumns>

export interface ProofQuery {
  readonly name: string
  /** What holds when the query selects no row. */
  readonly proves: string
  /** Columns `book`, `row`, `message`; its order decides which rows are listed where there are too many. */
  readonly wrong: (sql: Sql) => Fragment
}

/** A journal entry by its number, or by its identifier while it has none. `b`, `j` are the book's and the entry's aliases. */
export const entryName = (sql: Sql): Fragment => sql`
  coalesce((select format('journal entry %s-%s-%s', b.code, to_char(n.period, 'YYYY-MM'),
      lpad(n.number::text, greatest(6, length(n.number::text)), '0'))
    from ledger.journal_numbers n where n.book_id = j.book_id and n.entry_id = j.entry_id),
    format('journal entry %s without a number', j.entry_id))`

/** The account of an archived turnover `t`, a text that names a role in the base-currency journal; 0, which no account has: another text. */
export const archivedAccount = (sql: Sql): Fragment =>
  sql`case when t.account ~ '^[0-9]{1,9}$' then t.account::integer else 0 end`

/** Whether a time in the raw answer (UTC, at most six decimals) differs from the stored one. */
export const otherTime = (sql: Sql, said: Fragment, kept: Fragment): Fragment => sql`
  (${said} ~ '^[0-9-]{10}T[0-9:]{8}([.][0-9]{1,6})?Z$'
    and left(${said}, 19) is distinct from to_char(${kept} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS'))`
