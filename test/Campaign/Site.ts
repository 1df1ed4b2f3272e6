/** One history being played: the service, the connection that reads it, and where its exports go. */
import { type Clock, Effect, Layer } from "effect"
import { Ledger } from "../../src/Ledger.ts"
import { Connector } from "../../src/Partner/Connector.ts"
import { Reconcile } from "../../src/Reconcile.ts"
import { Settings } from "../../src/Settings.ts"
import type { ReclassifiedFact } from "./Facts.ts"
import type { History, HistorySettings, Operation } from "./History.ts"
import { type IdOf, identifiers } from "./Identifiers.ts"
import { type Hook, port } from "./Port.ts"
import { simulated } from "./SimulatedClock.ts"
import { World } from "./World.ts"

export interface Site {
  readonly history: History
  readonly world: World
  readonly idOf: IdOf
  /** Names the connection: each history has books of its own in the one database. */
  readonly connection: string
  /** Where exports are written. */
  readonly out: string
  /** Called for every request; an operation that is to be stopped or cut sets it. */
  hook: Hook
  /** What was moved by hand so far. */
  readonly reclassified: Array<ReclassifiedFact & { readonly bookId: number }>
  /** Rates that the history imported over those that the database has. */
  readonly corrected: Array<Extract<Operation, { readonly do: "rates" }>>
  /** Moments at which something was exported, the database's time. */
  readonly moments: Array<string>
  /** Webhook events sent so far. */
  announced: number
  readonly settings: Layer.Layer<Settings>
  /** What most operations need: made once, since the settings stay. */
  readonly services: Layer.Layer<Ledger | Reconcile>
  readonly clock: Clock.Clock
}

/** The environment of a history's connection. */
const variablesOf = (settings: HistorySettings, connection: string, url: string): Record<string, string> => {
  const prefix = `TIEOUT_${connection.toUpperCase()}`
  return {
    [`${prefix}_BASE_URL`]: url,
    [`${prefix}_CLIENT_ID`]: "client",
    [`${prefix}_CLIENT_SECRET`]: "secret",
    [`${prefix}_SCOPE`]: "accounts:read",
    TIEOUT_CONNECTIONS: `{${connection}: {surfaces: [${settings.surfaces.join(", ")}]}}`,
    TIEOUT_ACCOUNTING_TIME_ZONE: settings.timeZone,
    TIEOUT_ACCOUNTING_FLAT_WITHDRAWAL_FEE: settings.flatWithdrawalFee,
    TIEOUT_ACCOUNTING_RECEIVABLES_VIEW: settings.view,
    TIEOUT_ACCOUNTING_RECEIVABLES_REPAYMENT_AMOUNT: settings.repaymentAmount,
    TIEOUT_ACCOUNTING_RECEIVABLES_INTEREST: settings.interest,
    TIEOUT_ACCOUNTING_RECEIVABLES_INTEREST_BETWEEN_READS: settings.interestBetweenReads,
    TIEOUT_ACCOUNTING_VALUATION_METHOD: settings.method,
    TIEOUT_ACCOUNTING_VALUATION_MAX_RATE_AGE_DAYS: "31",
    TIEOUT_LIMITS_TRIES: "1",
  }
}

/** `url`: of the server on loopback, where the history is read over HTTP. */
export const siteOf = Effect.fn("Campaign.site")(function* (
  history: History,
  connection: string,
  out: string,
  url?: string,
) {
  const idOf = identifiers(history.seed)
  const world = new World(history.settings, idOf)
  const settings = yield* Layer.build(
    Settings.from({ variables: variablesOf(history.settings, connection, url ?? "http://127.0.0.1:1") }),
  )
  const services = yield* Layer.build(Layer.mergeAll(Ledger.Default, Reconcile.Default)).pipe(
    Effect.provide(settings),
  )
  const site: Site = {
    ...{ history, world, idOf, connection, out },
    hook: Effect.void,
    reclassified: [],
    corrected: [],
    moments: [],
    announced: 0,
    settings: Layer.succeedContext(settings),
    services: Layer.succeedContext(services),
    clock: simulated(world),
  }
  return site
})

/** The partner port of a site: that of its world, unless it is read over HTTP. */
export const partnerOf = (site: Site) =>
  port(
    site.world,
    Effect.suspend(() => site.hook),
  )

/** Runs what Tieout does as of the world's clock, with its service, in its settings. */
export const within =
  (site: Site, overHttp: boolean) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) => {
    const timed = effect.pipe(Effect.withClock(site.clock), Effect.provide(site.settings))
    return overHttp ? timed : Effect.provideService(timed, Connector, () => partnerOf(site))
  }
