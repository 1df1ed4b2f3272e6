/**
 * Receivables as the credit surface reported them, every version, and the transactions that link them to cash. Versions
 * stand in the organization's book; the transactions in the book that the receivable is posted in.
 */
import { Effect, Option } from "effect"
import type { Book } from "../Book.ts"
import * as Money from "../Common/Money.ts"
import { uuid } from "../Database/Columns.ts"
import { columnsOf, plainArray, textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import type { Receivable, TransactionRef } from "../Partner.ts"

export interface PlacedReceivable {
  readonly receivable: Receivable
  /** The book that it is posted in. */
  readonly bookId: number
}

interface Linked {
  readonly bookId: number
  readonly receivableId: string
  readonly purpose: "disbursement" | "repayment"
  readonly transaction: TransactionRef
}

const linksOf = ({ bookId, receivable }: PlacedReceivable): ReadonlyArray<Linked> => {
  const linked = (purpose: Linked["purpose"]) => (transaction: TransactionRef) => ({
    bookId,
    receivableId: receivable.id,
    purpose,
    transaction,
  })
  return [
    ...Option.toArray(receivable.disbursedTransaction).map(linked("disbursement")),
    ...receivable.repaymentTransactions.map(linked("repayment")),
  ]
}

const made = Effect.gen(function* () {
  const database = yield* Database

  const putLinks = Effect.fn("Mirror.Receivables.putLinks")(function* (
    organization: Book,
    links: ReadonlyArray<Linked>,
  ) {
    if (links.length === 0) return
    yield* database.execute("Mirror.Receivables.putLinks", (sql) => {
      const { plain, text } = columnsOf(sql, links)
      return sql`
          insert into mirror.receivable_transactions (book_id, receivable_id, tx_id, version, purpose, tx_timestamp)
          select distinct on (1, 2, 3) t.book_id::integer, t.receivable_id::uuid, lower(t.tx_id), r.version, t.purpose,
            t.tx_timestamp::timestamptz
          from unnest(${plain(({ bookId }) => String(bookId))}, ${plain(({ receivableId }) => receivableId)},
            ${text(({ transaction }) => transaction.txId)}, ${plain(({ purpose }) => purpose)},
            ${plain(({ transaction }) => transaction.txTimestamp)})
            as t (book_id, receivable_id, tx_id, purpose, tx_timestamp)
          cross join lateral (
            select c.version from mirror.receivables c
            where c.book_id = ${organization.bookId} and c.receivable_id = t.receivable_id::uuid and c.current offset 0) r
          order by 1, 2, 3, 5, 6
          on conflict do nothing`
    })
  })

  /**
   * Part of the caller's transaction. A new version is kept only where the content changed. `servedAt` is the service's
   * clock, `readAt` ours, both ISO 8601. Gives how many versions are new.
   */
  const put = Effect.fn("Mirror.Receivables.put")(function* (
    organization: Book,
    runId: number,
    times: { readonly servedAt: string; readonly readAt: string },
    placed: ReadonlyArray<PlacedReceivable>,
  ) {
    const rows = [...new Map(placed.map((item) => [item.receivable.id, item])).values()]
    if (rows.length === 0) return 0
    const ids = rows.map(({ receivable }) => receivable.id)
    const raws = rows.map(({ receivable }) => receivable.raw)
    // Two statements, since the partial unique index requires the old version to be marked before the new one is inserted. Each
    // receivable is looked up by its key (`offset 0`): a plan that a session made before there were many would compare it with all.
    yield* database.execute(
      "Mirror.Receivables.supersede",
      (sql) => sql`
          update mirror.receivables set current = false
          where ctid = any (array(
            select k.ctid from unnest(${plainArray(sql, ids)}, ${textArray(sql, raws)}) as t (id, raw)
            cross join lateral (
              select r.ctid from mirror.receivables r
              where r.book_id = ${organization.bookId} and r.receivable_id = t.id::uuid and r.current
                and r.raw::jsonb <> t.raw::jsonb offset 0) k))`,
    )
    const added = yield* database.rows("Mirror.Receivables.put", { receivable_id: uuid }, (sql) => {
      const { plain, text } = columnsOf(
        sql,
        rows.map(({ receivable }) => receivable),
      )
      return sql`
          insert into mirror.receivables (book_id, receivable_id, version, current, client_id, status, currency,
            payment_rails, issue_date, initial_principal, current_principal, repayment_amount, raw, served_at, read_at,
            run_id)
          select ${organization.bookId}, t.id::uuid,
            1 + coalesce((select max(o.version) from mirror.receivables o
                          where o.book_id = ${organization.bookId} and o.receivable_id = t.id::uuid), 0),
            true, t.client_id::uuid, t.status, t.currency, t.payment_rails, t.issue_date::timestamptz,
            t.initial_principal::numeric, t.current_principal::numeric, t.repayment_amount::numeric, t.raw::json,
            ${times.servedAt}, ${times.readAt}, ${runId}
          from unnest(${plain((item) => item.id)}, ${plain((item) => item.clientId)}, ${text((item) => item.status)},
            ${plain((item) => item.currency)}, ${text((item) => item.paymentRails)}, ${plain((item) => item.issueDate)},
            ${plain((item) => Money.toText(item.initialPrincipal))},
            ${plain((item) => Money.toText(item.currentPrincipal))},
            ${plain((item) => Money.toText(item.repaymentAmount))}, ${textArray(sql, raws)})
            as t (id, client_id, status, currency, payment_rails, issue_date, initial_principal, current_principal,
              repayment_amount, raw)
          where not exists (select 1 from mirror.receivables c
                            where c.book_id = ${organization.bookId} and c.receivable_id = t.id::uuid and c.current
                            offset 0)
          returning receivable_id`
    })
    const fresh = new Set(added.map(({ receivable_id: id }) => id))
    yield* putLinks(organization, rows.filter(({ receivable }) => fresh.has(receivable.id)).flatMap(linksOf))
    return added.length
  })

  /**
   * Part of the caller's transaction: the list was read completely, and shows these. Receivables that nothing is owed of may
   * leave it.
   */
  const listed = Effect.fn("Mirror.Receivables.listed")(function* (
    organization: Book,
    ids: ReadonlySet<string>,
  ) {
    yield* database.execute(
      "Mirror.Receivables.listed",
      (sql) => sql`
          update mirror.receivables r set unlisted_since = case when r.unlisted_since is null then now() end,
            last_listed_at = case when r.unlisted_since is null then (
              select s.began_at from sync.stream_reads s where s.book_id = r.book_id and s.stream = 'receivables') end
          -- Those of which it is another than before.
          where r.ctid = any (array(
            select v.ctid from mirror.receivables v
            where v.book_id = ${organization.bookId} and v.current and v.status = 'ACTIVE'
              and (v.unlisted_since is not null) = (v.receivable_id::text in (select lower(i) from unnest(${textArray(sql, [...ids])}) i))))`,
    )
  })

  return { put, listed }
})

export class Receivables extends Effect.Service<Receivables>()("tieout/Mirror/Receivables", {
  effect: made,
}) {
  static readonly made = Effect.map(made, (parts) => new Receivables(parts))
}
