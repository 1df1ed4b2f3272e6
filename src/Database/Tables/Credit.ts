/** What the credit surface reported, losslessly. */
import { sql } from "drizzle-orm"
import { boolean, check, index, integer, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core"
import { exact, instant, verbatim } from "./ColumnTypes.ts"
import { mirror } from "./Mirror.ts"

/**
 * Receivables of the credit surface, every version, kept in the book of the connection's organization even where another book
 * posts them. Amounts in the major unit of `currency`.
 */
export const receivables = mirror.table(
  "receivables",
  {
    bookId: integer("book_id").notNull(),
    receivableId: uuid("receivable_id").notNull(),
    version: integer("version").notNull(),
    current: boolean("current").notNull(),
    clientId: uuid("client_id").notNull(),
    status: text("status").notNull(),
    currency: text("currency").notNull(),
    paymentRails: text("payment_rails").notNull(),
    issueDate: instant("issue_date").notNull(),
    initialPrincipal: exact("initial_principal").notNull(),
    currentPrincipal: exact("current_principal").notNull(),
    repaymentAmount: exact("repayment_amount").notNull(),
    raw: verbatim("raw").notNull(),
    /** When the service answered with this content, by its own clock; it dates accruals. */
    servedAt: instant("served_at").notNull(),
    readAt: instant("read_at").notNull(),
    /** When a complete read of the list first did not show it, our clock; null: the list shows it. */
    unlistedSince: instant("unlisted_since"),
    /** Where the list no longer shows it: when the last complete read that did began, the service's clock. */
    lastListedAt: instant("last_listed_at"),
    /** Whether this version is booked. */
    posted: boolean("posted").notNull().default(false),
    runId: integer("run_id").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.receivableId, t.version] }),
    uniqueIndex("receivables_current").on(t.bookId, t.receivableId).where(sql`${t.current}`),
    index("receivables_waiting").on(t.bookId).where(sql`not ${t.posted}`),
    index("receivables_active")
      .on(t.bookId, t.currency, t.paymentRails)
      .where(sql`${t.current} and ${t.status} = 'ACTIVE'`),
    // The few versions that wait to be booked or have an undocumented state.
    index("receivables_unsettled")
      .on(t.bookId)
      .where(sql`${t.current} and ${t.status} not in ('ACTIVE', 'PAID', 'CANCELED')`),
    index("receivables_unlisted").on(t.bookId).where(sql`${t.current} and ${t.unlistedSince} is not null`),
    check(
      "receivables_amounts",
      sql`${t.initialPrincipal} >= 0 and ${t.currentPrincipal} >= 0 and ${t.repaymentAmount} >= 0 and ${t.initialPrincipal} < 1e30 and ${t.currentPrincipal} < 1e30 and ${t.repaymentAmount} < 1e30`,
    ),
  ],
)

/** Transactions that a receivable names as its disbursement and its repayments: what links it to cash. */
export const receivableTransactions = mirror.table(
  "receivable_transactions",
  {
    bookId: integer("book_id").notNull(),
    receivableId: uuid("receivable_id").notNull(),
    /** In lower case: the identifier of an entry or a resource, or a transaction hash. */
    txId: text("tx_id").notNull(),
    /** The first version that names it. */
    version: integer("version").notNull(),
    purpose: text("purpose").notNull(),
    txTimestamp: instant("tx_timestamp").notNull(),
    /** Whether the entries that were mirrored before this name was known have been searched for it. */
    sought: boolean("sought").notNull().default(false),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.receivableId, t.txId] }),
    index("receivable_transactions_tx").on(t.bookId, t.txId),
    index("receivable_transactions_unsought").on(t.bookId).where(sql`not ${t.sought}`),
    check("receivable_transactions_purpose", sql`${t.purpose} in ('disbursement', 'repayment')`),
  ],
)
