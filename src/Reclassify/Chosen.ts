/** Which statement entries a reclassification is about: those that are named, or those of all open findings of a check. */
import { Effect, Option } from "effect"
import { chooseBooks } from "../Book/ChosenBooks.ts"
import type { Book } from "../Book.ts"
import { int4, text, uuid } from "../Database/Columns.ts"
import { textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import { findEntries } from "./Reclassifiable.ts"
import { reclassifyError } from "./ReclassifyError.ts"

/** The checks whose findings are about what one statement entry left in suspense. */
export const movableChecks = ["adjustment", "unclassified-entry"] as const

export interface AllOf {
  readonly check: string
  /** None: all books. */
  readonly book: Option.Option<string>
  /** The largest amount, in the finding's own currency. */
  readonly maxAmount: Option.Option<string>
}

export interface ChosenEntry {
  readonly book: Book
  readonly entryId: string
}

/** Entries of open findings, by book and time, as they are numbered. */
const ofCheck = Effect.fn("Reclassify.ofCheck")(function* ({ book, check, maxAmount }: AllOf) {
  const database = yield* Database
  const books = yield* chooseBooks(Option.none(), book)
  const byId = new Map(books.map((one) => [one.bookId, one]))
  const most = Option.getOrNull(maxAmount)
  const rows = yield* database.rows(
    "Reclassify.ofCheck",
    { book_id: int4, entry_id: uuid },
    (sql) => sql`
      select f.book_id, f.subject_id::uuid as entry_id from reconcile.open_findings f
      join mirror.books b on b.book_id = f.book_id
      where f.check_name = ${check} and f.subject_type = 'statement_entry'
        and f.book_id = any (${`{${books.map(({ bookId }) => bookId).join(",")}}`}::integer[])
        and (${most}::text is null or (f.evidence ->> 'amount')::numeric <= ${most}::text::numeric)
      order by b.code collate "C", f.evidence ->> 'occurredAt', f.finding_id`,
  )
  return rows.flatMap((row): ReadonlyArray<ChosenEntry> => {
    const own = byId.get(row.book_id)
    return own === undefined ? [] : [{ book: own, entryId: row.entry_id }]
  })
})

/** Each once, in the order in which they were named. All of one connection: they are moved in one transaction. */
export const chosenEntries = Effect.fn("Reclassify.chosen")(function* (
  ids: ReadonlyArray<string>,
  allOf: Option.Option<AllOf>,
) {
  const named = (yield* Effect.forEach(ids, findEntries)).flat()
  const found = Option.isSome(allOf) ? [...named, ...(yield* ofCheck(allOf.value))] : named
  const entries = [...new Map(found.map((one) => [`${one.book.bookId} ${one.entryId}`, one])).values()]
  const connections = [...new Set(entries.map(({ book }) => book.connection))]
  if (connections.length > 1) {
    return yield* reclassifyError(
      "Usage",
      `They are of the connections ${connections.join(", ")}: ${Option.isSome(allOf) ? "name one book at a time, with --book" : "name those of one connection at a time"}.`,
    )
  }
  return entries
})

/** The open months with an open finding about what an entry left in suspense, in their order. */
export const monthsInSuspense = Effect.fn("Reclassify.monthsInSuspense")(function* ({ bookId }: Book) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Reclassify.monthsInSuspense",
    { month: text },
    (sql) => sql`
      select distinct to_char(d.day, 'YYYY-MM') as month
      from reconcile.open_findings f
      join ledger.locks l on l.book_id = f.book_id
      cross join lateral (
        select ledger.day_of((f.evidence ->> 'occurredAt')::timestamptz, l.time_zone) as day) d
      where f.book_id = ${bookId} and f.check_name = any (${textArray(sql, movableChecks)})
        and (l.closed_through is null or d.day >= l.closed_through + interval '1 month')
      order by 1`,
  )
  return rows.map(({ month }) => month)
})
