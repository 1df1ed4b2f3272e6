/** The resources that statement entries name, as the service reported them, losslessly. */
import { sql } from "drizzle-orm"
import { boolean, check, index, integer, primaryKey, text, uuid } from "drizzle-orm/pg-core"
import { exact, instant, verbatim } from "./ColumnTypes.ts"
import { mirror } from "./Mirror.ts"

/** Deposits, withdrawals and conversions as they were last read; the fields of all three, absent ones null. */
export const resources = mirror.table(
  "resources",
  {
    // Fixed widths first, so that Postgres pads none of them: it costs a tenth of the row.
    bookId: integer("book_id").notNull(),
    runId: integer("run_id").notNull(),
    createdAt: instant("created_at").notNull(),
    completedAt: instant("completed_at"),
    /** When this content was first read, and when the resource was last read at all (our clock). */
    changedAt: instant("changed_at").notNull(),
    readAt: instant("read_at").notNull(),
    version: integer("version").notNull().default(1),
    resourceId: uuid("resource_id").notNull(),
    /** The account credited (deposit), debited (withdrawal) or sold from (conversion). */
    accountId: uuid("account_id").notNull(),
    buyAccountId: uuid("buy_account_id"),
    pairId: uuid("pair_id"),
    resourceType: text("resource_type").notNull(),
    status: text("status").notNull(),
    /** No further change is expected: completed, canceled or rejected. */
    final: boolean("final").notNull(),
    form: text("form"),
    accountRail: text("account_rail").notNull(),
    currency: text("currency").notNull(),
    amount: exact("amount").notNull(),
    fee: exact("fee"),
    feeCurrency: text("fee_currency"),
    delivered: exact("delivered"),
    buyAccountRail: text("buy_account_rail"),
    buyCurrency: text("buy_currency"),
    buyAmount: exact("buy_amount"),
    rate: exact("rate"),
    reasonCode: text("reason_code"),
    externalReference: text("external_reference"),
    counterparty: text("counterparty"),
    reference: text("reference"),
    destinationId: text("destination_id"),
    code: text("code"),
    transactionHash: text("transaction_hash"),
    raw: verbatim("raw").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.resourceId, t.resourceType] }),
    index("resources_open").on(t.bookId, t.readAt).where(sql`not ${t.final}`),
    index("resources_time").on(t.bookId, t.createdAt),
    index("resources_run").using("brin", t.runId).with({ autosummarize: true }),
    // Only ever searched for one hash at a time, so four bytes of each are enough.
    index("resources_transaction_hash")
      .using("hash", sql`lower(${t.transactionHash})`)
      .where(sql`${t.transactionHash} is not null`),
    check("resources_type", sql`${t.resourceType} in ('DEPOSIT', 'WITHDRAWAL', 'CONVERSION')`),
    check("resources_amount", sql`${t.amount} >= 0 and ${t.amount} < 1e30`),
  ],
)

/** The versions that a later one has superseded. */
export const resourceVersions = mirror.table(
  "resource_versions",
  {
    bookId: integer("book_id").notNull(),
    resourceType: text("resource_type").notNull(),
    resourceId: uuid("resource_id").notNull(),
    version: integer("version").notNull(),
    /** As decoded then; null in versions superseded before these columns existed. */
    status: text("status"),
    final: boolean("final"),
    rate: exact("rate"),
    feeCurrency: text("fee_currency"),
    raw: verbatim("raw").notNull(),
    changedAt: instant("changed_at").notNull(),
    supersededAt: instant("superseded_at").notNull(),
    runId: integer("run_id").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.resourceId, t.resourceType, t.version] }),
    index("resource_versions_superseded").using("brin", t.supersededAt).with({ autosummarize: true }),
  ],
)

/** Resources that a statement entry names and the service answers 404 or 410 for; every run asks for them again. */
export const missingResources = mirror.table(
  "missing_resources",
  {
    bookId: integer("book_id").notNull(),
    resourceType: text("resource_type").notNull(),
    resourceId: uuid("resource_id").notNull(),
    firstMissedAt: instant("first_missed_at").notNull().default(sql`now()`),
    tries: integer("tries").notNull().default(1),
  },
  (t) => [primaryKey({ columns: [t.bookId, t.resourceId, t.resourceType] })],
)
