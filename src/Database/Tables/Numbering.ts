/** Journal numbers, and what waits for the next numbering step: `ledger.assign_numbers` in `drizzle/rules.sql`. */
import { bigint, date, index, integer, primaryKey, uniqueIndex, uuid } from "drizzle-orm/pg-core"
import { ledger } from "./Ledger.ts"

/** Each run of `ledger.assign_numbers` is one numbering step. Exports state up to which step they reach. */
export const numberingStep = ledger.sequence("numbering_step")

/** Gapless per book and period, assigned in one ordered step. Apart from the entry, which never changes. */
export const journalNumbers = ledger.table(
  "journal_numbers",
  {
    bookId: integer("book_id").notNull(),
    entryId: bigint("entry_id", { mode: "bigint" }).notNull(),
    period: date("period", { mode: "string" }).notNull(),
    number: integer("number").notNull(),
    /** The numbering step, increasing over the database: a later step means a newer entry. */
    numbering: bigint("numbering", { mode: "bigint" }).notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.entryId] }),
    uniqueIndex("journal_numbers_number").on(t.bookId, t.period, t.number),
    index("journal_numbers_step").using("brin", t.numbering).with({ autosummarize: true }),
  ],
)

/** Entries without a number: filled by the posting trigger, emptied by the numbering step. */
export const unnumbered = ledger.table("unnumbered", {
  bookId: integer("book_id").notNull(),
  entryId: bigint("entry_id", { mode: "bigint" }).notNull(),
})

/**
 * Conversions of which an entry was booked, or whose terms changed, since the last numbering: filled by triggers, emptied
 * by the numbering step. A conversion may be listed several times: a key would make two pages wait for each other.
 */
export const touchedConversions = ledger.table(
  "touched_conversions",
  {
    bookId: integer("book_id").notNull(),
    conversionId: uuid("conversion_id").notNull(),
  },
  (t) => [index("touched_conversions_conversion").on(t.bookId, t.conversionId)],
)
