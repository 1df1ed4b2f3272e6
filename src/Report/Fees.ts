/** `fees.csv`: the fee accounts by day, currency and kind. A refunded fee is negative. */
import { Effect } from "effect"
import { printed } from "../Common/AmountText.ts"
import { int4, nullable, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { entriesOfMonth, type ReportScope } from "./ReportScope.ts"
import type { Row } from "./Sheet.ts"

export const feesSheet = {
  name: "fees.csv",
  columns: {
    effective_date: "text",
    currency: "text",
    kind: "text",
    movement: "text",
    postings: "figure",
    fee: "figure",
  },
} as const

/** For one month. `movement`: what the fee was charged for (deposit, withdrawal, conversion). */
export const feeRows = Effect.fn("Report.fees")(function* (scope: ReportScope) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Report.fees",
    { day: text, currency: text, kind: text, movement: nullable(text), postings: int4, fee: text },
    (sql) => sql`
      select j.effective_date::text as day, p.currency, j.kind, mirror.lower_ascii(j.resource_type) as movement,
        count(*)::integer as postings, sum(p.amount)::text as fee
      from ${entriesOfMonth(sql, scope)}
      join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
      join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id and a.role = 'fees'
      group by j.effective_date, p.currency, j.kind, mirror.lower_ascii(j.resource_type)
      order by j.effective_date, p.currency collate "C", j.kind collate "C", 4 nulls last`,
  )
  return rows.map(
    ({ currency, day, fee, kind, movement, postings }): Row<typeof feesSheet.columns> => ({
      effective_date: day,
      currency,
      kind,
      movement,
      postings: String(postings),
      fee: printed(fee, currency),
    }),
  )
})
