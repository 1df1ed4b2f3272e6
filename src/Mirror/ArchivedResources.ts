/**
 * Deposits, withdrawals and conversions that are archived. The service still lists them, but a later read stores nothing of
 * them, unless it reports other amounts or accounts: that is a contradiction.
 */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import type { Book } from "../Book.ts"
import { traced } from "../Common/Effects/Traced.ts"
import { bool, text, uuid } from "../Database/Columns.ts"
import { plainArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import type { Resource } from "../Partner.ts"
import { toRow } from "./ResourceRow.ts"

const nothing: ReadonlySet<string> = new Set()

const made = Effect.gen(function* () {
  const database = yield* Database
  const archiving = new Map<number, boolean>()
  let isAnywhere = true

  /**
   * Whether anything of the book is archived. Asked once a run, since nothing is archived while a run holds the connection; and
   * of no other book where nothing is archived at all.
   */
  const any = traced("Mirror.ArchivedResources.any")(function* ({ bookId }: Book) {
    if (!isAnywhere) return false
    const known = archiving.get(bookId)
    if (known !== undefined) return known
    const { anywhere, some } = yield* database.row(
      "Mirror.ArchivedResources.any",
      { some: bool, anywhere: bool },
      (sql) => sql`
          select exists (select 1 from ledger.archives where book_id = ${bookId}) as some,
            exists (select 1 from ledger.archives) as anywhere`,
    )
    archiving.set(bookId, some)
    isAnywhere = anywhere
    return some
  })

  /** The archived ones among `ids`, as `type|id`. */
  const among = traced("Mirror.ArchivedResources.among")(function* (book: Book, ids: ReadonlyArray<string>) {
    if (ids.length === 0 || !(yield* any(book))) return nothing
    const rows = yield* database.rows(
      "Mirror.ArchivedResources.among",
      { id: uuid, type: text },
      (sql) => sql`
          select resource_id as id, resource_type as type from mirror.archived_resources
          where book_id = ${book.bookId} and resource_id = any (${plainArray(sql, ids, "uuid")})`,
    )
    return new Set(rows.map(({ id, type }) => `${type}|${id}`))
  })

  /** Part of the caller's transaction: keeps readings of archived resources that differ from what was archived. */
  const contradict = traced("Mirror.ArchivedResources.contradict")(function* (
    book: Book,
    runId: number,
    read: ReadonlyArray<Resource>,
  ) {
    if (read.length === 0) return
    const rows = read.map((resource) => {
      const { raw, ...row } = toRow(resource)
      const content = `{"resource":"${resource.resourceType}","said":${raw}}`
      return { ...row, content, content_digest: createHash("sha256").update(content).digest("hex") }
    })
    yield* database.execute(
      "Mirror.ArchivedResources.contradict",
      (sql) => sql`
          insert into mirror.contradictions (book_id, entry_id, account_id, content, digest, run_id)
          select ${book.bookId}, n.resource_id, n.account_id, n.content, n.content_digest, ${runId}
          from json_to_recordset(${JSON.stringify(rows)}::text::json) as n (resource_id uuid, resource_type text, status text,
            account_id uuid, currency text, amount numeric, fee numeric, fee_currency text, delivered numeric,
            buy_account_id uuid, buy_currency text, buy_amount numeric, content text, content_digest text)
          join mirror.archived_resources a on a.book_id = ${book.bookId} and a.resource_id = n.resource_id
            and a.resource_type = n.resource_type
          where a.digest <> mirror.resource_digest(n.status, n.account_id, n.currency, n.amount, n.fee, n.fee_currency,
            n.delivered, n.buy_account_id, n.buy_currency, n.buy_amount)
          on conflict do nothing`,
    )
  })

  return { among, contradict }
})

export class ArchivedResources extends Effect.Service<ArchivedResources>()(
  "tieout/Mirror/ArchivedResources",
  { effect: made },
) {
  static readonly made = Effect.map(made, (parts) => new ArchivedResources(parts))
}
