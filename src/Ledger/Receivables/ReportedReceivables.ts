/** The receivables as the service reported them, in the versions that a book follows. */
import { Effect, Option } from "effect"
import type { Book } from "../../Book.ts"
import * as Money from "../../Common/Money.ts"
import { int4, nullable, numeric, type RowOf, text, uuid } from "../../Database/Columns.ts"
import { textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import { ownVersions, type StatedVersion } from "./OwnVersions.ts"
import type { ReportedReceivable } from "./ReceivableCash.ts"

const versionColumns = {
  receivable_id: uuid,
  version: int4,
  client_id: uuid,
  status: text,
  currency: text,
  issued_at: text,
  initial_principal: numeric,
  current_principal: numeric,
  repayment_amount: numeric,
  served_at: text,
  counterparty: nullable(text),
}

type VersionRow = RowOf<typeof versionColumns>

const versionOf = (row: VersionRow): StatedVersion => ({
  version: row.version,
  clientId: row.client_id,
  currency: row.currency,
  status: row.status,
  initialPrincipal: Money.fromTrusted(row.initial_principal),
  currentPrincipal: Money.fromTrusted(row.current_principal),
  repaymentAmount: Money.fromTrusted(row.repayment_amount),
  servedAt: row.served_at,
})

/**
 * The versions of the receivables that a book follows: its client's, where they stand in the client's book. `counterparty` is the
 * client's legal name: on whose account the receivable is.
 */
export const reportedReceivables = Effect.fn("Ledger.reportedReceivables")(function* (
  organization: Book,
  ids: ReadonlyArray<string>,
  client: Option.Option<string>,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Ledger.reportedReceivables",
    versionColumns,
    (sql) => sql`
      select v.receivable_id, v.version, v.client_id, v.status, v.currency, v.initial_principal, v.current_principal,
        v.repayment_amount, to_char(v.served_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as served_at,
        to_char(v.issue_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as issued_at,
        (select c.label from mirror.reference_items c
         where c.book_id = v.book_id and c.kind = 'client' and c.item_id = v.client_id::text and c.current)
          as counterparty
      from mirror.receivables v
      where v.book_id = ${organization.bookId} and v.receivable_id = any (${textArray(sql, ids)}::uuid[])
      order by v.receivable_id, v.version`,
  )
  const receivables = new Map<string, Array<VersionRow>>()
  for (const row of rows) {
    const known = receivables.get(row.receivable_id)
    if (known === undefined) receivables.set(row.receivable_id, [row])
    else known.push(row)
  }
  return [...receivables].flatMap(([receivableId, stated]): ReadonlyArray<ReportedReceivable> => {
    const { currency, versions } = ownVersions(stated.map(versionOf), client)
    const first = stated.find(({ version }) => version === versions[0]?.version)
    if (first === undefined) return []
    return [
      {
        receivableId,
        currency,
        counterparty: Option.fromNullable(first.counterparty),
        issuedAt: first.issued_at,
        versions,
      },
    ]
  })
})
