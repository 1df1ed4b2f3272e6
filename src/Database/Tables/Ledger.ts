/** The double-entry books. The rules that the columns cannot express are triggers: `drizzle/rules.sql`. */
import { sql } from "drizzle-orm"
import {
  bigint,
  check,
  date,
  foreignKey,
  index,
  integer,
  pgSchema,
  primaryKey,
  smallint,
  text,
  unique,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core"
import { exact, instant } from "./ColumnTypes.ts"
import { books } from "./Mirror.ts"

export const ledger = pgSchema("ledger")

/** Ids of journal entries. A writer takes a block of 1024 with one call instead of one call for each entry. */
export const journalEntryBlock = ledger.sequence("journal_entry_block", {
  increment: 1024,
  minValue: 1024,
  startWith: 1024,
})

/** Known currencies and how many decimals they have (ISO 4217; USDT and USDC from `docs/interface.md`). */
export const currencies = ledger.table("currencies", {
  code: text("code").primaryKey(),
  scale: smallint("scale").notNull(),
})

/** Posting locks the row shared, closing locks it exclusively; `closed_through` is the first day of the last closed month. */
export const locks = ledger.table("locks", {
  bookId: integer("book_id")
    .primaryKey()
    .references(() => books.bookId),
  closedThrough: date("closed_through", { mode: "string" }),
  /** The accounting time zone that dates the book's entries: set by the first run, for good. */
  timeZone: text("time_zone"),
})

export const periods = ledger.table(
  "periods",
  {
    bookId: integer("book_id").notNull(),
    /** First day of the calendar month in the accounting time zone. */
    period: date("period", { mode: "string" }).notNull(),
    status: text("status").notNull().default("open"),
    /** The last journal number given in this period: numbers are gapless from 1. */
    lastNumber: integer("last_number").notNull().default(0),
    closedAt: instant("closed_at"),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.period] }),
    foreignKey({ columns: [t.bookId], foreignColumns: [locks.bookId] }),
    check("periods_status", sql`${t.status} in ('open', 'closed')`),
    check("periods_month", sql`extract(day from ${t.period}) = 1`),
  ],
)

export const accounts = ledger.table(
  "accounts",
  {
    bookId: integer("book_id").notNull(),
    accountId: integer("account_id").notNull().generatedAlwaysAsIdentity(),
    role: text("role").notNull(),
    currency: text("currency")
      .notNull()
      .references(() => currencies.code),
    /** The service's account that a cash account stands for; null for every other role. */
    partnerAccountId: uuid("partner_account_id"),
    /** The account code that a posting rule or a person named; empty for the chart's account of the role. */
    ruleCode: text("rule_code").notNull().default(""),
    code: text("code").notNull(),
    name: text("name").notNull(),
    /** When it was opened; `-infinity`: before this column existed. */
    createdAt: instant("created_at").notNull().default(sql`now()`),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.accountId] }),
    foreignKey({ columns: [t.bookId], foreignColumns: [locks.bookId] }),
    unique("accounts_identity")
      .on(t.bookId, t.role, t.currency, t.partnerAccountId, t.ruleCode)
      .nullsNotDistinct(),
    // An account of the service has one currency, and one cash account stands for it.
    uniqueIndex("accounts_cash_account")
      .on(t.bookId, t.partnerAccountId)
      .where(sql`${t.partnerAccountId} is not null`),
    check(
      "accounts_role",
      sql`${t.role} in ('cash', 'deposits_clearing', 'withdrawals_clearing', 'payouts_clearing', 'fees', 'trading', 'suspense', 'opening_balance', 'receivable_principal', 'receivable_interest', 'interest_income', 'deferred_interest', 'loan_clearing', 'loan_payable', 'interest_payable', 'interest_expense', 'conversions_in_transit', 'other')`,
    ),
    check("accounts_cash", sql`(${t.role} = 'cash') = (${t.partnerAccountId} is not null)`),
  ],
)

