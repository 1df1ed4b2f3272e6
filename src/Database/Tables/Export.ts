/** Committed exports: immutable, numbered per book. */
import { sql } from "drizzle-orm"
import {
  bigint,
  boolean,
  check,
  date,
  foreignKey,
  integer,
  json,
  pgSchema,
  primaryKey,
  text,
} from "drizzle-orm/pg-core"
import { bytes, instant, verbatim } from "./ColumnTypes.ts"

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
    /** Written as a preview: it does not count until a row of `batch_states` commits it. */
    preview: boolean("preview").notNull().default(false),
    /** Who wrote it: `TIEOUT_USER`, or else the user of the operating system. Null: before it was kept. */
    who: text("who"),
    /** `native`, or the currency that the lines are valued in, which is a journal of its own. */
    currencyBasis: text("currency_basis").notNull().default("native"),
    /** Only entries numbered after this step, by the manifest's scope. */
    sinceNumbering: bigint("since_numbering", { mode: "bigint" }).notNull().default(sql`0`),
    /** The manifest's `scope.covered`: the part of the selection that earlier batches hold. */
    covered: json("covered").notNull().default(sql`'[]'`),
    /** An as-of export: what the books said at that time. It never counts as exported. Null: an ordinary export. */
    asOf: instant("as_of"),
    /** Of manifest.json, hex. Null: before it was kept. */
    manifestSha256: text("manifest_sha256"),
  },
  (t) => [primaryKey({ columns: [t.bookId, t.batch] })],
)

/**
 * The state of a batch after it was written: preview → committed → acknowledged → superseded. Append-only; a trigger allows
 * only these changes, in order; `export.batch_state` gives the current state.
 */
export const batchStates = exported.table(
  "batch_states",
  {
    bookId: integer("book_id").notNull(),
    batch: integer("batch").notNull(),
    /** Counts the changes of a batch from 1. */
    sequence: integer("sequence").notNull(),
    state: text("state", { enum: ["committed", "acknowledged", "superseded"] }).notNull(),
    who: text("who").notNull(),
    at: instant("at").notNull().default(sql`now()`),
    /** Why it was superseded, or the importer's note. */
    reason: text("reason"),
    /** The batch of the same book that took its place. */
    byBatch: integer("by_batch"),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.batch, t.sequence] }),
    foreignKey({ columns: [t.bookId, t.batch], foreignColumns: [batches.bookId, batches.batch] }),
    check("batch_states_state", sql`${t.state} in ('committed', 'acknowledged', 'superseded')`),
    check("batch_states_reason", sql`${t.state} <> 'superseded' or ${t.reason} is not null`),
  ],
)

/** The files of a batch, kept for a download byte for byte; the manifest is part of the batch's row. */
export const batchFiles = exported.table(
  "batch_files",
  {
    bookId: integer("book_id").notNull(),
    batch: integer("batch").notNull(),
    name: text("name").notNull(),
    /** From 1; an empty file has none. */
    chunk: integer("chunk").notNull(),
    /** Compressed on its own (`src/Export/Batch/Kept/KeptFiles.ts`), at most 1 MiB. */
    content: bytes("content").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.batch, t.name, t.chunk] }),
    foreignKey({ columns: [t.bookId, t.batch], foreignColumns: [batches.bookId, batches.batch] }),
    check("batch_files_content", sql`octet_length(${t.content}) between 1 and 1048576`),
  ],
)

/** The account mapping of a book per accounting system: immutable versions, of which the highest counts. */
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
