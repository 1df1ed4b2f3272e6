/** Statement entries as the service posted them. */
import { Effect, Schema } from "effect"
import { printedSum } from "../Common/AmountText.ts"
import { counted } from "../Common/Text.ts"
import type { Sql } from "../Database/Client.ts"
import { bool, int4, int8, jsonOf, nullable, numeric, type RowOf, text, uuid } from "../Database/Columns.ts"
import { textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import { type Fragment, instantText } from "../Reconcile/ReconcileScope.ts"
import { factsIfKnown, furtherSteps, runText, type Step } from "./Step.ts"

const columns = {
  entry_id: uuid,
  account_id: uuid,
  position: int8,
  type: text,
  amount: numeric,
  currency: text,
  balance_before: nullable(numeric),
  balance_after: numeric,
  related_type: nullable(text),
  related_id: nullable(uuid),
  occurred_at: text,
  extra: nullable(text),
  held: bool,
  runId: int4,
  command: nullable(text),
  startedAt: nullable(text),
  read_again: nullable(jsonOf(Schema.Array(Schema.String))),
}

type Row = RowOf<typeof columns>

const stepOf = (row: Row): Step => {
  const sum = (amount: string) => printedSum(amount, row.currency)
  const related =
    row.related_type === null ? null : `${row.related_type} ${row.related_id ?? "(without an identifier)"}`
  return {
    title: `statement entry ${row.entry_id}`,
    facts: [
      ["account", row.account_id],
      ["position", row.held ? "held back behind a gap, not booked" : row.position.toString()],
      ["moved", `${row.type} ${sum(row.amount)}`],
      ...factsIfKnown("balance before", row.balance_before === null ? null : sum(row.balance_before)),
      ["balance after", sum(row.balance_after)],
      ["names", related ?? "no resource"],
      ["occurred", `${row.occurred_at} (the service's time)`],
      ...factsIfKnown("read by", runText(row)),
      ...factsIfKnown("also sent", row.extra),
      ...(row.read_again ?? []).map((content) => ["later read as", content] as const),
    ],
  }
}

/** A statement entry that the explanation leads through. */
export interface Traced {
  readonly entryId: string
  readonly related: { readonly type: string; readonly id: string } | null
  readonly step: Step
}

/** The distinct resources that entries name. */
export const namedBy = (entries: ReadonlyArray<Traced>) => [
  ...new Map(
    entries.flatMap(({ related }) => (related === null ? [] : [[related.id, related] as const])),
  ).values(),
]

/** The most entries listed per resource, receivable or account. */
const shownEntries = 20

type Which =
  | { readonly ids: ReadonlyArray<string> }
  | { readonly resource: { readonly type: string; readonly id: string } }
  | { readonly lastOf: string }

const isOf = (sql: Sql, which: Which): Fragment => {
  if ("ids" in which) return sql`e.entry_id = any (${textArray(sql, which.ids)}::uuid[])`
  return "resource" in which
    ? sql`e.related_id = ${which.resource.id} and e.related_type = ${which.resource.type}`
    : sql`e.account_id = ${which.lastOf}`
}

/** By identifier, by resource (in posting order), or the last of an account (newest first). */
export const statementEntries = Effect.fn("Explain.statementEntries")(function* (
  bookId: number,
  which: Which,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Explain.statementEntries",
    columns,
    (sql) => sql`
      select e.entry_id, e.account_id, e.position, e.type, e.amount, e.currency, e.balance_before, e.balance_after,
        e.related_type, e.related_id, ${instantText(sql, sql`e.occurred_at`)} as occurred_at, e.extra::text as extra,
        e.held, e.run_id as "runId", r.command, ${instantText(sql, sql`r.started_at`)} as "startedAt",
        (select json_agg(c.content order by c.first_seen_at) from mirror.contradictions c
         where c.book_id = e.book_id and c.entry_id = e.entry_id) as read_again
      from mirror.statement_entries e
      left join sync.runs r on r.run_id = e.run_id
      where e.book_id = ${bookId} and ${isOf(sql, which)}
      order by ${"lastOf" in which ? sql`e.position desc` : sql`e.account_id, e.position`} limit ${shownEntries}`,
  )
  return rows.map(
    (row): Traced => ({
      entryId: row.entry_id,
      related:
        row.related_type === null || row.related_id === null
          ? null
          : { type: row.related_type, id: row.related_id },
      step: stepOf(row),
    }),
  )
})

/** A note of how many entries there are beside those that `statementEntries` lists. */
export const furtherEntries = Effect.fn("Explain.furtherEntries")(function* (
  bookId: number,
  which: Which,
  shown: ReadonlyArray<Traced>,
) {
  if (shown.length < shownEntries) return []
  const database = yield* Database
  const { total } = yield* database.row(
    "Explain.furtherEntries",
    { total: int8 },
    (sql) => sql`
      select count(*) as total from mirror.statement_entries e where e.book_id = ${bookId} and ${isOf(sql, which)}`,
  )
  const [order, of] =
    "lastOf" in which
      ? ["earlier", ` of account ${which.lastOf}`]
      : [
          "further",
          "resource" in which ? ` of ${which.resource.type.toLowerCase()} ${which.resource.id}` : "",
        ]
  return furtherSteps(
    total,
    shown.length,
    (number) => counted(number, `${order} statement entry${of}`, `${order} statement entries${of}`),
    [["to see one", "tieout explain with its identifier"]],
  )
})
