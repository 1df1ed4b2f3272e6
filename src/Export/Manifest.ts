/** `manifest.json`: what a batch holds, how to check it, and how far the service had been read when it was made. */
import { createHash } from "node:crypto"
import { Schema } from "effect"

export const manifestFile = "manifest.json"
export const formatVersion = 1

const Count = Schema.Int.pipe(Schema.nonNegative())
/** A decimal at its currency's scale, major unit. */
const Decimal = Schema.String.pipe(Schema.pattern(/^-?\d+(\.\d+)?$/))
const Text = Schema.NullOr(Schema.String)

const Book = Schema.Struct({
  code: Schema.String,
  name: Schema.String,
  clientId: Text,
  /** When this database first knew the book: tells two databases apart that use one export folder. */
  knownSince: Schema.String,
})

const FileRecord = Schema.Struct({
  name: Schema.String.pipe(Schema.pattern(/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/)),
  format: Schema.String,
  /** Where the file holds one currency only. */
  currency: Schema.optionalWith(Schema.String, { exact: true }),
  /** CSV rows without the header, or transactions of a journal. */
  rows: Count,
  bytes: Count,
  sha256: Schema.String.pipe(Schema.pattern(/^[0-9a-f]{64}$/)),
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

export const Manifest = Schema.Struct({
  product: Schema.Literal("tieout"),
  version: Schema.String,
  formatVersion: Schema.Literal(formatVersion),
  connection: Schema.String,
  book: Book,
  batch: Count,
  createdAt: Schema.String,
  scope: Schema.Struct({
    kind: Schema.Literal("period", "range", "all", "since-last"),
    text: Schema.String,
    from: Text,
    to: Text,
    since: Text,
    /** Batches of dates that `since` does not count: their entries are not new. */
    covered: Schema.Array(Schema.Struct({ from: Schema.String, to: Schema.String, through: Schema.String })),
  }),
  /** False where something of the book is known to be missing or wrong; `reasons` says what. */
  complete: Schema.Boolean,
  reasons: Schema.Array(Schema.String),
  formats: Schema.Array(Schema.String),
  /** How accounting systems' formats were made; absent where there are none. */
  tables: Schema.optionalWith(
    Schema.Struct({
      mode: Schema.Literal("detail", "summary"),
      /** Of the book's account mapping; null: the chart's own codes and names. */
      mappingVersion: Schema.NullOr(Count),
      /** Currencies that the settings leave out of these formats. */
      leftOut: Schema.Array(Schema.String),
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
  entries: Count,
  postings: Count,
  firstNumber: Text,
  lastNumber: Text,
  throughNumbering: Schema.String,
  periods: Schema.Array(PeriodNumbers),
  currencies: Schema.Array(CurrencyTotal),
  accounts: Schema.Array(AccountTotal),
  read: Schema.Array(ReadAccount),
})
export type Manifest = typeof Manifest.Type

/** The manifest with the digest of all the rest as its last key, so that a changed byte in it shows as well. */
const Sealed = Schema.Struct({ ...Manifest.fields, digest: Schema.String })

const digestOf = (manifest: Manifest): string =>
  createHash("sha256").update(JSON.stringify(manifest)).digest("hex")

const encode = Schema.encodeSync(Manifest)

/** The file's text: always the same for the same manifest. */
export const print = (manifest: Manifest): string => {
  const plain = encode(manifest)
  return `${JSON.stringify({ ...plain, digest: digestOf(plain) }, null, 2)}\n`
}

export const decode = Schema.decodeUnknownEither(Schema.parseJson(Sealed))

/** Whether a file's text is byte for byte what was written. */
export const isSealed = ({ digest, ...manifest }: typeof Sealed.Type, text: string): boolean =>
  digest === digestOf(encode(manifest)) && text === print(manifest)
