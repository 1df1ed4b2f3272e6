/**
 * The base-currency journal, apart from the native books. A month is written and replaced as a whole, until it is closed;
 * the rules that columns cannot express are triggers of the same migration.
 */
import { sql } from "drizzle-orm"
import {
  bigint,
  boolean,
  check,
  date,
  integer,
  json,
  pgSchema,
  primaryKey,
  smallint,
  text,
} from "drizzle-orm/pg-core"
import { exact, instant, transactionId } from "./ColumnTypes.ts"

export const valuation = pgSchema("valuation")

/** Imports of exchange rates: immutable versions. */
export const rateImports = valuation.table("rate_imports", {
  version: integer("version").primaryKey(),
  importedAt: instant("imported_at").notNull().default(sql`now()`),
})

/** The value of one unit of `from_currency` in `to_currency` on a day; the newest version counts. */
export const rates = valuation.table(
  "rates",
  {
    date: date("date", { mode: "string" }).notNull(),
    fromCurrency: text("from_currency").notNull(),
    toCurrency: text("to_currency").notNull(),
    version: integer("version")
      .notNull()
      .references(() => rateImports.version),
    rate: exact("rate").notNull(),
    source: text("source").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.date, t.fromCurrency, t.toCurrency, t.version] }),
    check("rates_rate", sql`${t.rate} > 0`),
    check("rates_pair", sql`${t.fromCurrency} <> ${t.toCurrency}`),
  ],
)

/** The accounts that only this journal has, by role; code and name are the chart's. */
export const valuationAccounts = valuation.table(
  "accounts",
  {
    bookId: integer("book_id").notNull(),
    role: text("role").notNull(),
    currency: text("currency").notNull(),
    code: text("code").notNull(),
    name: text("name").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.role] }),
    check("accounts_role", sql`${t.role} in ('fx_realized', 'fx_unrealized', 'rounding')`),
  ],
)

/** The settings that a book was valued by, each with the time from which on it held. Immutable. */
export const valuationSettings = valuation.table(
  "settings",
  {
    bookId: integer("book_id").notNull(),
    sequence: integer("sequence").notNull(),
    since: instant("since").notNull().default(sql`now()`),
    baseCurrency: text("base_currency").notNull(),
    method: text("method", { enum: ["average", "fifo"] }).notNull(),
    rates: text("rates", { enum: ["file", "conversions"] }).notNull(),
    maxRateAgeDays: smallint("max_rate_age_days").notNull(),
    /** Roles in order, with a space between them. */
    monetaryRoles: text("monetary_roles").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.sequence] }),
    check("settings_method", sql`${t.method} in ('average', 'fifo')`),
    check("settings_rates", sql`${t.rates} in ('file', 'conversions')`),
  ],
)

/** A book's month as it was valued. */
export const valuedMonths = valuation.table(
  "months",
  {
    bookId: integer("book_id").notNull(),
    /** First day of the month. */
    period: date("period", { mode: "string" }).notNull(),
    baseCurrency: text("base_currency").notNull(),
    method: text("method").notNull(),
    rates: text("rates").notNull(),
    maxRateAgeDays: smallint("max_rate_age_days").notNull(),
    /** The roles that were revalued at its end, in order, with a space between them. */
    monetaryRoles: text("monetary_roles").notNull(),
    /** The newest import of rates at that time; null before the first. */
    ratesVersion: integer("rates_version"),
    /** SHA-256 over all inputs of the valuation, hex. */
    fingerprint: text("fingerprint").notNull(),
    /** The fingerprint of the previous month that it continues; empty for the first month. */
    previous: text("previous").notNull(),
    /** The last journal number that it covers. */
    throughNumber: integer("through_number").notNull(),
    /** Whether the month was over, since only a month that is over is revalued at its end. */
    over: boolean("over").notNull(),
    valuedAt: instant("valued_at").notNull().default(sql`now()`),
    /** The transaction that wrote the month: no other may add to it. */
    transaction: transactionId("transaction").notNull().default(sql`pg_current_xact_id()`),
    /** The state that the next month starts from: `src/Valuation/ValuationState.ts`. Null while the month is being written. */
    state: json("state"),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.period] }),
    check("months_method", sql`${t.method} in ('average', 'fifo')`),
    check("months_rates", sql`${t.rates} in ('file', 'conversions')`),
    check("months_first_day", sql`extract(day from ${t.period}) = 1`),
  ],
)

/** A native journal entry as it was valued (series `journal`, its own number), or one that only this journal has (`fx`). */
export const valuedEntries = valuation.table(
  "entries",
  {
    bookId: integer("book_id").notNull(),
    period: date("period", { mode: "string" }).notNull(),
    series: text("series").notNull(),
    number: integer("number").notNull(),
    effectiveDate: date("effective_date", { mode: "string" }).notNull(),
    lineCount: smallint("line_count").notNull(),
    /** The native journal entry; null in the series `fx`, which has the next four columns instead. */
    entryId: bigint("entry_id", { mode: "bigint" }),
    kind: text("kind"),
    description: text("description"),
    resourceId: text("resource_id"),
    /** The `fx` number of the month before that this one reverses. */
    reverses: integer("reverses"),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.period, t.series, t.number] }),
    check("entries_series", sql`(${t.series} = 'journal') = (${t.entryId} is not null)`),
    check("entries_known_series", sql`${t.series} in ('journal', 'fx')`),
    check("entries_fx", sql`(${t.series} = 'fx') = (${t.kind} is not null and ${t.description} is not null)`),
    check("entries_month", sql`date_trunc('month', ${t.effectiveDate}::timestamp) = ${t.period}::timestamp`),
  ],
)

/** One line: on an account of the book, or on one of `valuation.accounts`. */
export const valuedPostings = valuation.table(
  "postings",
  {
    bookId: integer("book_id").notNull(),
    period: date("period", { mode: "string" }).notNull(),
    series: text("series").notNull(),
    number: integer("number").notNull(),
    lineNumber: smallint("line_number").notNull(),
    accountId: integer("account_id"),
    role: text("role"),
    /**
     * Base currency, major unit, two decimals; debit positive. Zero only where the native line is worth less than half a
     * cent.
     */
    amount: exact("amount").notNull(),
    /** The native line's amount and currency; null where there is none. */
    native: exact("native"),
    nativeCurrency: text("native_currency"),
    /** How the amount was found: `face`, `rate`, `price`, `cost`, `carrying`, `proportion`. */
    basis: text("basis"),
    /** The rate that was used, as in the file (`1/…`: the inverse pair), its day and source. */
    rate: text("rate"),
    rateDate: date("rate_date", { mode: "string" }),
    rateSource: text("rate_source"),
  },
  (t) => [
    primaryKey({ columns: [t.bookId, t.period, t.series, t.number, t.lineNumber] }),
    check("postings_account", sql`(${t.accountId} is null) <> (${t.role} is null)`),
    check("postings_amount", sql`scale(${t.amount}) <= 2 and (${t.amount} <> 0 or ${t.native} is not null)`),
  ],
)
