/** `manifest.json`: what a batch holds, how to check it, and how far the service had been read when it was made. */
import { Schema } from "effect"
import { Covered, Lineage } from "./Manifest/Lineage.ts"
import { Count, Decimal, Hash, Text } from "./Manifest/Values.ts"

export const manifestFile = "manifest.json"
/** 1: without `lineage`, what the files of accounting systems are read back with, line checks and statements. */
export const formatVersion = 2

const Book = Schema.Struct({
  code: Schema.String,
  name: Schema.String,
  clientId: Text,
  /** When this database first knew the book: tells two databases apart that use one export folder. */
  knownSince: Schema.String,
})

/** `LineChecks.ts` says what they are. */
export const Checks = Schema.Struct({
  every: Schema.Int.pipe(Schema.positive()),
  prefixes: Schema.String.pipe(Schema.pattern(/^(?:[0-9a-f]{8})*$/)),
})

const FileRecord = Schema.Struct({
  name: Schema.String.pipe(Schema.pattern(/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/)),
  format: Schema.String,
  /** Where the file holds one currency only. */
  currency: Schema.optionalWith(Schema.String, { exact: true }),
  /** The service's account, where the file holds one account's movements only. */
  account: Schema.optionalWith(Schema.String, { exact: true }),
  /** CSV rows without the header, or transactions of a journal. */
  rows: Count,
  bytes: Count,
  sha256: Hash,
  lines: Schema.optionalWith(Checks, { exact: true }),
})
export type FileRecord = typeof FileRecord.Type

const CurrencyTotal = Schema.Struct({
  currency: Schema.String,
  scale: Count,
  debit: Decimal,
  credit: Decimal,
  entries: Count,
  postings: Count,
})

export const AccountTotal = Schema.Struct({
  code: Schema.String,
  name: Schema.String,
  role: Schema.String,
  currency: Schema.String,
  partnerAccountId: Text,
  opening: Decimal,
  debit: Decimal,
  credit: Decimal,
  closing: Decimal,
  /** What each accounting system's format calls the account; absent where it is in none. */
  mapped: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.String }), { exact: true }),
})
export type AccountTotal = typeof AccountTotal.Type

/** First and last journal number of a period, and how many entries it has here. */
const PeriodNumbers = Schema.Struct({
  period: Schema.String.pipe(Schema.pattern(/^\d{4}-\d{2}$/)),
  first: Schema.String,
  last: Schema.String,
  entries: Count,
})

/** How far one of the service's accounts had been read (our clock, UTC) and what it said last. */
const ReadAccount = Schema.Struct({
  accountId: Schema.String,
  currency: Schema.String,
  status: Schema.String,
  entries: Count,
  lastEntryId: Text,
  lastOccurredAt: Text,
  lastBalance: Text,
  tailReadAt: Text,
  balance: Schema.String,
  balanceReadAt: Schema.String,
})

/** How one format's files are written, so that they can be read back without knowing the settings. */
export const Layout = Schema.Struct({
  columns: Schema.Array(Schema.String),
  header: Schema.Boolean,
  encoding: Schema.Literal("utf-8", "windows-1252", "cp437", "ascii"),
  delimiter: Schema.Literal(",", ";", "|", "\t", " "),
  lineEnd: Schema.Literal("LF", "CRLF"),
  date: Schema.Literal("iso", "YYYYMMDD", "DD/MM/YYYY", "MM/DD/YYYY", "DD.MM.YYYY", "long", "DDMM"),
  decimalMark: Schema.Literal(".", ","),
  /** Rows of a file, at most. */
  rowsPerFile: Count,
})
export type Layout = typeof Layout.Type

/**
 * What `statement.csv` holds of one of the service's accounts. `gaps`: places where entries that other batches hold stand
 * between two of these. `outside`: what the statement's balance before the first entry is above the books' own, because such
 * entries stand before it.
 */
const StatementSpan = Schema.Struct({
  account: Schema.String,
  currency: Schema.String,
  entries: Count,
  amount: Decimal,
  before: Decimal,
  after: Decimal,
  gaps: Count,
  outside: Decimal,
})
export type StatementSpan = typeof StatementSpan.Type

/**
 * What a file of bank statements holds of one of the service's accounts. `journalled`: how many of its entries are in the
 * journal of the same batch; the others are dated in another period there.
 */
const BankSpan = Schema.Struct({
  account: Schema.String,
  currency: Schema.String,
  days: Count,
  entries: Count,
  journalled: Count,
  first: Schema.String,
  last: Schema.String,
  opening: Decimal,
  closing: Decimal,
})
export type BankSpan = typeof BankSpan.Type

