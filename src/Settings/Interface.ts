/**
 * The interface profile: what `partner-interface.md` leaves open ("not shown"). Nothing else in the code knows these
 * names.
 */
import { Schema } from "effect"

const withDefault = <A, I>(schema: Schema.Schema<A, I>, value: NoInfer<A>) =>
  Schema.optionalWith(schema, { default: () => value })

const Name = Schema.NonEmptyTrimmedString

/** A path below the base address, with `{accountId}` or `{id}` where the identifier goes. */
const Path = Schema.String.pipe(
  Schema.pattern(/^\/[^\s?#]*$/, { description: "a path that starts with / and has no query" }),
)
const Paths = Schema.Struct({
  token: withDefault(Path, "/oauth/token"),
  accounts: withDefault(Path, "/accounts"),
  account: withDefault(Path, "/accounts/{accountId}"),
  statement: withDefault(Path, "/accounts/{accountId}/statement"),
  deposits: withDefault(Schema.NullOr(Path), "/deposits"),
  deposit: withDefault(Path, "/deposits/{id}"),
  withdrawals: withDefault(Schema.NullOr(Path), "/withdrawals"),
  withdrawal: withDefault(Path, "/withdrawals/{id}"),
  conversions: withDefault(Schema.NullOr(Path), null),
  conversion: withDefault(Path, "/conversions/{id}"),
  conversionPairs: withDefault(Schema.NullOr(Path), "/conversion-pairs"),
  addressBook: withDefault(Schema.NullOr(Path), "/destinations"),
  payouts: withDefault(Schema.NullOr(Path), null),
})

const Paging = Schema.Struct({
  cursorParam: withDefault(Name, "after"),
  sizeParam: withDefault(Schema.NullOr(Name), "first"),
  size: withDefault(Schema.Int.pipe(Schema.between(1, 10_000)), 100),
  /** Dotted path; empty for an answer that is the array itself. */
  itemsField: withDefault(Schema.String, "items"),
  pageInfoField: withDefault(Schema.String, "pageInfo"),
})

const MoneyFields = Schema.Struct({
  amountField: withDefault(Name, "amount"),
  currencyField: withDefault(Name, "currency"),
})

export const Interface = Schema.Struct({
  paging: withDefault(Paging, Paging.make({})),
  money: withDefault(MoneyFields, MoneyFields.make({})),
  paths: withDefault(Paths, Paths.make({})),
})

export type Interface = typeof Interface.Type

/** The profile that `design.md` states as the default. */
export const defaultInterface: Interface = Schema.decodeUnknownSync(Interface)({})
