/** The partner port over HTTP: the surfaces of `docs/interface.md`, with the profile's names and paths. */
import { Context, Effect, Either, Layer, type Option, type Redacted, type Scope } from "effect"
import { Partner, PartnerConnection } from "../Partner.ts"
import type { Interface, ListName } from "../Settings/Interface.ts"
import * as Address from "./Address.ts"
import * as Fault from "./Fault.ts"
import { isBelowClients, ofClient, pagesOfClients } from "./Lists/ClientLists.ts"
import type { PaceMemory } from "./Pacing/PaceMemory.ts"
import type { Reserve } from "./Pacing/SharedPace.ts"
import type { PartnerError } from "./PartnerError.ts"
import { publicKeys } from "./PublicKeys.ts"
import { bookReads, clientPaths, listing, type Wiring } from "./Reads.ts"
import { bounds, defaultLimits, type ServiceLimits, type Tuning } from "./ServiceLimits.ts"
import * as Session from "./Session.ts"
import type { TokenStore } from "./Token.ts"
import * as Credit from "./Wire/Credit.ts"
import * as ReferenceItem from "./Wire/ReferenceItem.ts"
import type { Decoder } from "./Wire/RowDecoder.ts"

export interface Connection {
  readonly name: string
  /** `https://host/api/v1`; http for this machine only. */
  readonly baseUrl: string
  readonly clientId: string
  readonly clientSecret: Redacted.Redacted
  /** Sent verbatim. */
  readonly scope: string
  readonly interface: Interface
  /** The books' time zone; none: UTC. */
  readonly timeZone?: string
  /** The proxy to go through; none: directly. */
  readonly proxy?: Option.Option<Redacted.Redacted>
  readonly limits?: ServiceLimits
  readonly tuning?: Partial<Tuning>
  /** Its pace is kept for several processes; none: by this one alone. */
  readonly reserve?: Reserve
  /** Where this one keeps its pace for the next; none: each learns it anew. */
  readonly memory?: PaceMemory
  /** Its token is shared by several processes; none: this one has its own. */
  readonly tokens?: TokenStore
}

const make = Effect.fn("PartnerHttp.make")(function* (
  connection: Connection,
): Effect.fn.Return<Context.Tag.Service<PartnerConnection>, PartnerError, Scope.Scope> {
  const address = Address.parse(connection.baseUrl)
  if (Either.isLeft(address)) {
    return yield* Fault.make("Rejected", `connection ${connection.name}`, {
      detail: address.left,
      advice: "Set TIEOUT_BASE_URL to https://host/api/v1",
    })
  }
  const profile = connection.interface
  const { paths } = profile
  const limits = bounds(connection.limits ?? defaultLimits, connection.tuning)
  const session = yield* Session.make(address.right, paths.token, connection, limits)
  const timeZone = connection.timeZone ?? "UTC"
  const wiring: Wiring = { session, interface: profile, bounds: limits, timeZone }
  const list = listing(wiring)
  const listOrNull = <A>(kind: ListName, path: string | null, decoder: Decoder<A>) =>
    path === null ? null : list(kind, path, decoder)

  const clients = list("clients", paths.clients, Credit.client)
  /** A list of the credit surface: the connection's own, or one of each client. */
  const ofCredit = <A>(kind: ListName, path: string | null, decoder: Decoder<A>) =>
    path !== null && isBelowClients(path)
      ? pagesOfClients(clients, (clientId) =>
          list(kind, Address.forClient(path, clientId), ofClient(decoder, clientId)),
        )
      : listOrNull(kind, path, decoder)

  return PartnerConnection.of({
    organization: bookReads(wiring, paths),
    client: (clientId) => bookReads(wiring, clientPaths(profile, clientId)),
    clients,
    paymentRails: listOrNull("paymentRails", paths.paymentRails, ReferenceItem.paymentRail),
    receivables: ofCredit("receivables", paths.receivables, Credit.receivableIn(timeZone)),
    creditAccounts: ofCredit("creditAccounts", paths.creditAccounts, Credit.creditAccount),
    publicKeys: publicKeys(wiring, paths.publicKeys),
    requests: session.requests,
  })
})

/** One connection, with its organization's book. Fails with `Rejected` where the base address may not be used. */
export const layer = (connection: Connection): Layer.Layer<PartnerConnection | Partner, PartnerError> =>
  Layer.scopedContext(
    Effect.map(make(connection), (made) =>
      Context.make(PartnerConnection, made).pipe(
        Context.add(Partner, Partner.of({ ...made.organization, requests: made.requests })),
      ),
    ),
  )