export const journalEntries = ledger.table(
  "journal_entries",
  {
    // Fixed widths first, so that Postgres pads none of them: it costs a tenth of the row.
    bookId: integer("book_id").notNull(),
    /**
     * 0 for the entry that books the source, 1, 2, … for its reclassifications. For receivables it numbers the parts of a
     * version: `src/Ledger/Receivables/Receivable.ts`.
     */
    sequence: integer("sequence").notNull().default(0),
    entryId: bigint("entry_id", { mode: "bigint" }).notNull(),
    /** The service's time of the movement. */
    occurredAt: instant("occurred_at").notNull(),
    /** Our time of recording. */
    recordedAt: instant("recorded_at").notNull().default(sql`now()`),
    /** The place in the statement of `partnerAccountId`. */
    position: bigint("position", { mode: "bigint" }),
    /** Calendar date in the accounting time zone; decides the period. */
    effectiveDate: date("effective_date", { mode: "string" }).notNull(),
    period: date("period", { mode: "string" })
      .notNull()
      .generatedAlwaysAs(sql`(date_trunc('month', effective_date::timestamp))::date`),
    /** First day of the closed month that a late entry belongs to by its time; null: it is not late. */
    lateFor: date("late_for", { mode: "string" }),
    /**
     * Counts the corrections of one part of a receivable's version; 0 for the entry that books it, and for all other sources.
     */
    correction: integer("correction").notNull().default(0),
    runId: integer("run_id"),
    lineCount: smallint("line_count").notNull(),
    sourceType: text("source_type").notNull(),
    sourceId: uuid("source_id").notNull(),
    kind: text("kind").notNull(),
    /** The account whose statement the entry comes from; null for what no statement shows. */
    partnerAccountId: uuid("partner_account_id"),
    resourceType: text("resource_type"),
    resourceId: uuid("resource_id"),
    description: text("description").notNull(),
    externalReference: text("external_reference"),
    counterparty: text("counterparty"),
    /** The entry of the same book that this one reverses. */
    reverses: bigint("reverses", { mode: "bigint" }),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.entryId] }),
    // Three letters distinguish the types of sources and make this index, which every entry is written to, a quarter smaller.
    uniqueIndex("journal_entries_source").on(
      t.bookId,
      t.sourceId,
      t.sequence,
      t.correction,
      sql`left(${t.sourceType}, 3)`,
    ),
    index("journal_entries_resource")
      .on(t.bookId, t.resourceId)
      .where(sql`${t.resourceId} is not null and ${t.sequence} > 0`),
    // Finds late entries and opening balances among all entries of a book, for a month's bridge; few are in this index.
    index("journal_entries_dated_otherwise")
      .on(t.bookId)
      .where(sql`${t.lateFor} is not null or ${t.sourceType} = 'opening'`),
    index("journal_entries_run").using("brin", t.runId).with({ autosummarize: true }),
    check(
      "journal_entries_source_type",
      sql`${t.sourceType} in ('statement_entry', 'opening', 'resource_version', 'receivable_version', 'manual')`,
    ),
    check("journal_entries_lines", sql`${t.lineCount} between 2 and 1000`),
    check(
      "journal_entries_sequence",
      sql`(${t.kind} in ('reclassification', 'opening_correction')) = (${t.sequence} > 0) or ${t.sourceType} in ('receivable_version', 'resource_version')`,
    ),
    check(
      "journal_entries_correction",
      sql`${t.correction} = 0 or (${t.correction} > 0 and ${t.sourceType} = 'receivable_version' and ${t.kind} = 'reclassification')`,
    ),
    check("journal_entries_dates", sql`${t.effectiveDate} between '1970-01-01' and '2199-12-31'`),
  ],
)

export const postings = ledger.table(
  "postings",
  {
    // Fixed widths first, so that Postgres pads none of them: it costs a tenth of the row.
    bookId: integer("book_id").notNull(),
    accountId: integer("account_id").notNull(),
    entryId: bigint("entry_id", { mode: "bigint" }).notNull(),
    lineNumber: smallint("line_number").notNull(),
    currency: text("currency").notNull(),
    /** Debit positive, credit negative, major unit of `currency`. */
    amount: exact("amount").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.entryId, t.lineNumber] }),
    check("postings_amount", sql`${t.amount} <> 0 and ${t.amount} between -1e30 and 1e30`),
  ],
)

/** Turnover per account and month, kept by the posting trigger: balances and trial balances without reading history. */
export const balances = ledger.table(
  "balances",
  {
    bookId: integer("book_id").notNull(),
    accountId: integer("account_id").notNull(),
    period: date("period", { mode: "string" }).notNull(),
    debit: exact("debit").notNull(),
    credit: exact("credit").notNull(),
  },
  (t) => [primaryKey({ columns: [t.bookId, t.accountId, t.period] })],
)

/** The balance of `conversions_in_transit` by conversion, kept by the posting trigger; no row where it is zero. */
export const transit = ledger.table(
  "transit",
  {
    bookId: integer("book_id").notNull(),
    conversionId: uuid("conversion_id").notNull(),
    currency: text("currency").notNull(),
    /** Debit positive, major unit of `currency`. */
    amount: exact("amount").notNull(),
  },
  (t) => [primaryKey({ columns: [t.bookId, t.conversionId, t.currency] })],
)
