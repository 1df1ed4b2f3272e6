/** A payment's external reference, as a file may have it. */
import { Effect } from "effect"
import type { PendingQuery, Row } from "postgres"
import type { Sql } from "../Database/Client.ts"
import { int4, nullable, type RowOf, text, uuid } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { journalNumber } from "../Format/Entry.ts"
import { planFreely } from "../Reconcile/Planning.ts"
import { factsIfKnown, type Step } from "./Step.ts"

const columns = {
  code: text,
  period: text,
  number: int4,
  description: text,
  effectiveDate: text,
  externalReference: text,
  counterparty: nullable(text),
  resourceId: nullable(uuid),
}
type Found = RowOf<typeof columns>

/** Entries shown: a remitter may write the same on every payment. */
const shown = 20

const stepOf = (row: Found): Step => ({
  title: `external reference ${row.externalReference}`,
  facts: [
    ["journal entry", journalNumber(row.code, row.period, row.number)],
    ["description", row.description],
    ["effective date", row.effectiveDate],
    ...factsIfKnown("counterparty", row.counterparty),
    ...factsIfKnown("resource", row.resourceId),
  ],
})

/**
 * A file has it without the start of a formula, without line breaks and without a UUID's hyphens, so only letters and digits
 * count.
 */
const bare = (sql: Sql, reference: PendingQuery<Row[]>): PendingQuery<Row[]> =>
  sql`regexp_replace(lower(${reference}), '[^[:alnum:]]', '', 'g')`

/** The fewest characters that a format cuts a reference to. */
const leastCut = 35

/**
 * The entries with that reference, the latest first, and the movement if they all belong to one. There is no index for it,
 * since nothing else searches for references: all entries are read, after nothing else was found by that name.
 */
export const referenceEntries = Effect.fn("Explain.referenceEntries")(function* (typed: string) {
  const database = yield* Database
  const wanted = typed.trim()
  if (!/[\p{L}\p{N}]/u.test(wanted)) return { steps: [], movement: null }
  yield* planFreely(database)
  const rows = yield* database.rows(
    "Explain.referenceEntries",
    columns,
    (sql) => sql`
      select b.code, to_char(n.period, 'YYYY-MM') as period, n.number, e.description,
        e.effective_date::text as "effectiveDate", e.external_reference as "externalReference", e.counterparty,
        e.resource_id as "resourceId"
      from ledger.journal_entries e
      join mirror.books b on b.book_id = e.book_id
      join ledger.journal_numbers n on n.book_id = e.book_id and n.entry_id = e.entry_id
      where e.external_reference is not null and (
        ${bare(sql, sql`e.external_reference`)} = ${bare(sql, sql`${wanted}::text`)}
        or (length(${wanted}::text) >= ${leastCut}
          and starts_with(${bare(sql, sql`e.external_reference`)}, ${bare(sql, sql`${wanted}::text`)})))
      order by n.period desc, n.number desc, b.code limit ${shown + 1}`,
  )
  const [first] = rows
  const isOne = new Set(rows.map(({ code, resourceId }) => `${code} ${resourceId}`)).size === 1
  return {
    steps: [
      ...rows.slice(0, shown).map(stepOf),
      ...(rows.length > shown ? [{ title: "and earlier entries", facts: [] } satisfies Step] : []),
    ],
    /** The identifier of the one movement that has it. */
    movement: isOne ? (first?.resourceId ?? null) : null,
  }
})
