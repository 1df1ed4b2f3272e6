/**
 * Years that were moved out: which archive has them, and what the proofs of the remaining rows still need to know of them. Only
 * `ledger.archive_year` writes these tables; triggers keep their rows from changing.
 */
import { sql } from "drizzle-orm"
import { bigint, check, date, integer, jsonb, primaryKey, smallint, text, uuid } from "drizzle-orm/pg-core"
import { exact, instant, transactionId } from "./ColumnTypes.ts"
import { exported } from "./Export.ts"
import { ledger } from "./Ledger.ts"
import { mirror } from "./Mirror.ts"

export const archives = ledger.table(
  "archives",
  {
    bookId: integer("book_id").notNull(),
    /** The year that was archived, together with whatever was left of earlier years. */
    year: smallint("year").notNull(),
    /** First day of the year's last month. */
    through: date("through", { mode: "string" }).notNull(),
    /** The dump: its name without its folder, the SHA-256 of its content (hex), and the time of its snapshot. */
    file: text("file").notNull(),
    digest: text("digest").notNull(),
    takenAt: instant("taken_at").notNull(),
    /** SHA-256, hex, of the rows that left, as the dump holds them; `ledger.archive_plan` defines which fields. */
    rowsDigest: text("rows_digest").notNull(),
    /** How many rows left, by table. */
    rows: jsonb("rows").notNull(),
    /** The last numbering step of an entry that left. */
    throughNumbering: bigint("through_numbering", { mode: "bigint" }).notNull(),
    /** The instant from which on everything that left was known, closed and valued: `--as-of` an earlier one needs the dump. */
    knownFrom: instant("known_from").notNull(),
    who: text("who").notNull(),
    osUser: text("os_user").notNull(),
    databaseUser: text("database_user").notNull().default(sql`session_user`),
    at: instant("at").notNull().default(sql`now()`),
    transaction: transactionId("transaction").notNull().default(sql`pg_current_xact_id()`),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.year] }),
    check("archives_digest", sql`${t.digest} ~ '^[0-9a-f]{64}$' and ${t.rowsDigest} ~ '^[0-9a-f]{64}$'`),
    check("archives_file", sql`${t.file} ~ '^[^/]+$'`),
  ],
)

/** How many journal entries of a month left. */
export const archivedMonths = ledger.table(
  "archived_months",
  {
    bookId: integer("book_id").notNull(),
    year: smallint("year").notNull(),
    /** First day of the month. */
    period: date("period", { mode: "string" }).notNull(),
    entries: integer("entries").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.year, t.period] }),
    check("archived_months_entries", sql`${t.entries} > 0`),
  ],
)

/** What the postings that left add up to: with those that stayed it is the account's turnover of the month. */
export const archivedTurnover = ledger.table(
  "archived_turnover",
  {
    bookId: integer("book_id").notNull(),
    year: smallint("year").notNull(),
    period: date("period", { mode: "string" }).notNull(),
    /** `native`, or `base` for the base-currency journal. */
    basis: text("basis").notNull(),
    /** The id of a ledger account, or the role of an account that only the base-currency journal has. */
    account: text("account").notNull(),
    debit: exact("debit").notNull(),
    credit: exact("credit").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.year, t.period, t.basis, t.account] }),
    check("archived_turnover_basis", sql`${t.basis} in ('native', 'base')`),
    check("archived_turnover_sides", sql`${t.debit} >= 0 and ${t.credit} >= 0`),
  ],
)

/** The statement entries and conversions whose journal entries left, so that none is booked a second time. */
export const archivedSources = ledger.table(
  "archived_sources",
  {
    bookId: integer("book_id").notNull(),
    year: smallint("year").notNull(),
    sourceId: uuid("source_id").notNull(),
  },
  (t) => [primaryKey({ columns: [t.bookId, t.sourceId] })],
)

/** Deposits, withdrawals and conversions that left, so that nothing is stored when a list shows them again. */
export const archivedResources = mirror.table(
  "archived_resources",
  {
    bookId: integer("book_id").notNull(),
    year: smallint("year").notNull(),
    /** The last version that was read. */
    version: integer("version").notNull(),
    resourceId: uuid("resource_id").notNull(),
    resourceType: text("resource_type").notNull(),
    /** Digest of the fields that the books rest on: `mirror.resource_digest` defines which. */
    digest: text("digest").notNull(),
  },
  (t) => [primaryKey({ columns: [t.bookId, t.resourceId, t.resourceType] })],
)

/** Of each batch, the control totals of the entries that left: with those that stayed they are the batch's. */
export const archivedTotals = exported.table(
  "archived_totals",
  {
    bookId: integer("book_id").notNull(),
    year: smallint("year").notNull(),
    batch: integer("batch").notNull(),
    currency: text("currency").notNull(),
    debit: exact("debit").notNull(),
    credit: exact("credit").notNull(),
    entries: bigint("entries", { mode: "bigint" }).notNull(),
    postings: bigint("postings", { mode: "bigint" }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.bookId, t.year, t.batch, t.currency] })],
)
