/** The journal entries of whole conversions, written in the numbering step; `ConversionSides.ts` says what they hold. */
import { Effect } from "effect"
import type { Book } from "../../Book.ts"
import { plainArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import { Journal } from "../Journal.ts"
import { Accounts } from "../LedgerAccounts.ts"
import {
  type ConversionRow,
  conversionColumns,
  entryOf,
  legsOf,
  type Touched,
  termsOf,
  touchedColumns,
  writtenOf,
} from "./ConversionRow.ts"
import { stepsOf } from "./ConversionSides.ts"

/** Conversions that are looked at together: bounds the memory, not the transaction. */
const conversionsAtOnce = 1_000

export class Conversions extends Effect.Service<Conversions>()("tieout/Ledger/Conversions", {
  dependencies: [Accounts.Default, Journal.Default],
  effect: Effect.gen(function* () {
    const database = yield* Database
    const accounts = yield* Accounts
    const journal = yield* Journal

    /** Takes the conversions off the queue that may have changed since the last numbering. */
    const take = (books: ReadonlyArray<Book>) =>
      database.rows(
        "Ledger.Conversions.take",
        touchedColumns,
        (sql) => sql`
          with taken as (
            delete from ledger.touched_conversions t
            where t.book_id = any (${`{${books.map((book) => book.bookId).join(",")}}`}::integer[])
            returning t.book_id, t.conversion_id)
          select distinct book_id, conversion_id from taken order by 1, 2`,
      )

    /** What the mirror and the books hold of them; a conversion that cannot be read yet has no terms. */
    const read = (touched: ReadonlyArray<Touched>) =>
      touched.length === 0
        ? Effect.succeed<ReadonlyArray<ConversionRow>>([])
        : database.rows(
            "Ledger.Conversions.read",
            conversionColumns,
            (sql) => sql`
          select r.book_id, r.resource_id as conversion_id, r.account_id, r.currency, r.amount::text as amount,
            coalesce(r.fee, 0)::text as fee, r.fee_currency, r.buy_account_id, r.buy_currency,
            r.buy_amount::text as buy_amount, r.external_reference, r.counterparty,
            coalesce(l.legs, '[]') as legs, coalesce(w.written, '[]') as written
          from (
            select t.book_id::integer, t.conversion_id::uuid
            from unnest(
              ${plainArray(
                sql,
                touched.map((one) => String(one.book_id)),
              )},
              ${plainArray(
                sql,
                touched.map((one) => one.conversion_id),
              )}) as t (book_id, conversion_id)) c
          cross join lateral (
            select * from mirror.resources x
            where x.book_id = c.book_id and x.resource_id = c.conversion_id and x.resource_type = 'CONVERSION'
              and x.buy_account_id is not null and x.buy_currency is not null and x.buy_amount is not null limit 1) r
          cross join lateral (
            select json_agg(json_build_object('accountId', s.account_id, 'position', s.position::text,
              'occurredAt', to_char(s.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
              'currency', s.currency, 'type', s.type, 'amount', s.amount::text, 'transit', b.transit::text)) as legs
            from mirror.statement_entries s
            cross join lateral (
              select coalesce(sum(p.amount) filter (where a.role = 'conversions_in_transit'), 0) as transit
              from ledger.journal_entries j
              join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
              join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
              where j.book_id = s.book_id and j.source_id = s.entry_id
                and j.source_type in ('statement_entry', 'manual')) b
            where s.book_id = c.book_id and s.related_id = c.conversion_id and s.related_type = 'CONVERSION'
              and not s.held) l
          cross join lateral (
            select json_agg(json_build_object('entryId', j.entry_id::text, 'sequence', j.sequence, 'kind', j.kind,
              'datedAt', to_char(case when j.late_for is null then j.occurred_at
                  else j.effective_date::timestamp at time zone coalesce(k.time_zone, 'UTC') end at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
              'traded', (
                select coalesce(json_agg(json_build_object('currency', t.currency, 'amount', t.amount::text)), '[]')
                from (
                  select p.currency, sum(p.amount) as amount from ledger.postings p
                  join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id and a.role = 'trading'
                  where p.book_id = j.book_id and p.entry_id = j.entry_id group by p.currency) t))) as written
            from ledger.journal_entries j
            join ledger.locks k on k.book_id = j.book_id
            where j.book_id = c.book_id and j.source_id = c.conversion_id and j.source_type = 'resource_version') w
          order by 1, 2`,
          )

    /** The ids are taken first: an entry may reverse one that is booked with it. */
    const entriesOf = Effect.fn("Ledger.Conversions.entries")(function* (rows: ReadonlyArray<ConversionRow>) {
      const planned = rows.flatMap((row) => {
        const written = writtenOf(row)
        return stepsOf(termsOf(row), legsOf(row), written).map((step) => ({ row, step, written }))
      })
      const ids = yield* journal.takeIds(planned.length)
      const idOf = new Map(
        planned.map(({ row, step }, at) => [`${row.conversion_id}|${step.sequence}`, ids[at]]),
      )
      const entries = planned.map(({ row, step, written }) => {
        const reversed = written.find(({ sequence }) => sequence === step.reverses)?.entryId
        return entryOf(row, step, reversed ?? idOf.get(`${row.conversion_id}|${step.reverses}`))
      })
      return { entries, ids }
    })

    const bookRows = Effect.fn("Ledger.Conversions.book")(function* (
      books: ReadonlyArray<Book>,
      runId: number | null,
      rows: ReadonlyArray<ConversionRow>,
      booked: Map<number, number>,
    ) {
      for (const book of books) {
        const own = rows.filter((row) => row.book_id === book.bookId)
        if (own.length === 0) continue
        const { entries, ids } = yield* entriesOf(own)
        const lines = entries.flatMap((entry) => entry.lines)
        yield* journal.post(book, runId, { entries, ids, accounts: yield* accounts.idsWithin(book, lines) })
        booked.set(book.bookId, (booked.get(book.bookId) ?? 0) + entries.length)
      }
    })

    /**
     * Books conversions that became whole, were reversed or whose terms changed. Part of the caller's transaction, which holds
     * the locks of the books: nothing is posted between the reading here and the numbering. Returns how many entries it booked, by book.
     */
    const settle = Effect.fn("Ledger.Conversions.settle")(function* (
      books: ReadonlyArray<Book>,
      runId: number | null,
    ) {
      const touched = yield* take(books)
      let rows = yield* read(touched.slice(0, conversionsAtOnce))
      const booked = new Map<number, number>()
      for (
        let next = conversionsAtOnce;
        rows.length > 0 || next < touched.length;
        next += conversionsAtOnce
      ) {
        // The next conversions are read while these are planned, since bookings of one conversion do not affect another.
        const [following] = yield* Effect.all(
          [read(touched.slice(next, next + conversionsAtOnce)), bookRows(books, runId, rows, booked)],
          { concurrency: next < touched.length ? 2 : 1 },
        )
        rows = following
      }
      return booked
    })

    return { settle }
  }),
}) {}
