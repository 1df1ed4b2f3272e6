/**
 * What an accounting system has imported in the end: after a last export of what is new, every numbered journal entry stands in one
 * of the format's batches that count, and in no second one.
 */
import { Effect, Either } from "effect"
import type { Book } from "../../src/Book.ts"
import { Database } from "../../src/Database.ts"
import { idsOf } from "./BookIds.ts"
import { systems } from "./Deliveries.ts"
import { exportBooks } from "./Operations/Exporting.ts"
import type { Site } from "./Site.ts"

interface Delivered {
  readonly book: string
  readonly format: string
  /** Of an entry that stands in no batch, or in several. */
  readonly number: string
  readonly times: string
}

const query = <Row extends object>(name: string, statement: string, books: ReadonlyArray<Book>) =>
  Effect.flatMap(Database, (database) =>
    database.query(name, (sql) =>
      sql.unsafe<Array<Row>>(statement, [idsOf(books), `{${systems.join(",")}}`]),
    ),
  ).pipe(Effect.orDie)

/** Batches of accounting systems, in the books' own currencies, that count. */
const standing = `
  select b.book_id, b.batch, f.format, b.from_date, b.to_date, b.since_numbering, b.through_numbering, b.covered
  from export.batches b cross join unnest(b.formats) as f (format)
  where b.book_id = any ($1::integer[]) and f.format = any ($2::text[]) and not b.preview and b.as_of is null
    and b.currency_basis = 'native' and 'superseded' is distinct from (
      select s.state from export.batch_states s where s.book_id = b.book_id and s.batch = b.batch
      order by s.sequence desc limit 1)`

const amiss = `
  with standing as (${standing}),
  entry as (
    select n.book_id, n.entry_id, n.numbering, j.effective_date, to_char(n.period, 'YYYY-MM') || ' ' || n.number as number
    from ledger.journal_numbers n
    join ledger.journal_entries j on j.book_id = n.book_id and j.entry_id = n.entry_id
    where n.book_id = any ($1::integer[])),
  wanted as (select distinct book_id, format from standing)
  select w.book_id::text as book, w.format, e.number, count(s.batch)::text as times
  from wanted w
  join entry e on e.book_id = w.book_id
  left join standing s on s.book_id = w.book_id and s.format = w.format
    and e.effective_date between coalesce(s.from_date, '-infinity') and coalesce(s.to_date, 'infinity')
    and e.numbering > s.since_numbering and e.numbering <= s.through_numbering
    and not exists (
      select 1 from json_to_recordset(s.covered) as c ("from" date, "to" date, after bigint, through bigint)
      where e.effective_date between c."from" and c."to" and e.numbering > coalesce(c.after, 0) and e.numbering <= c.through)
  group by 1, 2, 3 having count(s.batch) <> 1 limit 3`

export const deliveryProblems = (site: Site, books: ReadonlyArray<Book>, told: Array<string>) =>
  Effect.gen(function* () {
    const found = yield* query<{ readonly book: number; readonly format: string }>(
      "Campaign.standingFormats",
      `select distinct book_id as book, format from (${standing}) s`,
      books,
    )
    // It is refused where a book went to the system in another way: then what is missing says nothing.
    const refused = new Set<string>()
    for (const format of new Set(found.map((one) => one.format))) {
      const last = yield* Effect.either(exportBooks(site, books, { kind: "since-last", format }))
      told.push(`the last ${format}: ${Either.isRight(last) ? last.right : String(last.left)}`)
      if (Either.isLeft(last)) refused.add(format)
    }
    return (yield* query<Delivered>("Campaign.delivered", amiss, books)).flatMap(
      ({ book, format, number, times }) =>
        refused.has(format) && times === "0"
          ? []
          : [`entry ${number} of book ${book} stands in ${times} batches for ${format}`],
    )
  }).pipe(Effect.provide(site.settings))
