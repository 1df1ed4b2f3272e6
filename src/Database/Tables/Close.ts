/** Closed periods: who closed what, when and why, with the hash and the balances of that moment. Immutable by triggers. */
import { sql } from "drizzle-orm"
import { bigint, check, date, index, integer, jsonb, primaryKey, text } from "drizzle-orm/pg-core"
import { exact, instant, transactionId } from "./Columns.ts"
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
    /** SHA-256 over the period's journal, hex: `src/Close/Digest.ts` says over what. Null for a reopening. */
    hash: text("hash"),
    /** The hash of the book's previous close; of a reopening, that of the close that it undoes. */
    previousHash: text("previous_hash"),
    /** Journal entries that the hash covers. */
    entries: bigint("entries", { mode: "bigint" }).notNull(),
    /** Who closed or reopened it: `TIEOUT_USER`, or else the user of the operating system. */
    who: text("who").notNull(),
    at: instant("at").notNull().default(sql`now()`),
    reason: text("reason"),
    /** The transaction that closed or reopened the period: its balances come in the same one. */
    transaction: transactionId("transaction").notNull().default(sql`pg_current_xact_id()`),
    /** The findings that were open and that somebody took responsibility for, each with its reason. */
    accepted: jsonb("accepted").notNull(),
    /** The book's valuation method at the close; null where the book had never been valued. */
    valuationMethod: text("valuation_method"),
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
