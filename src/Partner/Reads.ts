/** The reads of one book, at the paths of its surface. */
import { Effect, Option } from "effect"
import type { BookReads, Resource, ResourceType, Stretch } from "../Partner.ts"
import { type Interface, type ListName, pagingOf } from "../Settings/Interface.ts"
import * as Address from "./Address.ts"
import type { Pages, Row } from "./Lists/Page.ts"
import { pages } from "./Lists/Paging.ts"
import type { PartnerError } from "./PartnerError.ts"
import type { Bounds } from "./ServiceLimits.ts"
import type { Session } from "./Session.ts"
import * as Account from "./Wire/Account.ts"
import * as Conversion from "./Wire/Conversion.ts"
import * as Deposit from "./Wire/Deposit.ts"
import { Fault as RowFault } from "./Wire/Fields.ts"
import * as ReferenceItem from "./Wire/ReferenceItem.ts"
import { type Decoder, decode } from "./Wire/RowDecoder.ts"
import * as StatementEntry from "./Wire/StatementEntry.ts"
import * as Withdrawal from "./Wire/Withdrawal.ts"

/** What all reads of a connection share. */
export interface Wiring {
  readonly session: Session
  readonly interface: Interface
  readonly bounds: Bounds
  /** The books', which decides the day of what dates them. */
  readonly timeZone: string
}

/** The paths of one book. Null: there is no such list or document. */
export type BookPaths = Pick<
  Interface["paths"],
  | "accounts"
  | "account"
  | "depositInstructions"
  | "statement"
  | "deposits"
  | "deposit"
  | "withdrawals"
  | "withdrawal"
  | "conversions"
  | "conversion"
  | "conversionPairs"
  | "addressBook"
>

/** The client surface: the organization's paths below the prefix, except those that the profile overrides. */
export const clientPaths = (profile: Interface, clientId: string): BookPaths => {
  const { prefix, ...own } = profile.clientPaths
  const { paths } = profile
  const below = (path: string): string => Address.forClient(`${prefix}${path}`, clientId)
  const belowOrNull = (path: string | null): string | null => (path === null ? null : below(path))
  /** Not set: the organization's path; null: the client surface has none. */
  const either = (differs: string | null | undefined, common: string | null): string | null =>
    belowOrNull(differs === undefined ? common : differs)
  return {
    accounts: below(own.accounts ?? paths.accounts),
    account: below(own.account ?? paths.account),
    depositInstructions: either(own.depositInstructions, paths.depositInstructions),
    statement: below(own.statement ?? paths.statement),
    deposits: belowOrNull(own.deposits),
    deposit: below(own.deposit ?? paths.deposit),
    withdrawals: belowOrNull(own.withdrawals),
    withdrawal: below(own.withdrawal ?? paths.withdrawal),
    conversions: belowOrNull(own.conversions),
    conversion: below(own.conversion ?? paths.conversion),
    conversionPairs: either(own.conversionPairs, paths.conversionPairs),
    addressBook: either(own.addressBook, paths.addressBook),
  }
}

/** The object asked for must be the one that comes. */
const withId = <A>(decoder: Decoder<A>, id: string): Decoder<A> => ({
  idField: decoder.idField,
  decode: (row, source) => {
    const found = row[decoder.idField]
    if (typeof found === "string" && found.toLowerCase() !== id.toLowerCase()) {
      throw new RowFault(`$.${decoder.idField}`, "is not the identifier that was asked for")
    }
    return decoder.decode(row, source)
  },
})

/** One thing, none where the service has none. */
export const byId =
  (session: Session) =>
  <A>(
    kind: string,
    template: string,
    decoder: Decoder<A>,
    id: string,
  ): Effect.Effect<Option.Option<Row<A>>, PartnerError> =>
    session.get(kind, Address.fill(template, id)).pipe(
      Effect.map(({ value, source }) =>
        Option.some(decode(withId(decoder, id), value, () => source.text, source)),
      ),
      Effect.catchIf(
        (error) => error.reason === "NotFound",
        () => Effect.succeedNone,
      ),
    )

/** The pages of a list at a path of the profile. */
export const listing =
  ({ bounds, interface: profile, session }: Wiring) =>
  <A>(
    kind: ListName,
    path: string,
    decoder: Decoder<A>,
    filters: Readonly<Record<string, string>> = {},
  ): Pages<A> =>
    pages({ session, paging: pagingOf(profile, kind), bounds, kind, path, decoder, filters })

/** The parameters that limit a list to a stretch of time, as far as the profile names any. */
const filtersOf = (
  { from, to }: Interface["filters"],
  within: Stretch,
): Readonly<Record<string, string>> => ({
  ...(from === null ? {} : { [from]: within.from }),
  ...(to === null ? {} : { [to]: within.to }),
})

export const bookReads = (wiring: Wiring, paths: BookPaths): BookReads => {
  const { filters, money } = wiring.interface
  const list = listing(wiring)
  const statement = (accountId: string, query: Readonly<Record<string, string>>) =>
    list(
      "statement",
      Address.fill(paths.statement, accountId),
      StatementEntry.decoder(accountId, wiring.timeZone),
      query,
    )
  const listOrNull = <A>(kind: ListName, path: string | null, decoder: Decoder<A>): Pages<A> | null =>
    path === null ? null : list(kind, path, decoder)
  const read = byId(wiring.session)
  const decoders = {
    DEPOSIT: { kind: "deposit", path: paths.deposit, decoder: Deposit.decoder(money) },
    WITHDRAWAL: { kind: "withdrawal", path: paths.withdrawal, decoder: Withdrawal.decoder(money) },
    CONVERSION: { kind: "conversion", path: paths.conversion, decoder: Conversion.decoder(money) },
  } as const
  const { depositInstructions: instructions } = paths
  return {
    accounts: list("accounts", paths.accounts, Account.decoder),
    statement: (accountId) => statement(accountId, {}),
    statementWithin:
      filters.from === null && filters.to === null
        ? null
        : (accountId, within) => statement(accountId, filtersOf(filters, within)),
    deposits: listOrNull("deposits", paths.deposits, decoders.DEPOSIT.decoder),
    withdrawals: listOrNull("withdrawals", paths.withdrawals, decoders.WITHDRAWAL.decoder),
    conversions: listOrNull("conversions", paths.conversions, decoders.CONVERSION.decoder),
    conversionPairs: listOrNull("conversionPairs", paths.conversionPairs, ReferenceItem.conversionPair),
    addressBook: listOrNull("addressBook", paths.addressBook, ReferenceItem.destination),
    account: (accountId) => read("account", paths.account, Account.decoder, accountId),
    depositInstructions:
      instructions === null
        ? null
        : (accountId) =>
            read("depositInstructions", instructions, ReferenceItem.depositInstruction(accountId), accountId),
    resource: (type: ResourceType, id: string) => {
      const { kind, path, decoder } = decoders[type]
      return read<Resource>(kind, path, decoder, id)
    },
  }
}
