/**
 * `late-entries.csv`: the bridge between the provider's statement and the books: entries of the month that the books date
 * later because it was closed, and entries of earlier, closed months that are dated in this one.
 *
 * It lists all late entries, so that corrections stand beside the entries that they correct. An entry with cash has a row per
 * cash account, with the provider's account: their sums are the bridge's, which counts opening balances by themselves. An entry
 * without cash has a row per line, without a provider's account; its rows add up to zero. Debit positive.
 */
import { Effect } from "effect"
import { printed } from "../Common/AmountText.ts"
import { bool, int4, nullable, type RowOf, text, uuid } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { journalNumber } from "../Format/Entry.ts"
import { recordedBy } from "../Ledger/AsOf.ts"
import { instantText } from "../Reconcile/ReconcileScope.ts"
import type { ReportScope } from "./ReportScope.ts"
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
    account_code: "text",
    account_name: "text",
    currency: "text",
    amount: "figure",
    kind: "text",
    description: "text",
  },
} as const

const foundColumns = {
  elsewhere: bool,
  opening: bool,
  period: text,
  number: nullable(int4),
  occurredAt: text,
  effectiveDate: text,
  lateFor: text,
  recordedAt: text,
  accountId: nullable(uuid),
  code: text,
  name: text,
  currency: text,
  amount: text,
  kind: text,
  description: text,
}

const whatOf = ({ elsewhere, opening }: RowOf<typeof foundColumns>): string => {
  if (opening) return elsewhere ? "opening balance, dated later" : "opening balance, dated here"
  return elsewhere ? "of this month, dated later" : "of an earlier month, dated here"
}

export const lateRows = Effect.fn("Report.late")(function* (scope: ReportScope) {
  const database = yield* Database
  const { book, first } = scope
  const rows = yield* database.rows(
    "Report.late",
    foundColumns,
    (sql) => sql`
      select e.late_for = ${first}::text::date as elsewhere, e.source_type = 'opening' as opening,
        to_char(e.period, 'YYYY-MM') as period, n.number,
        ${instantText(sql, sql`e.occurred_at`)} as "occurredAt", e.effective_date::text as "effectiveDate",
        to_char(e.late_for, 'YYYY-MM') as "lateFor", ${instantText(sql, sql`e.recorded_at`)} as "recordedAt",
        c.partner_account_id as "accountId", c.code, c.name, p.currency, p.amount::text as amount, e.kind, e.description
      from ledger.journal_entries e
      join ledger.postings p on p.book_id = e.book_id and p.entry_id = e.entry_id
      join ledger.accounts c on c.book_id = p.book_id and c.account_id = p.account_id
      left join ledger.journal_numbers n on n.book_id = e.book_id and n.entry_id = e.entry_id
      where e.book_id = ${book.bookId} and e.late_for is not null
        and (e.late_for = ${first}::text::date or e.period = ${first}::text::date) ${recordedBy(sql, scope.asOf)}
        and (c.role = 'cash' or not exists (
          select 1 from ledger.postings o
          join ledger.accounts oc on oc.book_id = o.book_id and oc.account_id = o.account_id and oc.role = 'cash'
          where o.book_id = e.book_id and o.entry_id = e.entry_id))
      order by 1 desc, e.effective_date, n.number nulls last, e.entry_id, p.line_number`,
  )
  return rows.map(
    (found): Row<typeof lateSheet.columns> => ({
      what: whatOf(found),
      journal_number: found.number === null ? null : journalNumber(book.code, found.period, found.number),
      occurred_at: found.occurredAt,
      effective_date: found.effectiveDate,
      late_for: found.lateFor,
      recorded_at: found.recordedAt,
      provider_account: found.accountId,
      account_code: found.code,
      account_name: found.name,
      currency: found.currency,
      amount: printed(found.amount, found.currency),
      kind: found.kind,
      description: found.description,
    }),
  )
})
