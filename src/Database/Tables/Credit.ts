/** What the credit surface reported, losslessly. */
import { sql } from "drizzle-orm"
import { boolean, check, index, integer, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core"
import { exact, instant, verbatim } from "./Columns.ts"
import { mirror } from "./Mirror.ts"

/**
 * Receivables of the credit surface, every version, in the book of the connection's own organization whoever's books they
 * are posted in. Amounts in the major unit of `currency`.
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
    /** When the service answered with this content, its own clock: what accruals are dated by. */
    servedAt: instant("served_at").notNull(),
    readAt: instant("read_at").notNull(),
    /** The list, read whole, has it no more: since when, our clock; null: it has. */
    unlistedSince: instant("unlisted_since"),
    /** Where it has not: when the last whole reading that had it began, the service's clock. */
    lastListedAt: instant("last_listed_at"),
    /** What follows from this version is in the books. */
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
    /** In lower case: an entry's or a resource's identifier, or a transaction hash. */
    txId: text("tx_id").notNull(),
    /** The first version that names it. */
    version: integer("version").notNull(),
    purpose: text("purpose").notNull(),
    txTimestamp: instant("tx_timestamp").notNull(),
    /** Looked for among what was mirrored before it was known. */
    sought: boolean("sought").notNull().default(false),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.receivableId, t.txId] }),
    index("receivable_transactions_tx").on(t.bookId, t.txId),
    index("receivable_transactions_unsought").on(t.bookId).where(sql`not ${t.sought}`),
    check("receivable_transactions_purpose", sql`${t.purpose} in ('disbursement', 'repayment')`),
  ],
)
