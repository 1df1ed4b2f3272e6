/** Marks of posted entries that a statement does not show any more, and of those that it shows again. */

import { Effect } from "effect"
import type { Book } from "../Book.ts"
import { plainArray } from "../Database/TextArray.ts"
import type { Database } from "../Database.ts"
import type { StatementEntry } from "../Partner.ts"

interface Mirrored {
  readonly entry: Pick<StatementEntry, "entryId">
  /** An earlier reading said that it was gone. */
  readonly gone: boolean
}

export const wereGone = (known: Iterable<Mirrored>): ReadonlyArray<Mirrored> =>
  [...known].filter(({ gone }) => gone)

export const goneEntries = (database: Database) => {
  /** Only what changes is marked: what is gone already is not gone again. */
  const marked = (book: Book, runId: number, mark: "absent" | "shown", entryIds: ReadonlyArray<string>) =>
    database.execute(
      "Mirror.StatementEntries.marked",
      (sql) => sql`
        insert into mirror.contradictions (book_id, entry_id, account_id, content, digest, run_id)
        select e.book_id, e.entry_id, e.account_id, m.content, encode(sha256(convert_to(m.content, 'UTF8')), 'hex'), ${runId}
        from mirror.statement_entries e
        cross join (select format('{"%s":true,"run":%s}', ${mark}::text, ${runId}::integer) as content) m
        where e.book_id = ${book.bookId} and e.entry_id = any (${plainArray(sql, entryIds, "uuid")})
          and ${mark === "shown"}::boolean = exists (
            select from mirror.gone_entries g where g.book_id = e.book_id and g.entry_id = e.entry_id)
        on conflict do nothing`,
    )

  /** Part of the caller's transaction: posted entries that the service does not show in its statement any more. */
  const gone = Effect.fn("Mirror.StatementEntries.gone")(function* (
    book: Book,
    runId: number,
    entryIds: ReadonlyArray<string>,
  ) {
    if (entryIds.length > 0) yield* marked(book, runId, "absent", entryIds)
  })

  /** Part of the caller's transaction: of entries that a statement shows, those that were gone are so no more. */
  const shown = Effect.fn("Mirror.StatementEntries.shown")(function* (
    book: Book,
    runId: number,
    known: Iterable<Mirrored>,
  ) {
    const back = wereGone(known).map(({ entry }) => entry.entryId)
    if (back.length > 0) yield* marked(book, runId, "shown", back)
  })

  return { gone, shown }
}
