/** A deposit, withdrawal or conversion in all its versions, each as the service sent it. */
import { Effect } from "effect"
import { printedSum } from "../Common/AmountText.ts"
import { int4, nullable, numeric, type RowOf, text, uuid } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { instantText } from "../Reconcile/ReconcileScope.ts"
import { factsIfKnown, runText, type Step } from "./Step.ts"

const columns = {
  status: text,
  reason_code: nullable(text),
  account_id: uuid,
  currency: text,
  amount: numeric,
  fee: nullable(numeric),
  fee_currency: nullable(text),
  buy_account_id: nullable(uuid),
  buy_currency: nullable(text),
  buy_amount: nullable(numeric),
  rate: nullable(numeric),
  external_reference: nullable(text),
  created_at: text,
  completed_at: nullable(text),
  version: int4,
  changed_at: text,
  read_at: text,
  raw: text,
  run_id: int4,
  command: nullable(text),
  started_at: nullable(text),
}

type Row = RowOf<typeof columns>

const versionColumns = {
  version: int4,
  status: nullable(text),
  changed_at: text,
  superseded_at: text,
  raw: text,
}

type VersionRow = RowOf<typeof versionColumns>

const optionalSum = (amount: string | null, currency: string | null): string | null =>
  amount === null || currency === null ? null : printedSum(amount, currency)

const currentStep = (name: string, row: Row): Step => ({
  title: name,
  facts: [
    ["status", row.reason_code === null ? row.status : `${row.status} (${row.reason_code})`],
    ["amount", printedSum(row.amount, row.currency)],
    ...factsIfKnown("fee", optionalSum(row.fee, row.fee_currency)),
    ["account", row.account_id],
    ...factsIfKnown("buys", optionalSum(row.buy_amount, row.buy_currency)),
    ...factsIfKnown("for account", row.buy_account_id),
    ...factsIfKnown("rate", row.rate),
    ...factsIfKnown("external reference", row.external_reference),
    ["created", `${row.created_at} (the service's time)`],
    ...factsIfKnown("completed", row.completed_at),
    ["version", `${row.version}, first read ${row.changed_at}`],
    ["last read", row.read_at],
    ...factsIfKnown("read by", runText(row)),
    ["as sent", row.raw],
  ],
})

const earlierStep = (name: string, row: VersionRow): Step => ({
  title: `${name}, version ${row.version}`,
  facts: [
    ...factsIfKnown("status", row.status),
    ["read", `${row.changed_at} to ${row.superseded_at}`],
    ["as sent", row.raw],
  ],
})

const earlier = Effect.fn("Explain.resourceVersions")(function* (bookId: number, type: string, id: string) {
  const database = yield* Database
  return yield* database.rows(
    "Explain.resourceVersions",
    versionColumns,
    (sql) => sql`
      select v.version, v.raw ->> 'status' as status, v.raw::text as raw,
        ${instantText(sql, sql`v.changed_at`)} as changed_at, ${instantText(sql, sql`v.superseded_at`)} as superseded_at
      from mirror.resource_versions v
      where v.book_id = ${bookId} and v.resource_id = ${id} and v.resource_type = ${type}
      order by v.version desc`,
  )
})

const missing = Effect.fn("Explain.missingResource")(function* (bookId: number, type: string, id: string) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Explain.missingResource",
    { tries: int4, first_missed_at: text },
    (sql) => sql`
      select m.tries, ${instantText(sql, sql`m.first_missed_at`)} as first_missed_at from mirror.missing_resources m
      where m.book_id = ${bookId} and m.resource_id = ${id} and m.resource_type = ${type}`,
  )
  return rows.map(
    (row): Step => ({
      title: `${type.toLowerCase()} ${id}`,
      facts: [
        [
          "status",
          "not known: the service answers that there is none, or what it sent could not be understood",
        ],
        ["asked", row.tries === 1 ? "once" : `${row.tries} times`],
        ["since", row.first_missed_at],
      ],
    }),
  )
})

/** The resource as it is now, then its earlier versions, newest first; or that it is missing. `type` in upper case. */
export const resource = Effect.fn("Explain.resource")(function* (bookId: number, type: string, id: string) {
  const database = yield* Database
  const name = `${type.toLowerCase()} ${id}`
  const rows = yield* database.rows(
    "Explain.resource",
    columns,
    (sql) => sql`
      select s.status, s.reason_code, s.account_id, s.currency, s.amount, s.fee, s.fee_currency, s.buy_account_id,
        s.buy_currency, s.buy_amount, s.rate, s.external_reference, s.version, s.raw::text as raw, s.run_id, r.command,
        ${instantText(sql, sql`r.started_at`)} as started_at, ${instantText(sql, sql`s.created_at`)} as created_at,
        ${instantText(sql, sql`s.completed_at`)} as completed_at, ${instantText(sql, sql`s.changed_at`)} as changed_at,
        ${instantText(sql, sql`s.read_at`)} as read_at
      from mirror.resources s left join sync.runs r on r.run_id = s.run_id
      where s.book_id = ${bookId} and s.resource_id = ${id} and s.resource_type = ${type}`,
  )
  const [row] = rows
  if (row === undefined) return yield* missing(bookId, type, id)
  const versions = yield* earlier(bookId, type, id)
  return [currentStep(name, row), ...versions.map((version) => earlierStep(name, version))]
})
