/** Deposits, withdrawals and conversions as last read. A new version is kept only where the content changed. */
import { Effect } from "effect"
import type { PendingQuery, Row } from "postgres"
import type { Book } from "../Book.ts"
import { traced } from "../Common/Effects/Traced.ts"
import { nowByUs } from "../Common/Time.ts"
import type { Sql } from "../Database/Client.ts"
import { bool, float8, text, uuid } from "../Database/Columns.ts"
import { columnsOf, plainArray, textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import type { Resource } from "../Partner.ts"
import { fromRow, isFinal, type ResourceRow, resourceColumns, toRow } from "./ResourceRow.ts"

/** A mirrored resource, and whether it was read since a point in time. */
export interface KnownResource {
  readonly resource: Resource
  readonly final: boolean
  readonly fresh: boolean
  /** When it was last read, our clock, epoch milliseconds; 0 where that lies ahead, by a clock that was set back since. */
  readonly readAt: number
}

const knownColumns = { ...resourceColumns, final: bool, fresh: bool, readAt: float8 }

const selected = Object.keys(resourceColumns)

const written = [...selected, "raw"]

const keyColumns = { resource_id: uuid, resource_type: text }

const keyOf = ({ id, resourceType }: Resource): string => `${id}|${resourceType}`

/** One row per resource, the one that was read last: one upsert statement must not hold two rows with the same key. */
const latestOfEach = (resources: ReadonlyArray<Resource>): ReadonlyArray<Resource> => {
  const byKey = new Map(resources.map((resource) => [keyOf(resource), resource]))
  // In key order, so that two transactions with the same resources cannot deadlock.
  return [...byKey.keys()].sort().flatMap((key) => byKey.get(key) ?? [])
}

/** Resources as rows of SQL: the columns in `written`, then `final`. */
const rowsOf = (sql: Sql, resources: ReadonlyArray<Resource>) => {
  const rows = resources.map(toRow)
  const text = (name: keyof ResourceRow) =>
    textArray(
      sql,
      rows.map((row) => row[name]),
    )
  const plain = (name: keyof ResourceRow, type: "text" | "uuid" | "numeric" | "timestamptz" = "text") =>
    plainArray(
      sql,
      rows.map((row) => row[name]),
      type,
    )
  const final = plainArray(
    sql,
    resources.map((resource) => String(isFinal(resource))),
    "bool",
  )
  // JSON already: as one document it needs no quoting, which for this column would cost the most.
  const raws = `[${rows.map((row) => row.raw).join(",")}]`
  return sql`
    select ${sql(written)}, final
    from rows from (
      unnest(${plain("resource_type")}, ${plain("resource_id", "uuid")}, ${text("status")}, ${plain("form")},
        ${plain("account_id", "uuid")}, ${text("account_rail")}, ${plain("currency")}, ${plain("amount", "numeric")},
        ${plain("fee", "numeric")}, ${plain("fee_currency")}, ${plain("delivered", "numeric")},
        ${plain("buy_account_id", "uuid")}, ${text("buy_account_rail")}, ${plain("buy_currency")},
        ${plain("buy_amount", "numeric")}, ${plain("rate", "numeric")}, ${plain("pair_id", "uuid")},
        ${text("reason_code")}, ${text("external_reference")}, ${text("counterparty")}, ${text("reference")},
        ${text("destination_id")}, ${text("code")}, ${text("transaction_hash")},
        ${plain("created_at", "timestamptz")}, ${plain("completed_at", "timestamptz")}, ${final}),
      json_array_elements(${raws}::text::json))
    as t (${sql(selected)}, final, raw)`
}

/** Whether the mirrored content (`r`) and the content just read differ. Mostly they are the same text, and comparing texts is quick. */
const differs = (sql: Sql, read: PendingQuery<Row[]>) =>
  sql`(r.raw::text <> ${read}::text and r.raw::jsonb <> ${read}::jsonb)`

const made = Effect.gen(function* () {
  const database = yield* Database

  /** The mirrored ones among `ids`; `fresh` are those read at or after `since` (ISO 8601, our clock). */
  const find = traced("Mirror.Resources.find")(function* (
    book: Book,
    ids: ReadonlyArray<string>,
    since: string,
  ) {
    if (ids.length === 0) return []
    const now = yield* nowByUs
    const rows = yield* database.rows(
      "Mirror.Resources.find",
      knownColumns,
      (sql) => sql`
          select ${sql(selected)}, final, read_at between ${since} and ${now} as fresh,
            case when read_at <= ${now} then floor(extract(epoch from read_at) * 1000) else 0 end::float8 as "readAt"
          from mirror.resources
          where book_id = ${book.bookId} and resource_id = any (${plainArray(sql, ids, "uuid")})`,
    )
    return rows.map(
      (row): KnownResource => ({
        resource: fromRow(row),
        final: row.final,
        fresh: row.fresh,
        readAt: row.readAt,
      }),
    )
  })

  /** Without those that are mirrored as they are and final: reading them again changes nothing. */
  const news = Effect.fn("Mirror.Resources.news")(function* (book: Book, read: ReadonlyArray<Resource>) {
    if (read.length === 0) return read
    const rows = yield* database.rows("Mirror.Resources.news", keyColumns, (sql) => {
      const { plain, text } = columnsOf(sql, read)
      return sql`
          select r.resource_id, r.resource_type
          from unnest(${plain(({ id }) => id, "uuid")}, ${plain(({ resourceType }) => resourceType)},
            ${text(({ raw }) => raw)}) as n (resource_id, resource_type, raw)
          join mirror.resources r on r.book_id = ${book.bookId} and r.resource_id = n.resource_id
            and r.resource_type = n.resource_type and r.final and r.raw::text = n.raw`
    })
    const same = new Set(rows.map((row) => `${row.resource_id}|${row.resource_type}`))
    return read.filter((resource) => !same.has(keyOf(resource)))
  })

  /** Part of the caller's transaction: writes the resources that are not mirrored yet, and returns these. */
  const add = Effect.fn("Mirror.Resources.add")(function* (
    book: Book,
    runId: number,
    readAt: string,
    resources: ReadonlyArray<Resource>,
  ) {
    const added = yield* database.rows(
      "Mirror.Resources.add",
      keyColumns,
      (sql) => sql`
          insert into mirror.resources as r (book_id, ${sql(written)}, final, changed_at, read_at, run_id)
          select ${book.bookId}, n.*, ${readAt}, ${readAt}, ${runId} from (${rowsOf(sql, resources)}) n
          on conflict do nothing
          returning resource_id, resource_type`,
    )
    return new Set(added.map((row) => `${row.resource_id}|${row.resource_type}`))
  })

  /** Part of the caller's transaction: these are mirrored, so they are no longer missing. */
  const found = (book: Book, resources: ReadonlyArray<Resource>) =>
    database.execute("Mirror.Resources.found", (sql) => {
      const { plain } = columnsOf(sql, resources)
      return sql`
          delete from mirror.missing_resources m
          using unnest(${plain(({ id }) => id, "uuid")}, ${plain(({ resourceType }) => resourceType)})
            as n (resource_id, resource_type)
          where m.book_id = ${book.bookId} and m.resource_id = n.resource_id and m.resource_type = n.resource_type`
    })

  /**
   * Part of the caller's transaction: writes those mirrored resources that have changed. Returns how many did. Another transaction may
   * change them at the same time. So they are locked first, and what stands then is kept, not what the statement's snapshot has.
   */
  const change = Effect.fn("Mirror.Resources.change")(function* (
    book: Book,
    runId: number,
    readAt: string,
    resources: ReadonlyArray<Resource>,
  ) {
    const rows = yield* database.rows(
      "Mirror.Resources.change",
      { changed: bool },
      (sql) => sql`
          with read as (${rowsOf(sql, resources)}),
          before as materialized (
            select r.book_id, r.resource_type, r.resource_id, r.version, r.status, r.final, r.rate, r.fee_currency, r.raw,
              r.changed_at, n.raw as now_raw
            from read n
            join mirror.resources r on r.book_id = ${book.bookId} and r.resource_id = n.resource_id
              and r.resource_type = n.resource_type
            order by r.resource_id, r.resource_type
            for no key update of r),
          superseded as (
            insert into mirror.resource_versions
              (book_id, resource_type, resource_id, version, status, final, rate, fee_currency, raw, changed_at,
                superseded_at, run_id)
            select r.book_id, r.resource_type, r.resource_id, r.version, r.status, r.final, r.rate, r.fee_currency, r.raw,
              r.changed_at, ${readAt}, ${runId}
            from before r
            where ${differs(sql, sql`r.now_raw`)}
            on conflict do nothing)
          insert into mirror.resources as r (book_id, ${sql(written)}, final, changed_at, read_at, run_id)
          select ${book.bookId}, n.*, ${readAt}, ${readAt}, ${runId} from read n
          -- Always so: counting them locks them before the first is written.
          where (select count(*) from before) >= 0
          on conflict (book_id, resource_id, resource_type) do update set
            status = excluded.status, final = excluded.final, form = excluded.form,
            account_id = excluded.account_id, account_rail = excluded.account_rail, currency = excluded.currency,
            amount = excluded.amount, fee = excluded.fee, fee_currency = excluded.fee_currency,
            delivered = excluded.delivered, buy_account_id = excluded.buy_account_id,
            buy_account_rail = excluded.buy_account_rail, buy_currency = excluded.buy_currency,
            buy_amount = excluded.buy_amount, rate = excluded.rate, pair_id = excluded.pair_id,
            reason_code = excluded.reason_code, external_reference = excluded.external_reference,
            counterparty = excluded.counterparty, reference = excluded.reference,
            destination_id = excluded.destination_id, code = excluded.code,
            transaction_hash = excluded.transaction_hash, created_at = excluded.created_at,
            completed_at = excluded.completed_at, raw = excluded.raw,
            version = r.version + case when ${differs(sql, sql`excluded.raw`)} then 1 else 0 end,
            changed_at = case when ${differs(sql, sql`excluded.raw`)} then excluded.changed_at else r.changed_at end,
            run_id = case when ${differs(sql, sql`excluded.raw`)} then excluded.run_id else r.run_id end,
            read_at = excluded.read_at
          where ${differs(sql, sql`excluded.raw`)} or not r.final
          returning changed_at = ${readAt}::timestamptz as changed`,
    )
    return rows.filter(({ changed }) => changed).length
  })

  /**
   * Part of the caller's transaction. Returns how many are new or have changed. `readAt` is our clock, ISO 8601. Most
   * resources that are read are new, so those already mirrored are compared in a second step. `areMirrored`: the caller knows
   * that all are, and that none is among the missing ones.
   */
  const put = (
    book: Book,
    runId: number,
    readAt: string,
    read: ReadonlyArray<Resource>,
    areMirrored: boolean,
  ) =>
    Effect.gen(function* () {
      if (read.length === 0) return 0
      const resources = latestOfEach(read)
      if (areMirrored) return yield* change(book, runId, readAt, resources)
      const added = yield* add(book, runId, readAt, resources)
      const mirrored = resources.filter((resource) => !added.has(keyOf(resource)))
      const changed = mirrored.length === 0 ? 0 : yield* change(book, runId, readAt, mirrored)
      yield* found(book, resources)
      return added.size + changed
    })

  return { find, news, put }
})

export class Resources extends Effect.Service<Resources>()("tieout/Mirror/Resources", { effect: made }) {
  static readonly made = Effect.map(made, (parts) => new Resources(parts))
}
