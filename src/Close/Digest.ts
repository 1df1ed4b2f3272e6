/**
 * The hash of a closed period: SHA-256 over a UTF-8 text that anyone can rebuild from the journal.
 *
 * The text is a sequence of fields without separators, each `<length in bytes>:<content>`, or `-` for null, so that no two
 * journals give the same text. First `tieout-close-1`, the hash of the book's previous close (hex), the book's code and
 * the month (`2026-10`). Then every journal entry of the month by journal number: number, effective date, occurred at (UTC,
 * microseconds), the month it is late for, kind, description, source type, source, sequence, partner account, position,
 * resource type, resource, external reference, counterparty, the journal number that it reverses, count of lines; and for
 * each line its number, the account's role, currency, partner account and rule code, and the amount: debit positive, major
 * unit, without trailing zeros.
 *
 * It leaves out an account's code and name, which are presentation and may change after the close, and the time of recording,
 * which alone differs between two runs over the same data.
 */
import { createHash } from "node:crypto"
import { Effect, Stream } from "effect"
import type { Book } from "../Book.ts"
import type { Sql } from "../Database/Client.ts"
import { int4, text } from "../Database/Columns.ts"
import { plainArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import { type Fragment, instantText } from "../Reconcile/ReconcileScope.ts"

export interface Digest {
  readonly hash: string
  /** The number of journal entries that it covers. */
  readonly entries: bigint
}

/** One field of the text. */
const field = (content: string | null): string =>
  content === null ? "-" : `${Buffer.byteLength(content)}:${content}`

/** One field, as an SQL expression. */
const fieldText = (sql: Sql, value: Fragment): Fragment =>
  sql`coalesce(octet_length(convert_to((${value})::text, 'UTF8')) || ':' || (${value})::text, '-')`

const joined = (sql: Sql, values: ReadonlyArray<Fragment>): Fragment =>
  values.map((value) => fieldText(sql, value)).reduce((text, next) => sql`${text} || ${next}`)

const headerFields = (sql: Sql): Fragment =>
  joined(sql, [
    sql`n.number`,
    sql`to_char(j.effective_date, 'YYYY-MM-DD')`,
    instantText(sql, sql`j.occurred_at`),
    sql`to_char(j.late_for, 'YYYY-MM')`,
    sql`j.kind`,
    sql`j.description`,
    sql`j.source_type`,
    sql`j.source_id`,
    sql`j.sequence`,
    sql`j.partner_account_id`,
    sql`j.position`,
    sql`j.resource_type`,
    sql`j.resource_id`,
    sql`j.external_reference`,
    sql`j.counterparty`,
    sql`(select b.code || '-' || to_char(v.period, 'YYYY-MM') || '-' || lpad(v.number::text, greatest(6, length(v.number::text)), '0')
         from ledger.journal_numbers v join mirror.books b on b.book_id = v.book_id
         where v.book_id = j.book_id and v.entry_id = j.reverses)`,
    sql`j.line_count`,
  ])

const lineFields = (sql: Sql): Fragment =>
  joined(sql, [
    sql`p.line_number`,
    sql`a.role`,
    sql`p.currency`,
    sql`a.partner_account_id`,
    sql`a.rule_code`,
    sql`trim_scale(p.amount)`,
  ])

/** The hash of the close before it, hex; null: the book's first close. */
export interface Preceded {
  readonly book: Book
  readonly previousHash: string | null
}

/** Reads the period's journal of all books once, as a stream with flat memory. By `bookId`. */
export const digestsOf = Effect.fn("Close.digests")(function* (
  books: ReadonlyArray<Preceded>,
  period: string,
) {
  const database = yield* Database
  const digests = new Map(
    books.map(({ book, previousHash }) => {
      const hash = createHash("sha256")
      for (const content of ["tieout-close-1", previousHash, book.code, period]) hash.update(field(content))
      return [book.bookId, { hash, entries: 0n }]
    }),
  )
  const ids = [...digests.keys()].map(String)
  yield* database
    .rowStream(
      "Close.digests",
      { book_id: int4, text },
      (sql) => sql`
        select n.book_id, ${headerFields(sql)} || l.text as text
        from ledger.journal_numbers n
        -- Each is looked up by itself, whatever the length of the history.
        cross join lateral (
          select j.* from ledger.journal_entries j where j.book_id = n.book_id and j.entry_id = n.entry_id offset 0) j
        cross join lateral (
          select coalesce(string_agg(${lineFields(sql)}, '' order by p.line_number), '') as text
          from ledger.postings p
          join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
          where p.book_id = j.book_id and p.entry_id = j.entry_id) l
        where n.book_id = any (${plainArray(sql, ids, "int4")}) and n.period = ${`${period}-01`}::text::date
        order by n.book_id, n.number`,
    )
    .pipe(
      Stream.runForEachChunk((rows) =>
        Effect.sync(() => {
          for (const { book_id: bookId, text } of rows) {
            const digest = digests.get(bookId)
            if (digest === undefined) continue
            digest.hash.update(text)
            digest.entries += 1n
          }
        }),
      ),
    )
  return new Map(
    [...digests].map(([bookId, { entries, hash }]) => [
      bookId,
      { hash: hash.digest("hex"), entries } satisfies Digest,
    ]),
  )
})

export const digestOf = Effect.fn("Close.digest")(function* (
  book: Book,
  period: string,
  previousHash: string | null,
) {
  const digests = yield* digestsOf([{ book, previousHash }], period)
  return digests.get(book.bookId) ?? (yield* Effect.dieMessage(`book ${book.code} has no digest`))
})
