/** Receivables are booked on one side of the loan for good: the lender's books and the borrower's are others. */
import { Effect } from "effect"
import type { Book } from "../../Book.ts"
import { text } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import { Settings, SettingsError } from "../../Settings.ts"

const sides = { lender: "borrower", borrower: "lender" } as const

/**
 * A lender's receivables belong in the organization's book and a borrower's in the clients' books; no other book may have any.
 */
export const onTheirSide = Effect.fn("Sync.onTheirSide")(function* ({ connection }: Book) {
  const database = yield* Database
  const { view } = (yield* Settings).accounting.receivables
  const rows = yield* database.rows(
    "Sync.onTheirSide",
    { code: text },
    (sql) => sql`
      select b.code from mirror.books b
      where b.connection = ${connection} and (b.client_id is null) = ${view === "borrower"}
        and exists (select 1 from ledger.receivable_dues d where d.book_id = b.book_id) limit 1`,
  )
  if (rows.length === 0) return
  const other = sides[view]
  return yield* new SettingsError({
    reason: "Invalid",
    mistakes: [
      `accounting.receivables.view: is ${view}, but the receivables of connection ${connection} are booked as the ${other}'s`,
    ],
    advice: `Set it back to ${other}, or begin a new database: books cannot change their side of a loan.`,
  })
})
