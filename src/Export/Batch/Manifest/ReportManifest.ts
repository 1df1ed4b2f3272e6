/** `manifest.json` of a report: what it is of, in which state, and how to check its files. */
import { createHash } from "node:crypto"
import { Schema } from "effect"

export const manifestFile = "manifest.json"

const Text = Schema.NullOr(Schema.String)
const Count = Schema.Int.pipe(Schema.nonNegative())
/** A decimal at its currency's scale, major unit. */
const Decimal = Schema.String.pipe(Schema.pattern(/^-?(?:0|[1-9]\d*)(?:\.\d{1,18})?$/))

const Close = Schema.Struct({
  sequence: Count,
  hash: Text,
  /** Of the close's record, chained to the record before. None: an earlier version wrote the report or closed the month. */
  recordHash: Schema.optionalWith(Text, { exact: true }),
  who: Schema.String,
  at: Schema.String,
  reason: Text,
})

const Approval = Schema.Struct({
  name: Schema.String,
  at: Schema.String,
  closeHash: Schema.String,
  /** Chained to the close's. */
  hash: Schema.String,
})

const FileRecord = Schema.Struct({
  name: Schema.String.pipe(Schema.pattern(/^[a-z-]+\.(csv|html|xlsx)$/)),
  /** Without the header. */
  rows: Count,
  bytes: Count,
  sha256: Schema.String.pipe(Schema.pattern(/^[0-9a-f]{64}$/)),
})

const AcceptedException = Schema.Struct({
  /** `F12`, or the identifier of an account. */
  id: Schema.String,
  /** The finding's check; null: it is no finding. */
  check: Text,
  what: Schema.String,
  reason: Schema.String,
})

const CurrencyTotal = Schema.Struct({
  currency: Schema.String,
  scale: Count,
  opening: Decimal,
  debit: Decimal,
  credit: Decimal,
  closing: Decimal,
})

const ProviderAccount = Schema.Struct({
  accountId: Schema.String,
  currency: Schema.String,
  opening: Decimal,
  closing: Decimal,
  /** Of the month, as in the bridge; in a report without `carried` that is included. */
  datedLater: Decimal,
  carried: Schema.optional(Decimal),
  provider: Decimal,
  difference: Decimal,
})

export const Manifest = Schema.Struct({
  product: Schema.Literal("tieout"),
  kind: Schema.Literal("report"),
  version: Schema.String,
  formatVersion: Schema.Literal(1),
  connection: Schema.String,
  book: Schema.Struct({ code: Schema.String, name: Schema.String, clientId: Text }),
  period: Schema.String.pipe(Schema.pattern(/^\d{4}-\d{2}$/)),
  timeZone: Schema.String,
  /** Our clock, UTC; null: everything that was recorded when the report was made. */
  asOf: Text,
  createdAt: Schema.String,
  state: Schema.Literal("closed", "open"),
  close: Schema.NullOr(Close),
  /** Who approved the close; null: nobody. Absent in a report of an older version. */
  approval: Schema.optionalWith(Schema.NullOr(Approval), { exact: true }),
  /** Not closed, or something does not tie out; `reasons` says what. */
  draft: Schema.Boolean,
  reasons: Schema.Array(Schema.String),
  /** Findings that were open at the close and that somebody took responsibility for; not in older reports. */
  accepted: Schema.optional(Schema.Array(AcceptedException)),
  /** Entries in suspense and conversions in transit at the end of the month; not in older reports. */
  waiting: Schema.optionalWith(Schema.Struct({ suspense: Count, transit: Count }), { exact: true }),
  files: Schema.Array(FileRecord),
  currencies: Schema.Array(CurrencyTotal),
  accounts: Schema.Array(ProviderAccount),
})
export type Manifest = typeof Manifest.Type

/** With the digest of all the rest as its last key, so that a changed byte in it shows as well. */
const Sealed = Schema.Struct({ ...Manifest.fields, digest: Schema.String })

const digestOf = (manifest: Manifest): string =>
  createHash("sha256").update(JSON.stringify(manifest)).digest("hex")

const encode = Schema.encodeSync(Manifest)

export const print = (manifest: Manifest): string => {
  const plain = encode(manifest)
  return `${JSON.stringify({ ...plain, digest: digestOf(plain) }, null, 2)}\n`
}

export const decode = Schema.decodeUnknownEither(Schema.parseJson(Sealed))

/** Whether a manifest's text is byte for byte what was written. */
export const isSealed = ({ digest, ...manifest }: typeof Sealed.Type, text: string): boolean =>
  digest === digestOf(encode(manifest)) && text === print(manifest)