/** Of a batch without any line of the journal: `bankStatements` has its figures. */
export const bankStatementsAlone = "bank-statements"

export const Manifest = Schema.Struct({
  product: Schema.Literal("tieout"),
  version: Schema.String,
  formatVersion: Schema.Literal(1, formatVersion),
  /** Absent: the journal, which numbers, periods, currencies and accounts are of. */
  holds: Schema.optionalWith(Schema.Literal(bankStatementsAlone), { exact: true }),
  connection: Schema.String,
  book: Book,
  batch: Count,
  lineage: Schema.optionalWith(Lineage, { exact: true }),
  createdAt: Schema.String,
  scope: Schema.Struct({
    kind: Schema.Literal("period", "range", "all", "since-last"),
    text: Schema.String,
    from: Text,
    to: Text,
    since: Text,
    /** Entries within the dates that are left out because other batches hold them. */
    covered: Schema.Array(Covered),
    /** For an as-of export, that time in ISO 8601, UTC; null or absent: as of the time of writing. */
    asOf: Schema.optionalWith(Text, { exact: true }),
  }),
  /** False where something of the book is known to be missing or wrong; `reasons` says what. */
  complete: Schema.Boolean,
  reasons: Schema.Array(Schema.String),
  formats: Schema.Array(Schema.String),
  /** How accounting systems' formats were made; absent where there are none. */
  tables: Schema.optionalWith(
    Schema.Struct({
      mode: Schema.Literal("detail", "summary"),
      /** Of a summary; absent: by day, debits and credits. */
      summary: Schema.optionalWith(
        Schema.Struct({ by: Schema.Literal("day", "month"), net: Schema.Boolean }),
        { exact: true },
      ),
      /** Journals in the currency that moved, with rates; absent: none has. */
      rated: Schema.optionalWith(Schema.Literal(true), { exact: true }),
      /** Of files with rates: whether they have exchange results and revaluations; absent in batches of versions that did not say it. */
      exchangeResults: Schema.optionalWith(Schema.Boolean, { exact: true }),
      /** Of the book's account mapping; null: the chart's own codes and names. */
      mappingVersion: Schema.NullOr(Count),
      /** Currencies that the settings leave out of these formats. */
      leftOut: Schema.Array(Schema.String),
      /** By format, the legal entity that its files are for, where the system has one; absent in batches of versions that did not say it. */
      entities: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.String }), {
        exact: true,
      }),
      /** By format. */
      layouts: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Layout }), { exact: true }),
    }),
    { exact: true },
  ),
  /** Only where everything is in the base currency: how it was valued. */
  base: Schema.optionalWith(
    Schema.Struct({
      currency: Schema.String,
      /** Of the scope's months, the first first. */
      months: Schema.Array(
        Schema.Struct({
          period: Schema.String,
          method: Schema.Literal("average", "fifo"),
          rates: Schema.Literal("file", "conversions"),
          maxRateAgeDays: Count,
          /** The roles that were revalued at its end; absent in batches of versions that did not say it. */
          monetaryRoles: Schema.optionalWith(Schema.Array(Schema.String), { exact: true }),
          /** The newest import of rates at that time. */
          ratesVersion: Schema.NullOr(Count),
          fingerprint: Schema.String,
          /** A month that was over is settled and revalued at its end. */
          over: Schema.Boolean,
          valuedAt: Schema.String,
        }),
      ),
      /** Entries whose lines are all worth less than half a cent: only `native_movements.csv` has them. */
      omitted: Count,
    }),
    { exact: true },
  ),
  files: Schema.Array(FileRecord),
  /** Of the journal; of the bank statements where the batch holds them alone. */
  entries: Count,
  postings: Count,
  firstNumber: Text,
  lastNumber: Text,
  throughNumbering: Schema.String,
  periods: Schema.Array(PeriodNumbers),
  currencies: Schema.Array(CurrencyTotal),
  accounts: Schema.Array(AccountTotal),
  statements: Schema.optionalWith(Schema.Array(StatementSpan), { exact: true }),
  bankStatements: Schema.optionalWith(Schema.Array(BankSpan), { exact: true }),
  /** Currencies whose accounts the settings leave out of the bank statements; absent: none. */
  bankLeftOut: Schema.optionalWith(Schema.Array(Schema.String), { exact: true }),
  read: Schema.Array(ReadAccount),
})
export type Manifest = typeof Manifest.Type

export const bankEntries = ({ bankStatements = [] }: Pick<Manifest, "bankStatements">): number =>
  bankStatements.reduce((sum, { entries }) => sum + entries, 0)
