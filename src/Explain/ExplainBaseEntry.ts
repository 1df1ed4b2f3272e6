/** An entry that only the base-currency journal has: settlement, revaluation, or the reversal of one. */
import { Effect } from "effect"
import { printedSum } from "../Common/AmountText.ts"
import { int4, jsonRows, nullable, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { journalNumber } from "../Format/Entry.ts"
import { instantText } from "../Reconcile/ReconcileScope.ts"
import { factsIfKnown, type Step } from "./Step.ts"

const columns = {
  code: text,
  period: text,
  number: int4,
  description: text,
  kind: text,
  effective_date: text,
  base_currency: text,
  valued_at: text,
  method: text,
  month_before: text,
  reverses: nullable(int4),
  resource_id: nullable(text),
  lines: jsonRows({ code: text, name: text, amount: text }),
}

/** `id`: its month and number, `2026-10 7`. */
export const baseEntry = Effect.fn("Explain.baseEntry")(function* (bookId: number, id: string) {
  const database = yield* Database
  const [period = "", number = ""] = id.split(" ")
  const rows = yield* database.rows(
    "Explain.baseEntry",
    columns,
    (sql) => sql`
      select b.code, to_char(v.period, 'YYYY-MM') as period, v.number, v.description, v.kind,
        v.effective_date::text as effective_date, m.base_currency, ${instantText(sql, sql`m.valued_at`)} as valued_at, m.method,
        to_char(v.period - interval '1 month', 'YYYY-MM') as month_before, v.reverses, v.resource_id,
        (select json_agg(json_build_object('code', coalesce(a.code, x.code), 'name', coalesce(a.name, x.name),
           'amount', p.amount::text) order by p.line_number)
         from valuation.postings p
         left join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
         left join valuation.accounts x on x.book_id = p.book_id and x.role = p.role and p.account_id is null
         where p.book_id = v.book_id and p.period = v.period and p.series = v.series and p.number = v.number) as lines
      from valuation.entries v
      join mirror.books b on b.book_id = v.book_id
      join valuation.months m on m.book_id = v.book_id and m.period = v.period
      where v.book_id = ${bookId} and v.series = 'fx' and v.period = ${`${period}-01`}::text::date
        and v.number = ${number}::text::integer`,
  )
  return rows.map((row): Step => {
    const series = `${row.code}-FX`
    return {
      title: `base-currency entry ${journalNumber(series, row.period, row.number)}`,
      facts: [
        ["description", row.description],
        ["kind", row.kind],
        ...row.lines.map(({ amount, code, name }): readonly [string, string] => {
          const debit = !amount.startsWith("-")
          const sum = printedSum(debit ? amount : amount.slice(1), row.base_currency)
          return [debit ? "debit" : "credit", `${sum}  ${code}  ${name}`]
        }),
        ["effective date", row.effective_date],
        ["valued", `${row.valued_at}, by ${row.method}`],
        ...factsIfKnown("conversion", row.resource_id),
        ...factsIfKnown(
          "reverses",
          row.reverses === null ? null : journalNumber(series, row.month_before, row.reverses),
        ),
      ],
    }
  })
})
