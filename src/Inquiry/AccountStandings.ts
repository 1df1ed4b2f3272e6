/** The standing of every account: the service's figures and the books'. */
import { Effect } from "effect"
import type { Book } from "../Book.ts"
import { printed } from "../Common/AmountText.ts"
import { bool, int4, int8, nullable, type RowOf, text, uuid } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { type Brought, broughtOf } from "./LastRuns.ts"

export interface Standing {
  /** The book's code. */
  readonly book: string
  readonly accountId: string
  readonly currency: string
  readonly paymentRails: string
  readonly status: string
  /** Booked statement entries. */
  readonly entries: number
  /** Entries among these that the last run brought; null: not known, since it brought some of too many accounts. */
  readonly newEntries: number | null
  /** The ledger's balance, major unit, at the currency's scale. */
  readonly balance: string
  readonly tiesOut: boolean
  /** Whether its balance or its statement was read within the hour, and no run has proved them yet: that it ties out is not known then. */
  readonly beingRead: boolean
  /** Why it does not tie out; null if it does. */
  readonly remark: string | null
  /** The month of the close that accepted all of that for good, `2026-10`; null: nobody did. */
  readonly acceptedAt: string | null
}

const columns = {
  connection: text,
  code: text,
  account_id: uuid,
  currency: text,
  payment_rails: text,
  status: text,
  entries: int8,
  ledger: text,
  statement: text,
  service: text,
  held: int8,
  unread: bool,
  /** Whether the service refuses its statement or its client. */
  unserved: bool,
  /** When it was last read to its end, by the service's clock; null: never, or the service sent no date. */
  read_at: nullable(text),
  was_read: bool,
  /** Whether the service refuses the whole client, and not only the statement. */
  of_client: bool,
  /** Why it is refused: `PartnerError.reason`, `NoPath` or `Inactive`; then the HTTP status, and the detail as text. */
  trouble: nullable(text),
  answers: nullable(int4),
  detail: nullable(text),
  blocking: nullable(text),
  off: bool,
  being_read: bool,
  accepted_at: nullable(text),
}

type Row = RowOf<typeof columns>

const lastRead = ({ read_at: at, was_read: wasRead }: Row): string => {
  if (at !== null) return `last read ${at}`
  return wasRead
    ? "read to its end, but the service sends no date (no Date header), so that it is no evidence"
    : "never read to its end"
}

const whyUnserved = ({ answers, detail, of_client: ofClient, trouble }: Row): string => {
  const what = ofClient ? "the list of accounts of its client" : "its statement"
  if (trouble === "NoPath") return `the settings leave out ${what} (interface.paths)`
  if (trouble === "NotFound") return `the service does not find ${what} (${answers ?? 404})`
  if (answers !== null) return `${what} is refused (${answers})`
  return detail ?? `${what} cannot be read`
}

const remarkOf = (row: Row): string | null => {
  if (!row.off && !row.being_read) return null
  if (row.unserved) return `${lastRead(row)}: ${whyUnserved(row)}`
  if (row.held > 0n) return row.held === 1n ? "1 entry is held back" : `${row.held} entries are held back`
  const ledger = printed(row.ledger, row.currency)
  const service = printed(row.service, row.currency)
  const statement = printed(row.statement, row.currency)
  if (ledger !== statement) return `the last booked entry leaves ${statement}`
  if (ledger !== service) return `the service says ${service}`
  if (row.unread) return "its statement has not been read to its end yet"
  return `${row.blocking} finding`
}

const standingOf = (row: Row, brought: Brought): Standing => ({
  book: row.code,
  accountId: row.account_id,
  currency: row.currency,
  paymentRails: row.payment_rails,
  status: row.status,
  entries: Number(row.entries),
  newEntries: broughtOf(brought, row.connection, row.account_id),
  balance: printed(row.ledger, row.currency),
  tiesOut: !row.off && !row.being_read,
  beingRead: row.being_read && !row.off,
  remark: remarkOf(row),
  acceptedAt: row.off ? row.accepted_at : null,
})

/**
 * The accounts of the books, by book and account. `reconcile.account_standings` decides whether one ties out. `brought`: by the
 * last runs.
 */
export const accountStandings = Effect.fn("Status.accounts")(function* (
  books: ReadonlyArray<Book>,
  brought: Brought,
) {
  const database = yield* Database
  const ids = `{${books.map(({ bookId }) => bookId).join(",")}}`
  const rows = yield* database.rows(
    "Status.accounts",
    columns,
    (sql) => sql`
      select b.connection, b.code, a.account_id, a.currency, a.payment_rails, a.status, a.entries, a.service::text as service,
        a.statement::text as statement, a.ledger::text as ledger, a.held, a.tail_read_at is null as unread, a.blocking, a.off, a.being_read, a.unserved,
        a.was_read, a.of_client, a.trouble, a.answers, a.detail, to_char(a.accepted, 'YYYY-MM') as accepted_at,
        to_char(a.read_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as read_at
      from reconcile.account_standings a
      join mirror.books b on b.book_id = a.book_id
      where a.book_id = any (${ids}::integer[])
      order by b.code, a.account_id`,
  )
  return rows.map((row) => standingOf(row, brought))
})
