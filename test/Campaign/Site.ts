/** One history being played: the service, the connection that reads it, and where its exports go. */
import { type Clock, Effect, Layer, Scope } from "effect"
import { Ledger } from "../../src/Ledger.ts"
import { Connector } from "../../src/Partner/Connector.ts"
import { Reconcile } from "../../src/Reconcile.ts"
import { Settings } from "../../src/Settings.ts"
import type { ReclassifiedFact, RuledFact, RuleFact } from "./Facts.ts"
import type { Remembered } from "./Hindsight.ts"
import type { History, HistorySettings, Operation, RuleText } from "./History.ts"
import { type IdOf, identifiers } from "./Identifiers.ts"
import type { Copy } from "./Operations/Copying.ts"
import { type Hook, port } from "./Port.ts"
import { simulated } from "./SimulatedClock.ts"
import { World } from "./World.ts"

export interface Site {
  readonly history: History
  readonly world: World
  readonly idOf: IdOf
  /** The address of the database. */
  readonly database: string
  /** Names the connection: each history has books of its own in the one database. */
  readonly connection: string
  readonly url: string
  /** Where exports are written. */
  readonly out: string
  /** Called for every request; an operation that will be interrupted or cut sets it. */
  hook: Hook
  /** How far our clock is ahead of the service's (milliseconds), and how far it will be after so many more requests. */
  ahead: number
  jump: { after: number; readonly ahead: number } | null
  /** A digest of every closed month, by book and month. */
  closed: ReadonlyMap<string, string>
  /** What the books said at a moment. */
  remembered: ReadonlyArray<Remembered>
  /** The last backup. */
  copy: Copy | null
  /** The lines that persons moved so far. */
  readonly reclassified: Array<ReclassifiedFact & { readonly bookId: number }>
  /** Rates that the history imported in addition to those of the database. */
  readonly corrected: Array<Extract<Operation, { readonly do: "rates" }>>
  /** Moments at which something was exported, the database's time. */
  readonly moments: Array<string>
  /** Webhook events sent so far. */
  announced: number
  /** The posting rules in the settings now, and the earlier ones of each book. */
  rules: ReadonlyArray<RuleFact>
  readonly ruled: Array<RuledFact & { readonly bookId: number }>
  readonly scope: Scope.Scope
  settings: Layer.Layer<Settings>
  /** The services of most operations, which are built again only when the settings change. */
  services: Layer.Layer<Ledger | Reconcile>
  readonly clock: Clock.Clock
}

/** Where backups and files that a person writes are, and what is moved away from the exports. */
export const asideOf = ({ out }: Site): string => `${out}-aside`

const cased = (id: string | undefined, { capitals = false }: RuleText): string | undefined =>
  capitals ? id?.toUpperCase() : id

/** Rules in the form of the settings, with identifiers instead of names. */
const rulesOf = (rules: ReadonlyArray<RuleText>, idOf: IdOf): ReadonlyArray<RuleFact> =>
  rules.map((rule) => {
    const { account, client, destination, ...rest } = rule.match
    const ids = {
      accountId: cased(account && idOf(account), rule),
      client: cased(client && idOf(client), rule),
      destinationId: cased(destination && idOf(`destination ${destination}`), rule),
    }
    // Criteria that the rule does not name are left out.
    return { code: rule.code, match: JSON.parse(JSON.stringify({ ...rest, ...ids })) }
  })

/** The environment of a history's connection. */
const variablesOf = (
  settings: HistorySettings,
  connection: string,
  url: string,
  rules: ReadonlyArray<RuleFact>,
): Record<string, string> => {
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
    ...(rules.length === 0
      ? {}
      : {
          TIEOUT_RULES: JSON.stringify(
            rules.map(({ code, match }) => ({ match, account: { code, name: `Ruled:${code}:{currency}` } })),
          ),
        }),
  }
}

/** Uses these settings from now on. */
const settled = Effect.fn("Campaign.settled")(function* (
  { settings: of }: History,
  connection: string,
  url: string,
  rules: ReadonlyArray<RuleFact>,
) {
  const settings = yield* Layer.build(Settings.from({ variables: variablesOf(of, connection, url, rules) }))
  const services = yield* Layer.build(Layer.mergeAll(Ledger.Default, Reconcile.Default)).pipe(
    Effect.provide(settings),
  )
  return {
    ...{ rules, settings: Layer.succeedContext(settings), services: Layer.succeedContext(services) },
  }
})

/** Changes the posting rules of the settings. */
export const changeRules = (site: Site, rules: ReadonlyArray<RuleText>) =>
  Effect.map(
    settled(site.history, site.connection, site.url, rulesOf(rules, site.idOf)),
    (changed) => void Object.assign(site, changed),
  ).pipe(Effect.provideService(Scope.Scope, site.scope), Effect.orDie)

/** `url` is that of the server on loopback, where the history is read over HTTP. */
export const siteOf = Effect.fn("Campaign.site")(function* (
  history: History,
  { connection, database, out }: Pick<Site, "connection" | "database" | "out">,
  url = "http://127.0.0.1:1",
) {
  const idOf = identifiers(history.seed)
  const world = new World(history.settings, idOf)
  const site: Site = {
    ...{ history, world, idOf, connection, database, out, url },
    ...(yield* settled(history, connection, url, rulesOf(history.settings.rules ?? [], idOf))),
    hook: Effect.void,
    ...{ ahead: 0, jump: null, closed: new Map(), remembered: [], copy: null },
    reclassified: [],
    corrected: [],
    moments: [],
    announced: 0,
    ruled: [],
    scope: yield* Effect.scope,
    clock: simulated(() => world.now + site.ahead),
  }
  return site
})

/** Counts a request: our clock may jump at it. */
const jumping = (site: Site): void => {
  if (site.jump === null) return
  site.jump.after -= 1
  if (site.jump.after > 0) return
  site.ahead = site.jump.ahead
  site.jump = null
}

/** The partner port of a site: that of its world, unless it is read over HTTP. */
export const partnerOf = (site: Site) =>
  port(
    site.world,
    Effect.suspend(() => {
      jumping(site)
      return site.hook
    }),
  )

/** Runs Tieout's code with the world's clock, service and settings. */
export const within =
  (site: Site, overHttp: boolean) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) => {
    const timed = effect.pipe(Effect.withClock(site.clock), Effect.provide(site.settings))
    return overHttp ? timed : Effect.provideService(timed, Connector, () => partnerOf(site))
  }
