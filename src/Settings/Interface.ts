/**
 * The interface profile: what `docs/interface.md` leaves open ("not shown"). Nothing else in the code knows these
 * names.
 */

import { Schema } from "effect"
import { optionalKey, withDefault } from "../Common/Field.ts"
import { Signatures } from "./Signatures.ts"

const Name = Schema.NonEmptyTrimmedString

/** A path below the base address, with `{accountId}` or `{id}` where the identifier goes. */
const Path = Schema.String.pipe(
  Schema.pattern(/^\/[^\s?#]*$/, { description: "a path that starts with / and has no query" }),
)
/** The path of a list or document that the service may lack; null: it does, and it is not read. */
const OptionalPath = Schema.NullOr(Path)

const Paths = Schema.Struct({
  token: withDefault(Path, "/oauth/token"),
  accounts: withDefault(Path, "/accounts"),
  account: withDefault(Path, "/accounts/{accountId}"),
  depositInstructions: withDefault(OptionalPath, "/accounts/{accountId}/deposit-instructions"),
  statement: withDefault(Path, "/accounts/{accountId}/statement"),
  deposits: withDefault(OptionalPath, "/deposits"),
  deposit: withDefault(Path, "/deposits/{id}"),
  withdrawals: withDefault(OptionalPath, "/withdrawals"),
  withdrawal: withDefault(Path, "/withdrawals/{id}"),
  conversions: withDefault(OptionalPath, null),
  conversion: withDefault(Path, "/conversions/{id}"),
  conversionPairs: withDefault(OptionalPath, "/conversion-pairs"),
  addressBook: withDefault(OptionalPath, "/destinations"),
  payouts: withDefault(OptionalPath, null),
  clients: withDefault(Path, "/clients"),
  paymentRails: withDefault(OptionalPath, "/settings/payment-rails"),
  receivables: withDefault(OptionalPath, "/receivables"),
  creditAccounts: withDefault(OptionalPath, "/credit-accounts"),
  publicKeys: withDefault(Path, "/webhooks/public-keys"),
})

/**
 * The client surface: the organization's paths below `prefix`, except those set here. The interface shows no lists of
 * deposits, withdrawals and conversions there.
 */
const ClientPaths = Schema.Struct({
  prefix: withDefault(
    Path.pipe(
      Schema.filter((path) => path.includes("{clientId}")),
      Schema.annotations({ description: "a path with {clientId} in it" }),
    ),
    "/clients/{clientId}",
  ),
  accounts: optionalKey(Path),
  account: optionalKey(Path),
  depositInstructions: optionalKey(OptionalPath),
  statement: optionalKey(Path),
  deposits: withDefault(OptionalPath, null),
  deposit: optionalKey(Path),
  withdrawals: withDefault(OptionalPath, null),
  withdrawal: optionalKey(Path),
  conversions: withDefault(OptionalPath, null),
  conversion: optionalKey(Path),
  conversionPairs: optionalKey(OptionalPath),
  addressBook: optionalKey(OptionalPath),
})

/** Query parameters that limit a statement to a stretch of time; null: the service has none. */
const Filters = Schema.Struct({
  from: withDefault(Schema.NullOr(Name), null),
  to: withDefault(Schema.NullOr(Name), null),
})

const Paging = Schema.Struct({
  cursorParam: withDefault(Name, "after"),
  sizeParam: withDefault(Schema.NullOr(Name), "first"),
  size: withDefault(Schema.Int.pipe(Schema.between(1, 10_000)), 100),
  /** Dotted path; empty where the answer is the array itself. */
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
  clientPaths: withDefault(ClientPaths, ClientPaths.make({})),
  filters: withDefault(Filters, Filters.make({})),
  webhook: withDefault(Signatures, Signatures.make({})),
})

export type Interface = typeof Interface.Type

/** The profile that `docs/design.md` states as the default. */
export const defaultInterface: Interface = Schema.decodeUnknownSync(Interface)({})
