/** Journal entries with their lines and numbers. */
import { Effect } from "effect"
import { printedSum } from "../Common/AmountText.ts"
import { int4, int8, jsonRows, nullable, type RowOf, text, uuid } from "../Database/Columns.ts"
import { textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import { journalNumber } from "../Format/Entry.ts"
import { versionOfSequence } from "../Ledger/Receivables/Receivable.ts"
import { instantText } from "../Reconcile/ReconcileScope.ts"
import { factsIfKnown, runText, type Step } from "./Step.ts"

const columns = {
  entry_id: int8,
  code: text,
  period: nullable(text),
  number: nullable(int4),
  source_type: text,
  source_id: uuid,
  kind: text,
  sequence: int4,
  description: text,
  effective_date: text,
  occurred_at: text,
  recorded_at: text,
  late_for: nullable(text),
  external_reference: nullable(text),
  reverses_period: nullable(text),
  reverses_number: nullable(int4),
  runId: nullable(int4),
  command: nullable(text),
  startedAt: nullable(text),
  lines: jsonRows({ code: text, name: text, currency: text, amount: text }),
  valued: nullable(
    jsonRows({
      ...{ code: text, name: text, currency: text, amount: text, basis: nullable(text) },
      ...{ rate: nullable(text), date: nullable(text), source: nullable(text) },
    }),
  ),
}

type Row = RowOf<typeof columns>

/** The source of a journal entry: a statement entry, an account (opening balance), a conversion or a receivable. */
export interface Source {
  readonly sourceType: string
  readonly sourceId: string
  /** The version of a receivable; otherwise 0. */
  readonly version: number
}

const versionOf = ({ sequence, source_type: type }: Row): number =>
  type === "receivable_version" ? versionOfSequence(sequence) : 0

const kindText = (row: Row): string => {
  if (versionOf(row) > 0) return `${row.kind} (version ${versionOf(row)})`
  return row.sequence === 0 ? row.kind : `${row.kind} (${row.sequence})`
}

const lineText = ({ amount, code, currency, name }: Row["lines"][number]): readonly [string, string] => {
  const debit = !amount.startsWith("-")
  return [
    debit ? "debit" : "credit",
    `${printedSum(debit ? amount : amount.slice(1), currency)}  ${code}  ${name}`,
  ]
}

/** By `Basis`: how a line's value in the base currency was found. */
const bases: Readonly<Record<string, string>> = {
  face: "as it is",
  price: "at the price paid",
  cost: "at cost",
  carrying: "at its carrying amount",
  proportion: "in proportion",
}

/** A line of the entry in the base-currency journal, which has more: the gain or loss, and what rounding leaves. */
const valuedText = ({ basis, date, rate, source, ...line }: NonNullable<Row["valued"]>[number]) => {
  const [side, sum] = lineText(line)
  const how = [bases[basis ?? ""] ?? [], rate === null ? [] : `at ${rate} of ${date} (${source})`].flat()
  return [`${side} in ${line.currency}`, [sum, ...how].join(", ")] as const
}

const stepOf = (row: Row): Step => {
  const { code, number, period, reverses_number, reverses_period } = row
  const name =
    number === null || period === null ? "without a number yet" : journalNumber(code, period, number)
  const reverses =
    reverses_number === null || reverses_period === null
      ? null
      : journalNumber(code, reverses_period, reverses_number)
  return {
    title: `journal entry ${name}`,
    facts: [
      ["description", row.description],
      ["kind", kindText(row)],
      ...row.lines.map(lineText),
      ...(row.valued ?? []).map(valuedText),
      ["effective date", row.effective_date],
      ...factsIfKnown("late for", row.late_for),
      ["occurred", `${row.occurred_at} (the service's time)`],
      ["recorded", row.recorded_at],
      ...factsIfKnown("by", runText(row)),
      ...factsIfKnown("external reference", row.external_reference),
      ...factsIfKnown("reverses", reverses),
      ["from", `${row.source_type.replaceAll("_", " ")} ${row.source_id}`],
    ],
  }
}

/** Either one entry, or all entries of the sources in order, reclassifications included. */
export const journalEntries = Effect.fn("Explain.journalEntries")(function* (
  bookId: number,
  which: { readonly entryId: string } | { readonly sources: ReadonlyArray<string> },
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Explain.journalEntries",
    columns,
    (sql) => sql`
      select j.entry_id, b.code, to_char(n.period, 'YYYY-MM') as period, n.number, j.source_type, j.source_id, j.kind,
        j.sequence, j.description, j.effective_date::text as effective_date,
        ${instantText(sql, sql`j.occurred_at`)} as occurred_at, ${instantText(sql, sql`j.recorded_at`)} as recorded_at,
        to_char(j.late_for, 'YYYY-MM') as late_for, j.external_reference,
        to_char(v.period, 'YYYY-MM') as reverses_period, v.number as reverses_number,
        j.run_id as "runId", r.command, ${instantText(sql, sql`r.started_at`)} as "startedAt",
        (select json_agg(json_build_object('code', a.code, 'name', a.name, 'currency', p.currency,
           'amount', p.amount::text) order by p.line_number)
         from ledger.postings p
         join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
         where p.book_id = j.book_id and p.entry_id = j.entry_id) as lines,
        (select json_agg(json_build_object('code', coalesce(a.code, x.code), 'name', coalesce(a.name, x.name),
           'currency', m.base_currency, 'amount', p.amount::text, 'basis', p.basis, 'rate', p.rate, 'date', p.rate_date::text,
           'source', p.rate_source) order by p.line_number)
         from valuation.months m
         join valuation.postings p on p.book_id = m.book_id and p.period = m.period and p.series = 'journal'
         left join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
         left join valuation.accounts x on x.book_id = p.book_id and x.role = p.role and p.account_id is null
         where m.book_id = n.book_id and m.period = n.period and m.state is not null and p.number = n.number) as valued
      from ledger.journal_entries j
      join mirror.books b on b.book_id = j.book_id
      left join ledger.journal_numbers n on n.book_id = j.book_id and n.entry_id = j.entry_id
      left join ledger.journal_numbers v on v.book_id = j.book_id and v.entry_id = j.reverses
      left join sync.runs r on r.run_id = j.run_id
      where j.book_id = ${bookId} and ${
        "entryId" in which
          ? sql`j.entry_id = ${which.entryId}::text::bigint`
          : sql`j.source_id = any (${textArray(sql, which.sources)}::uuid[])`
      }
      order by j.occurred_at, j.partner_account_id, j.position, j.source_type, j.sequence, j.correction`,
  )
  return rows.map((row) => ({
    entryId: row.entry_id.toString(),
    source: {
      sourceType: row.source_type,
      sourceId: row.source_id,
      version: versionOf(row),
    } satisfies Source,
    step: stepOf(row),
  }))
})
