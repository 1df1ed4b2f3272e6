/** What the service reported, losslessly. Every key leads with `book_id` and none crosses books. */
import { sql } from "drizzle-orm"
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  pgSchema,
  primaryKey,
  text,
  unique,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core"
import { exact, instant, verbatim } from "./ColumnTypes.ts"

export const mirror = pgSchema("mirror")

/** The accounts of one legal entity: the organization itself (`client_id` null) or one client, per connection. */
export const books = mirror.table(
  "books",
  {
    bookId: integer("book_id").primaryKey().generatedAlwaysAsIdentity(),
    connection: text("connection").notNull(),
    clientId: uuid("client_id"),
    /** The prefix of journal numbers: unique over all books of the database. */
    code: text("code").notNull().unique(),
    name: text("name").notNull(),
    createdAt: instant("created_at").notNull().default(sql`now()`),
  },
  (t) => [
    unique("books_connection_client").on(t.connection, t.clientId).nullsNotDistinct(),
    check("books_code", sql`${t.code} ~ '^[A-Z0-9][A-Z0-9_.-]{0,39}$'`),
  ],
)

export const accounts = mirror.table(
  "accounts",
  {
    bookId: integer("book_id")
      .notNull()
      .references(() => books.bookId),
    accountId: uuid("account_id").notNull(),
    currency: text("currency").notNull(),
    paymentRails: text("payment_rails").notNull(),
    status: text("status").notNull(),
    /** The balance that the service reports, major unit of `currency`, read at `balance_read_at` (our clock). */
    balance: exact("balance").notNull(),
    balanceReadAt: instant("balance_read_at").notNull(),
    raw: verbatim("raw").notNull(),
    /** Statement entries that are mirrored and posted; the position of the last of them. */
    entries: bigint("entries", { mode: "bigint" }).notNull().default(sql`0`),
    lastEntryId: uuid("last_entry_id"),
    lastBalance: exact("last_balance"),
    lastOccurredAt: instant("last_occurred_at"),
    /** When the statement's last page was requested (our clock): movements completed before it must be in the statement. */
    tailReadAt: instant("tail_read_at"),
    /** When a complete read of the list of accounts first did not show it, our clock; null: the list shows it. */
    unlistedSince: instant("unlisted_since"),
    runId: integer("run_id").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.accountId] }),
    // Which other books list an account.
    index("accounts_account").on(t.accountId),
    check("accounts_balance", sql`${t.balance} between -1e30 and 1e30`),
  ],
)

export const statementEntries = mirror.table(
  "statement_entries",
  {
    // Fixed widths first, so that Postgres pads none of them: it costs a tenth of the row.
    bookId: integer("book_id").notNull(),
    runId: integer("run_id").notNull(),
    /** Place in the account's statement, counted from 1 in posting order. */
    position: bigint("position", { mode: "bigint" }).notNull(),
    occurredAt: instant("occurred_at").notNull(),
    accountId: uuid("account_id").notNull(),
    entryId: uuid("entry_id").notNull(),
    type: text("type").notNull(),
    amount: exact("amount").notNull(),
    currency: text("currency").notNull(),
    balanceBefore: exact("balance_before"),
    balanceAfter: exact("balance_after").notNull(),
    relatedType: text("related_type"),
    relatedId: uuid("related_id"),
    /** Fields that the columns do not reproduce exactly. */
    extra: verbatim("extra"),
    /** The entry follows a break of the running balance: it is mirrored and not posted. */
    held: boolean("held").notNull().default(false),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.accountId, t.position] }),
    uniqueIndex("statement_entries_entry").on(t.bookId, t.entryId),
    index("statement_entries_related").on(t.bookId, t.relatedId).where(sql`${t.relatedId} is not null`),
    index("statement_entries_zero").on(t.bookId, t.occurredAt).where(sql`${t.amount} = 0`),
    // Finds the entries of one month among all years, to check and close it.
    index("statement_entries_time").on(t.bookId, t.occurredAt),
    index("statement_entries_run").using("brin", t.runId).with({ autosummarize: true }),
    check("statement_entries_type", sql`${t.type} in ('CREDIT', 'DEBIT')`),
    check("statement_entries_amount", sql`${t.amount} >= 0 and ${t.amount} < 1e30`),
    check("statement_entries_balance", sql`${t.balanceAfter} between -1e30 and 1e30`),
  ],
)

/** Entries as they were before they named their resource: written by a trigger alone. */
export const statementEntryVersions = mirror.table(
  "statement_entry_versions",
  {
    bookId: integer("book_id").notNull(),
    entryId: uuid("entry_id").notNull(),
    version: integer("version").notNull(),
    relatedType: text("related_type"),
    relatedId: uuid("related_id"),
    extra: verbatim("extra"),
    /** The run that read it, and when it was superseded. */
    runId: integer("run_id").notNull(),
    supersededAt: instant("superseded_at").notNull().default(sql`now()`),
  },
  (t) => [primaryKey({ columns: [t.bookId, t.entryId, t.version] })],
)

/** A later read of a statement entry that differs from the stored one: kept beside it, never in its place. */
export const contradictions = mirror.table(
  "contradictions",
  {
    bookId: integer("book_id").notNull(),
    entryId: uuid("entry_id").notNull(),
    accountId: uuid("account_id").notNull(),
    /** The entry as it was read, as JSON text. */
    content: text("content").notNull(),
    digest: text("digest").notNull(),
    firstSeenAt: instant("first_seen_at").notNull().default(sql`now()`),
    runId: integer("run_id").notNull(),
  },
  (t) => [primaryKey({ columns: [t.bookId, t.entryId, t.digest] })],
)

/** Conversion pairs, address book entries, deposit instructions, clients, rails and credit accounts, every version. */
export const referenceItems = mirror.table(
  "reference_items",
  {
    bookId: integer("book_id").notNull(),
    kind: text("kind").notNull(),
    itemId: text("item_id").notNull(),
    version: integer("version").notNull(),
    current: boolean("current").notNull(),
    /** Its name for a person: an address book entry's bank and account, a client's legal name. */
    label: text("label"),
    raw: verbatim("raw").notNull(),
    readAt: instant("read_at").notNull(),
    runId: integer("run_id").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.kind, t.itemId, t.version] }),
    uniqueIndex("reference_items_current").on(t.bookId, t.kind, t.itemId).where(sql`${t.current}`),
  ],
)

/** Rows that could not be understood, raw, with the reason and the JSON path within the row. */
export const quarantine = mirror.table(
  "quarantine",
  {
    quarantineId: bigint("quarantine_id", { mode: "bigint" }).primaryKey().generatedAlwaysAsIdentity(),
    bookId: integer("book_id").notNull(),
    stream: text("stream").notNull(),
    itemId: text("item_id"),
    raw: text("raw").notNull(),
    reason: text("reason").notNull(),
    path: text("path").notNull(),
    /** SHA-256 of `raw`, hex: the same row read again is one row here. */
    digest: text("digest").notNull(),
    firstSeenAt: instant("first_seen_at").notNull().default(sql`now()`),
    lastSeenAt: instant("last_seen_at").notNull().default(sql`now()`),
    resolvedAt: instant("resolved_at"),
    runId: integer("run_id").notNull(),
  },
  (t) => [
    uniqueIndex("quarantine_row").on(t.bookId, t.stream, t.digest),
    index("quarantine_open").on(t.bookId, t.stream).where(sql`${t.resolvedAt} is null`),
  ],
)
