/** Clients that cannot be read any more, and which a close accepted as gone for good. */
import { Effect } from "effect"
import { text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"

/** The codes of their books, each with the month of that close (`2026-10`). */
export const acceptedClients = Effect.fn("Reconcile.acceptedClients")(function* (connection: string) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Reconcile.acceptedClients",
    { code: text, month: text },
    (sql) => sql`
      select b.code, to_char(k.period, 'YYYY-MM') as month from reconcile.accepted_findings k
      join mirror.books b on b.book_id = k.book_id
      where k.check_name = 'client-gone' and b.connection = ${connection}`,
  )
  return new Map(rows.map(({ code, month }) => [code, month]))
})
