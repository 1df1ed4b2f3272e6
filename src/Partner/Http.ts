/** The partner port over HTTP: the organization surface of `partner-interface.md`, by the names of the profile. */
import { Effect, Either, Layer, Option, type Redacted } from "effect"
import {
  type Pages,
  Partner,
  type PartnerError,
  type Resource,
  type ResourceType,
  type Row,
} from "../Partner.ts"
import type { Interface } from "../Settings/Interface.ts"
import * as Address from "./Address.ts"
import { bounds, defaultLimits, type ServiceLimits, type Tuning } from "./Bounds.ts"
import * as Fault from "./Fault.ts"
import { pages } from "./Paging.ts"
import * as Session from "./Session.ts"
import * as Account from "./Wire/Account.ts"
import * as Conversion from "./Wire/Conversion.ts"
import * as Deposit from "./Wire/Deposit.ts"
import { Fault as RowFault } from "./Wire/Fields.ts"
import * as ReferenceItem from "./Wire/ReferenceItem.ts"
import { type Decoder, decode } from "./Wire/Row.ts"
import * as StatementEntry from "./Wire/StatementEntry.ts"
import * as Withdrawal from "./Wire/Withdrawal.ts"

export interface Connection {
  readonly name: string
  /** `https://host/api/v1`; http for this machine only. */
  readonly baseUrl: string
  readonly clientId: string
  readonly clientSecret: Redacted.Redacted
  /** Sent verbatim. */
  readonly scope: string
  readonly interface: Interface
  readonly limits?: ServiceLimits
  readonly tuning?: Partial<Tuning>
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

const byId =
  (session: Session.Session) =>
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

const make = Effect.fn("PartnerHttp.make")(function* (connection: Connection) {
  const address = Address.parse(connection.baseUrl)
  if (Either.isLeft(address)) {
    return yield* Fault.make("Rejected", `connection ${connection.name}`, {
      detail: address.left,
      advice: "Set TIEOUT_BASE_URL to https://host/api/v1",
    })
  }
  const { paging, paths, money } = connection.interface
  const limits = bounds(connection.limits ?? defaultLimits, connection.tuning)
  const session = yield* Session.make(address.right, paths.token, connection, limits)
  const list = <A>(kind: string, path: string, decoder: Decoder<A>): Pages<A> =>
    pages({ session, paging, bounds: limits, kind, path, decoder })
  const listOrNull = <A>(kind: string, path: string | null, decoder: Decoder<A>): Pages<A> | null =>
    path === null ? null : list(kind, path, decoder)
  const read = byId(session)
  const decoders = {
    DEPOSIT: { kind: "deposit", path: paths.deposit, decoder: Deposit.decoder(money) },
    WITHDRAWAL: { kind: "withdrawal", path: paths.withdrawal, decoder: Withdrawal.decoder(money) },
    CONVERSION: { kind: "conversion", path: paths.conversion, decoder: Conversion.decoder(money) },
  } as const

  return Partner.of({
    accounts: list("accounts", paths.accounts, Account.decoder),
    statement: (accountId) =>
      list("statement", Address.fill(paths.statement, accountId), StatementEntry.decoder(accountId)),
    deposits: listOrNull("deposits", paths.deposits, decoders.DEPOSIT.decoder),
    withdrawals: listOrNull("withdrawals", paths.withdrawals, decoders.WITHDRAWAL.decoder),
    conversions: listOrNull("conversions", paths.conversions, decoders.CONVERSION.decoder),
    conversionPairs: listOrNull("conversionPairs", paths.conversionPairs, ReferenceItem.decoder("pairId")),
    addressBook: listOrNull("addressBook", paths.addressBook, ReferenceItem.decoder("destinationId")),
    account: Effect.fn("Partner.account")((accountId: string) =>
      read("account", paths.account, Account.decoder, accountId),
    ),
    resource: Effect.fn("Partner.resource")((type: ResourceType, id: string) => {
      const { kind, path, decoder } = decoders[type]
      return read<Resource>(kind, path, decoder, id)
    }),
    requests: session.requests,
  })
})

/** One connection's `Partner`. Fails with `Rejected` where the base address may not be used. */
export const layer = (connection: Connection): Layer.Layer<Partner, PartnerError> =>
  Layer.scoped(Partner, make(connection))
