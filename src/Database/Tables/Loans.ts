/** How the cash of loans is shared out over receivables: written with their postings, recomputed on every change. */
import { sql } from "drizzle-orm"
import { boolean, check, index, integer, primaryKey, smallint, text, uuid } from "drizzle-orm/pg-core"
import { exact, instant } from "./ColumnTypes.ts"
import { ledger } from "./Ledger.ts"

/** Each receivable's share of a transaction's cash: `src/Ledger/Receivables/Sharing.ts`. */
export const receivableShares = ledger.table(
  "receivable_shares",
  {
    bookId: integer("book_id").notNull(),
    receivableId: uuid("receivable_id").notNull(),
    /** The transaction: the smallest of the identifiers that lead to its statement entries. */
    unit: text("unit").notNull(),
    currency: text("currency").notNull(),
    purpose: text("purpose").notNull(),
    /** As loan clearing holds it: debit positive, major unit of `currency`. */
    amount: exact("amount").notNull(),
    /** Whether this receivable takes the remainder of the transaction's cash. */
    rest: boolean("rest").notNull(),
    /** The statement entries of the transaction. */
    entries: uuid("entries").array().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.receivableId, t.unit, t.currency] }),
    index("receivable_shares_unit").on(t.bookId, t.unit, t.currency),
    check("receivable_shares_purpose", sql`${t.purpose} in ('disbursement', 'repayment')`),
  ],
)

/** The cash that the versions of a receivable make due, in the major unit of its currency, never negative. */
export const receivableDues = ledger.table(
  "receivable_dues",
  {
    bookId: integer("book_id").notNull(),
    receivableId: uuid("receivable_id").notNull(),
    currency: text("currency").notNull(),
    /** How a repayment's cash stands in loan clearing: -1, a credit, for the lender; 1, a debit, for the borrower. */
    side: smallint("side").notNull(),
    lent: exact("lent").notNull(),
    /** The part whose cash is not known yet. */
    lentWaiting: exact("lent_waiting").notNull(),
    repaid: exact("repaid").notNull(),
    repaidWaiting: exact("repaid_waiting").notNull(),
    /** The amount that was repaid and is owed again. */
    takenBack: exact("taken_back").notNull(),
    /** What its entries took off loan clearing, without reclassifications by a person; debit positive. */
    taken: exact("taken").notNull(),
    /** Not paid exactly: a check examines what loan clearing holds of it. */
    open: boolean("open").notNull(),
    /** The books hold principal or interest of it. */
    owed: boolean("owed").notNull(),
    /** The settings of receivables that it is booked by, without the side. */
    policy: text("policy").notNull(),
    /** When the first event happened that may leave something in loan clearing. */
    since: instant("since"),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.receivableId] }),
    index("receivable_dues_open").on(t.bookId).where(sql`${t.open}`),
    index("receivable_dues_owed").on(t.bookId).where(sql`${t.owed}`),
    index("receivable_dues_policy").on(t.bookId, t.policy),
    index("receivable_dues_receivable").on(t.receivableId),
    check("receivable_dues_side", sql`${t.side} in (-1, 1)`),
  ],
)

/** Loan cash that has not arrived yet, leg by leg: `src/Ledger/Receivables/WaitingCash.ts`. */
export const receivableWaits = ledger.table(
  "receivable_waits",
  {
    bookId: integer("book_id").notNull(),
    receivableId: uuid("receivable_id").notNull(),
    purpose: text("purpose").notNull(),
    version: integer("version").notNull(),
    /** The sequence that all entries of this part of the version share. */
    sequence: integer("sequence").notNull(),
    currency: text("currency").notNull(),
    /** The amount that has not arrived yet, in the major unit of `currency`. */
    amount: exact("amount").notNull(),
    /** Its side in loan clearing: 1, a debit, or -1, a credit. */
    side: smallint("side").notNull(),
    occurredAt: instant("occurred_at").notNull(),
    /** The transactions that will bring it; empty where the service names none. */
    txIds: text("tx_ids").array().notNull(),
    /** None of the cash that the version takes off loan clearing has arrived yet. */
    whole: boolean("whole").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.receivableId, t.sequence] }),
    check("receivable_waits_purpose", sql`${t.purpose} in ('disbursement', 'repayment')`),
    check("receivable_waits_amount", sql`${t.amount} > 0 and ${t.side} in (-1, 1)`),
  ],
)
