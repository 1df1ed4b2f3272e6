/** Committed exports: immutable, numbered per book. */
import { sql } from "drizzle-orm"
import { bigint, date, integer, json, pgSchema, primaryKey, text } from "drizzle-orm/pg-core"
import { instant, verbatim } from "./Columns.ts"

export const exported = pgSchema("export")

export const batches = exported.table(
  "batches",
  {
    bookId: integer("book_id").notNull(),
    batch: integer("batch").notNull(),
    /** `2026-10`, `2026-10-01_2026-10-15`, `all` or `since-<numbering>`. */
    scope: text("scope").notNull(),
    fromDate: date("from_date", { mode: "string" }),
    toDate: date("to_date", { mode: "string" }),
    formats: text("formats").array().notNull(),
    folder: text("folder").notNull(),
    /** The last numbering step that the batch covers: `--since-last` starts after it. */
    throughNumbering: bigint("through_numbering", { mode: "bigint" }).notNull(),
    manifest: json("manifest").notNull(),
    committedAt: instant("committed_at").notNull().default(sql`now()`),
  },
  (t) => [primaryKey({ columns: [t.bookId, t.batch] })],
)

/** What a book's accounts are called in each accounting system: immutable versions, the highest counts. */
export const accountMappings = exported.table(
  "account_mappings",
  {
    bookId: integer("book_id").notNull(),
    version: integer("version").notNull(),
    /** The rows of the book as they were imported: an array of objects whose keys are the CSV's columns. */
    accounts: verbatim("accounts").notNull(),
    importedAt: instant("imported_at").notNull().default(sql`now()`),
  },
  (t) => [primaryKey({ columns: [t.bookId, t.version] })],
)
