/** Pairs, rails, address book entries, clients, credit accounts: a new version is kept only where the content changed. */
import { Effect, Option } from "effect"
import type { Book } from "../Book.ts"
import { traced } from "../Common/Effects/Traced.ts"
import { text } from "../Database/Columns.ts"
import { textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import type { ReferenceItem } from "../Partner.ts"

const made = Effect.gen(function* () {
  const database = yield* Database

  /** Part of the caller's transaction. */
  const put = Effect.fn("Mirror.ReferenceItems.put")(function* (
    book: Book,
    runId: number,
    kind: string,
    readAt: string,
    items: ReadonlyArray<ReferenceItem>,
  ) {
    const rows = [...new Map(items.map((item) => [item.id, item])).values()]
    if (rows.length === 0) return
    const ids = rows.map((item) => item.id)
    const raws = rows.map((item) => item.raw)
    const labels = rows.map((item) => Option.getOrNull(item.label))
    // Two statements, since the partial unique index requires the old version to be marked before the new one is inserted. Each
    // item is looked up by its key (`offset 0`): a plan that a session made before there were many would compare it with all.
    const changed = yield* database.rows(
      "Mirror.ReferenceItems.supersede",
      { item_id: text },
      (sql) => sql`
          update mirror.reference_items set current = false
          where ctid = any (array(
            select k.ctid from unnest(${textArray(sql, ids)}, ${textArray(sql, raws)}) as t (item_id, raw)
            cross join lateral (
              select r.ctid from mirror.reference_items r
              where r.book_id = ${book.bookId} and r.kind = ${kind} and r.item_id = t.item_id and r.current
                and r.raw::jsonb <> t.raw::jsonb offset 0) k))
          returning item_id`,
    )
    yield* database.execute(
      "Mirror.ReferenceItems.put",
      (sql) => sql`
          insert into mirror.reference_items (book_id, kind, item_id, version, current, label, raw, read_at, run_id)
          select ${book.bookId}, ${kind}, t.item_id,
            1 + coalesce((select max(r.version) from mirror.reference_items r
                          where r.book_id = ${book.bookId} and r.kind = ${kind} and r.item_id = t.item_id), 0),
            true, t.label, t.raw::json, ${readAt}, ${runId}
          from unnest(${textArray(sql, ids)}, ${textArray(sql, labels)}, ${textArray(sql, raws)}) as t (item_id, label, raw)
          where not exists (select 1 from mirror.reference_items r
                            where r.book_id = ${book.bookId} and r.kind = ${kind} and r.item_id = t.item_id
                              and r.current offset 0)`,
    )
    return changed.length
  })

  /** The items that are new or changed: mostly none, and then no transaction is needed. */
  const news = traced("Mirror.ReferenceItems.news")(function* (
    book: Book,
    kind: string,
    items: ReadonlyArray<ReferenceItem>,
  ) {
    if (items.length === 0) return []
    const rows = yield* database.rows(
      "Mirror.ReferenceItems.news",
      { item_id: text },
      (sql) => sql`
          select t.item_id from unnest(${textArray(
            sql,
            items.map((item) => item.id),
          )}, ${textArray(
            sql,
            items.map((item) => item.raw),
          )}) as t (item_id, raw)
          where not exists (
            select from mirror.reference_items r
            where r.book_id = ${book.bookId} and r.kind = ${kind} and r.item_id = t.item_id and r.current
              and (r.raw::text = t.raw or r.raw::jsonb = t.raw::jsonb) offset 0)`,
    )
    const ids = new Set(rows.map(({ item_id: id }) => id))
    return items.filter(({ id }) => ids.has(id))
  })

  return { put, news }
})

export class ReferenceItems extends Effect.Service<ReferenceItems>()("tieout/Mirror/ReferenceItems", {
  effect: made,
}) {
  static readonly made = Effect.map(made, (parts) => new ReferenceItems(parts))
}
