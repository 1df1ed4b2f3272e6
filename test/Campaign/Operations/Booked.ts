/** The entries of a book that are booked at a time, and what each belongs to as far as that is known: later entries may follow them. */
import { Effect } from "effect"
import { Database } from "../../../src/Database.ts"
import type { BookedFact } from "../Facts.ts"
import { subjectOf } from "../Oracle/Subject.ts"

interface Booked {
  readonly entry: string
  readonly type: string | null
  readonly id: string | null
  readonly read: boolean
  /** Whether its month is open. */
  readonly open: boolean
}

export const bookedIn = (bookId: number) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.booked",
      (sql) => sql<Array<Booked>>`
        select e.source_id as entry, s.related_type as type, s.related_id::text as id, exists (
            select 1 from mirror.resources r where r.book_id = s.book_id and r.resource_id = s.related_id) as read,
          l.closed_through is null or e.period > l.closed_through as open
        from ledger.journal_entries e
        join mirror.statement_entries s on s.book_id = e.book_id and s.entry_id = e.source_id::uuid
        join ledger.locks l on l.book_id = e.book_id
        where e.book_id = ${bookId} and e.source_type = 'statement_entry' and e.sequence = 0`,
    ),
  )

export const asBooked = (entries: ReadonlyArray<Booked>): BookedFact =>
  new Map(
    entries.map(({ entry, id, read, type }) => [
      entry,
      subjectOf(type === null || id === null ? null : { type, id }, read),
    ]),
  )
