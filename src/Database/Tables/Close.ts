/** Closed periods: who closed what, when and why, with the hash and the balances of that moment. Immutable by triggers. */
import { sql } from "drizzle-orm"
import { bigint, boolean, check, date, index, integer, jsonb, primaryKey, text } from "drizzle-orm/pg-core"
import { exact, instant, transactionId } from "./ColumnTypes.ts"
import { ledger } from "./Ledger.ts"

export const closes = ledger.table(
  "closes",
  {
    bookId: integer("book_id").notNull(),
    /** Counts the closes and reopenings of a book from 1. */
    sequence: integer("sequence").notNull(),
    /** First day of the month. */
    period: date("period", { mode: "string" }).notNull(),
    action: text("action").notNull(),
    /** SHA-256 over the period's journal, hex, as `src/Close/Digest.ts` defines it. Null for a reopening. */
    hash: text("hash"),
    /** The hash of the book's previous close; of a reopening, that of the close that it undoes. */
    previousHash: text("previous_hash"),
    /** Journal entries that the hash covers. */
    entries: bigint("entries", { mode: "bigint" }).notNull(),
    /** Who closed or reopened it: `TIEOUT_USER`, or else the user of the operating system. */
    who: text("who").notNull(),
    /** Who was logged in, whatever name was given: the user of the operating system, and that of the database. */
    osUser: text("os_user").notNull().default("unknown"),
    databaseUser: text("database_user").notNull().default(sql`session_user`),
    at: instant("at").notNull().default(sql`now()`),
    reason: text("reason"),
    /** The transaction that closed or reopened the period, which also writes its balances. */
    transaction: transactionId("transaction").notNull().default(sql`pg_current_xact_id()`),
    /** The open findings that somebody took responsibility for, each with the reason. */
    accepted: jsonb("accepted").notNull(),
    /** The book's valuation method at the close; null where the book had never been valued. */
    valuationMethod: text("valuation_method"),
    /**
     * SHA-256 over the record, hex, chained to the record before: `ledger.record_hash`. Set by the database; null where an earlier
     * version closed or reopened, whose records the next one covers.
     */
    recordHash: text("record_hash"),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.sequence] }),
    index("closes_period").on(t.bookId, t.period),
    check("closes_action", sql`${t.action} in ('close', 'reopen')`),
    check("closes_hash", sql`(${t.action} = 'close') = (${t.hash} is not null)`),
    check(
      "closes_valuation_method",
      sql`${t.action} = 'close' and ${t.valuationMethod} in ('average', 'fifo') or ${t.valuationMethod} is null`,
    ),
    check("closes_reason", sql`${t.action} = 'close' or ${t.reason} is not null`),
  ],
)

/**
 * Who approved a close: a record of its own, chained to the close's hash. A reopening ends the approval. Triggers keep the rows
 * from changing.
 */
export const closeApprovals = ledger.table(
  "close_approvals",
  {
    bookId: integer("book_id").notNull(),
    /** Of the close. */
    sequence: integer("sequence").notNull(),
    /** Of the close. */
    closeHash: text("close_hash").notNull(),
    /** As it was given. */
    name: text("name").notNull(),
    osUser: text("os_user").notNull(),
    databaseUser: text("database_user").notNull().default(sql`session_user`),
    /** Whether `close.twoPersons` was set: then name and user differ from those of the person who closed. */
    twoPersons: boolean("two_persons").notNull(),
    at: instant("at").notNull().default(sql`now()`),
    /** SHA-256, hex, as `ledger.approval_hash` defines it. */
    hash: text("hash").notNull().default(""),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.sequence] }),
    check("close_approvals_name", sql`${t.name} ~ '[^[:space:]]' and char_length(${t.name}) <= 100`),
  ],
)

/** All accounts of the book as they stood when the period was closed. */
export const closeBalances = ledger.table(
  "close_balances",
  {
    bookId: integer("book_id").notNull(),
    sequence: integer("sequence").notNull(),
    accountId: integer("account_id").notNull(),
    /** The account's code and name at the close: both may change later. */
    code: text("code").notNull(),
    name: text("name").notNull(),
    currency: text("currency").notNull(),
    /** Turnover of the period, major unit of `currency`. */
    debit: exact("debit").notNull(),
    credit: exact("credit").notNull(),
    /** At the end of the period, debit positive. */
    balance: exact("balance").notNull(),
  },
  (t) => [primaryKey({ columns: [t.bookId, t.sequence, t.accountId] })],
)
