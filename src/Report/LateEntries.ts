/**
 * `late-entries.csv`: the bridge between the provider's statement and the books: entries of the month that the books date
 * later because it was closed, and entries of earlier, closed months that are dated in this one.
 */
import { Effect } from "effect"
import { Database } from "../Database.ts"
import { journalNumber } from "../Export/Entry.ts"
import { printed } from "../Reconcile/Printed.ts"
import { instantText } from "../Reconcile/Scope.ts"
import { known, type ReportScope } from "./Scope.ts"
import type { Row } from "./Sheet.ts"

export const lateSheet = {
  name: "late-entries.csv",
  columns: {
    what: "text",
    journal_number: "text",
    occurred_at: "text",
    effective_date: "text",
    late_for: "text",
    recorded_at: "text",
    provider_account: "text",
    currency: "text",
    amount: "figure",
    kind: "text",
    description: "text",
  },
} as const

interface Found {
  readonly elsewhere: boolean
  readonly period: string
  readonly number: number | null
  readonly occurredAt: string
  readonly effectiveDate: string
  readonly lateFor: string
  readonly recordedAt: string
  readonly accountId: string | null
  readonly currency: string
  readonly amount: string
  readonly kind: string
  readonly description: string
}

/** A row per late entry and cash account. */
export const lateRows = Effect.fn("Report.late")(function* (scope: ReportScope) {
  const database = yield* Database
  const { book, first } = scope
  const rows = yield* database.query(
    "Report.late",
    (sql) => sql<Array<Found>>`
      select j.late_for = ${first}::text::date as elsewhere, to_char(j.period, 'YYYY-MM') as period, n.number,
        ${instantText(sql, sql`j.occurred_at`)} as "occurredAt", j.effective_date::text as "effectiveDate",
        to_char(j.late_for, 'YYYY-MM') as "lateFor", ${instantText(sql, sql`j.recorded_at`)} as "recordedAt",
        c.partner_account_id as "accountId", p.currency, p.amount::text as amount, j.kind, j.description
      from ledger.journal_entries j
      join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
      join ledger.accounts c on c.book_id = p.book_id and c.account_id = p.account_id and c.role = 'cash'
      left join ledger.journal_numbers n on n.book_id = j.book_id and n.entry_id = j.entry_id
      where j.book_id = ${book.bookId} and j.late_for is not null
        and (j.late_for = ${first}::text::date or j.period = ${first}::text::date)
        and ${known(sql, scope, sql`j.recorded_at`)}
      order by 1 desc, j.effective_date, n.number nulls last, j.entry_id, p.line_number`,
  )
  return rows.map(
    (found): Row<typeof lateSheet.columns> => ({
      what: found.elsewhere ? "of this month, dated later" : "of an earlier month, dated here",
      journal_number: found.number === null ? null : journalNumber(book.code, found.period, found.number),
      occurred_at: found.occurredAt,
      effective_date: found.effectiveDate,
      late_for: found.lateFor,
      recorded_at: found.recordedAt,
      provider_account: found.accountId,
      currency: found.currency,
      amount: printed(found.amount, found.currency),
      kind: found.kind,
      description: found.description,
    }),
  )
})
