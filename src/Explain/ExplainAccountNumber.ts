/** An account of the books, by what the chart, an account mapping or the general ledger detail calls it. */
import { Effect } from "effect"
import { counted } from "../Common/Text.ts"
import { arrayOf, nullable, type RowOf, text, uuid } from "../Database/Columns.ts"
import { plainArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import { possibleNumbers } from "../Format/GlDetail/AccountNumbers.ts"
import { targetColumns } from "../Format/Targets.ts"
import { factsIfKnown, type Step } from "./Step.ts"

const columns = {
  book: text,
  code: text,
  name: text,
  role: text,
  currency: text,
  partnerAccountId: nullable(uuid),
  /** Columns of the mapping that hold exactly this text. */
  called: arrayOf(text),
}
type Row = RowOf<typeof columns>

/** How many accounts are shown: every client's book may have one with the same code. */
const shown = 20

const stepOf = ({ book, called, code, currency, name, partnerAccountId, role }: Row): Step => ({
  title: `account ${code} ${name} of ${book}`,
  facts: [
    ["role", role],
    ["currency", currency],
    ...(called.length === 0 ? [] : [["called so by", called.join(", ")] as const]),
    ...factsIfKnown("the service's account", partnerAccountId),
    ["its postings", `tieout register ${code} --book ${book}`],
  ],
})

/** Empty if no account has that name. Case does not matter. */
export const accountNumber = Effect.fn("Explain.accountNumber")(function* (typed: string) {
  const database = yield* Database
  const wanted = typed.trim().toUpperCase()
  const rows = yield* database.rows(
    "Explain.accountNumber",
    columns,
    (sql) => sql`
      with called as materialized (
        select n.book_id, r ->> 'role' as role, r ->> 'currency' as currency, r ->> 'code' as code, r ->> 'name' as name,
          r ->> 'partnerAccountId' as of, array_agg(cell.key order by cell.key) as columns
        from (
          select distinct on (m.book_id) m.book_id, m.accounts from export.account_mappings m
          order by m.book_id, m.version desc) n
        cross join lateral json_array_elements(n.accounts) r
        cross join lateral json_each_text(r) cell
        where ${wanted} in (upper(cell.value), mirror.upper_ascii(cell.value)) and cell.key = any(${plainArray(sql, targetColumns)})
        group by 1, 2, 3, 4, 5, 6)
      select b.code as book, a.code, a.name, a.role, a.currency, a.partner_account_id as "partnerAccountId",
        coalesce(c.columns, '{}') as called
      from (
        select o.book_id, o.code, o.name, o.role, o.currency, o.partner_account_id, o.rule_code from ledger.accounts o
        union all
        select v.book_id, v.code, v.name, v.role, v.currency, null, '' from valuation.accounts v) a
      join mirror.books b on b.book_id = a.book_id
      -- As renamedRows has it: the mapping may know the account by a name that it had before.
      left join called c on c.book_id = a.book_id and c.role = a.role and c.currency = a.currency
        and ((c.code = a.code and c.name = a.name and not exists (
            select from ledger.accounts s where s.book_id = c.book_id and s.currency = c.currency
              and s.partner_account_id::text = c.of and (s.code, s.name) <> (a.code, a.name)))
          or c.of = a.partner_account_id::text
          or (a.partner_account_id is null and (a.rule_code = '' or c.code = a.code)))
      where c.columns is not null or ${wanted} in (upper(a.code), upper(a.name))
        or ${wanted} in (mirror.upper_ascii(a.code), mirror.upper_ascii(a.name))
        or starts_with(${wanted}, upper(a.code || '-' || a.currency))
        or starts_with(${wanted}, mirror.upper_ascii(a.code || '-' || a.currency))
      order by b.code, a.code collate "C", a.name collate "C", a.currency collate "C"`,
  )
  const found = rows.filter(
    (row) =>
      row.called.length > 0 ||
      [row.code, row.name, ...possibleNumbers(row)].some((one) => one.toUpperCase() === wanted),
  )
  const more = found.length - shown
  return [
    ...found.slice(0, shown).map(stepOf),
    ...(more > 0 ? [{ title: `and ${counted(more, "account")} more`, facts: [] } satisfies Step] : []),
  ]
})
