/** What the cash of loans is attributed to: written with the postings of receivables, computed anew when any of it changes. */
import { sql } from "drizzle-orm"
import { boolean, check, index, integer, primaryKey, smallint, text, uuid } from "drizzle-orm/pg-core"
import { exact, instant } from "./Columns.ts"
import { ledger } from "./Ledger.ts"

/** Each receivable's share of a transaction's cash: `src/Ledger/Sharing.ts`. */
export const receivableShares = ledger.table(
  "receivable_shares",
  {
    bookId: integer("book_id").notNull(),
    receivableId: uuid("receivable_id").notNull(),
    /** The transaction, by the least of the names that lead to its statement entries. */
    unit: text("unit").notNull(),
    currency: text("currency").notNull(),
    purpose: text("purpose").notNull(),
    /** As it stands in loan clearing: debit positive, major unit of `currency`. */
    amount: exact("amount").notNull(),
    /** This receivable's is what the others leave of the transaction's cash. */
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

/** What the versions of a receivable make due, in the major unit of its currency, never negative in its direction. */
export const receivableDues = ledger.table(
  "receivable_dues",
  {
    bookId: integer("book_id").notNull(),
    receivableId: uuid("receivable_id").notNull(),
    currency: text("currency").notNull(),
    /** How a repayment's cash stands in loan clearing: -1, a credit, for the lender; 1, a debit, for the borrower. */
    side: smallint("side").notNull(),
    lent: exact("lent").notNull(),
    /** What of it no cash is known for yet. */
    lentWaiting: exact("lent_waiting").notNull(),
    repaid: exact("repaid").notNull(),
    repaidWaiting: exact("repaid_waiting").notNull(),
    /** What was repaid and is owed again. */
    takenBack: exact("taken_back").notNull(),
    /** What its entries, without those of persons, have taken of loan clearing: debit positive. */
    taken: exact("taken").notNull(),
    /** Not all of it was paid exactly: what stands in loan clearing is looked at. */
    open: boolean("open").notNull(),
    /** Principal or interest of it stands in the books. */
    owed: boolean("owed").notNull(),
    /** The settings of receivables by which it is booked, but for the side. */
    policy: text("policy").notNull(),
    /** When the first thing happened that may keep something in loan clearing. */
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

/** Cash of loans that is waited for, leg by leg: `src/Ledger/Waiting.ts`. */
export const receivableWaits = ledger.table(
  "receivable_waits",
  {
    bookId: integer("book_id").notNull(),
    receivableId: uuid("receivable_id").notNull(),
    purpose: text("purpose").notNull(),
    version: integer("version").notNull(),
    /** What all entries of this part of the version have in common. */
    sequence: integer("sequence").notNull(),
    currency: text("currency").notNull(),
    /** What is still to come, in the major unit of `currency`. */
    amount: exact("amount").notNull(),
    /** How it stands in loan clearing: 1, a debit, or -1, a credit. */
    side: smallint("side").notNull(),
    occurredAt: instant("occurred_at").notNull(),
    /** The transactions that are to bring it; empty where the service names none. */
    txIds: text("tx_ids").array().notNull(),
    /** Nothing of what the version takes of loan clearing has come. */
    whole: boolean("whole").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.receivableId, t.sequence] }),
    check("receivable_waits_purpose", sql`${t.purpose} in ('disbursement', 'repayment')`),
    check("receivable_waits_amount", sql`${t.amount} > 0 and ${t.side} in (-1, 1)`),
  ],
)
