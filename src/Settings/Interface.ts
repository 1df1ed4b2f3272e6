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
/** The path of a document that the service may lack; null: it does, and it is not read. */
const OptionalPath = Schema.NullOr(Path)

/** The path of a list, which may have parameters of its own. */
const ListPath = Schema.String.pipe(
  Schema.pattern(/^\/[^\s#]*$/, { description: "a path that starts with /, perhaps with parameters (?a=b)" }),
)
/** The path of a list that the service may lack; null: it does, and it is not read. */
const OptionalList = Schema.NullOr(ListPath)

/** With the place of the identifier: without it every account, or movement, would be the same one. */
const holding =
  (place: "{accountId}" | "{id}") =>
  (path: typeof Path): typeof Path =>
    path.pipe(
      Schema.filter((text) => /\{(?:id|accountId)\}/.test(text)),
      Schema.annotations({ description: `a path with ${place} in it` }),
    )

const AccountPath = holding("{accountId}")(Path)
const StatementPath = holding("{accountId}")(ListPath)
const MovementPath = holding("{id}")(Path)

const Paths = Schema.Struct({
  token: withDefault(Path, "/oauth/token"),
  accounts: withDefault(ListPath, "/accounts"),
  account: withDefault(AccountPath, "/accounts/{accountId}"),
  depositInstructions: withDefault(OptionalPath, "/accounts/{accountId}/deposit-instructions"),
  statement: withDefault(StatementPath, "/accounts/{accountId}/statement"),
  deposits: withDefault(OptionalList, "/deposits"),
  deposit: withDefault(MovementPath, "/deposits/{id}"),
  withdrawals: withDefault(OptionalList, "/withdrawals"),
  withdrawal: withDefault(MovementPath, "/withdrawals/{id}"),
  conversions: withDefault(OptionalList, null),
  conversion: withDefault(MovementPath, "/conversions/{id}"),
  conversionPairs: withDefault(OptionalList, "/conversion-pairs"),
  addressBook: withDefault(OptionalList, "/destinations"),
  payouts: withDefault(OptionalList, null),
  clients: withDefault(ListPath, "/clients"),
  paymentRails: withDefault(OptionalList, "/settings/payment-rails"),
  receivables: withDefault(OptionalList, "/receivables"),
  creditAccounts: withDefault(OptionalList, "/credit-accounts"),
  publicKeys: withDefault(ListPath, "/webhooks/public-keys"),
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
  accounts: optionalKey(ListPath),
  account: optionalKey(AccountPath),
  depositInstructions: optionalKey(OptionalPath),
  statement: optionalKey(StatementPath),
  deposits: withDefault(OptionalList, null),
  deposit: optionalKey(MovementPath),
  withdrawals: withDefault(OptionalList, null),
  withdrawal: optionalKey(MovementPath),
  conversions: withDefault(OptionalList, null),
  conversion: optionalKey(MovementPath),
  conversionPairs: optionalKey(OptionalList),
  addressBook: optionalKey(OptionalList),
})

/** Query parameters that limit a statement to a stretch of time; null: the service has none. */
const Filters = Schema.Struct({
  from: withDefault(Schema.NullOr(Name), null),
  to: withDefault(Schema.NullOr(Name), null),
})

const PageInfoField = Schema.NullOr(Schema.String)
const SizeParam = Schema.NullOr(Name)
const Size = Schema.Int.pipe(Schema.between(1, 10_000))

const Paging = Schema.Struct({
  cursorParam: withDefault(Name, "after"),
  sizeParam: withDefault(SizeParam, "first"),
  size: withDefault(Size, 100),
  /** Dotted path; empty where the answer is the array itself. */
  itemsField: withDefault(Schema.String, "items"),
  /** Dotted path; null where answers have no PageInfo, because a list comes whole. */
  pageInfoField: withDefault(PageInfoField, "pageInfo"),
})

/** Where one list differs from `paging`. */
const OfList = optionalKey(
  Schema.Struct({
    cursorParam: optionalKey(Name),
    sizeParam: optionalKey(SizeParam),
    size: optionalKey(Size),
    itemsField: optionalKey(Schema.String),
    pageInfoField: optionalKey(PageInfoField),
  }),
)

const Lists = Schema.Struct({
  accounts: OfList,
  statement: OfList,
  deposits: OfList,
  withdrawals: OfList,
  conversions: OfList,
  conversionPairs: OfList,
  addressBook: OfList,
  clients: OfList,
  paymentRails: OfList,
  receivables: OfList,
  creditAccounts: OfList,
  publicKeys: OfList,
  subscriptions: OfList,
})

const MoneyFields = Schema.Struct({
  amountField: withDefault(Name, "amount"),
  currencyField: withDefault(Name, "currency"),
})

export const Interface = Schema.Struct({
  paging: withDefault(Paging, Paging.make({})),
  lists: withDefault(Lists, {}),
  money: withDefault(MoneyFields, MoneyFields.make({})),
  paths: withDefault(Paths, Paths.make({})),
  clientPaths: withDefault(ClientPaths, ClientPaths.make({})),
  filters: withDefault(Filters, Filters.make({})),
  webhook: withDefault(Signatures, Signatures.make({})),
})

export type Interface = typeof Interface.Type

/** A list of the service, by its key among the paths. */
export type ListName = keyof Interface["lists"]

/** How one list is paged. */
export const pagingOf = (
  { lists, paging }: Pick<Interface, "lists" | "paging">,
  list: ListName,
): Interface["paging"] => ({ ...paging, ...lists[list] })

/** Whether a list is asked for with parameters of its own. */
export const hasOwnParameters = ({ lists }: Pick<Interface, "lists">, list: ListName): boolean => {
  const own = lists[list]
  return own?.cursorParam !== undefined || own?.sizeParam !== undefined || own?.size !== undefined
}

/** Whether nothing in an answer can say that more follows. */
export const isUnpaged = ({ itemsField, pageInfoField }: Interface["paging"]): boolean =>
  itemsField === "" || pageInfoField === null

type PagingField = keyof Interface["paging"]

/** The key that decides it: the list's own, where it is set. */
export const pagingSetting = (
  { lists }: Pick<Interface, "lists">,
  list: ListName,
  field: PagingField,
): string =>
  lists[list]?.[field] === undefined ? `interface.paging.${field}` : `interface.lists.${list}.${field}`

/** The profile that `docs/design.md` states as the default. */
export const defaultInterface: Interface = Schema.decodeUnknownSync(Interface)({})
