/**
 * Calls a connection's endpoints and says which part of its interface profile is wrong, or proposes one from the live
 * answers. Read only: GET requests, one after the other, besides the token.
 */
import { Effect, Either } from "effect"
import { asker } from "./Doctor/Ask.ts"
import { watching } from "./Doctor/Clock.ts"
import { discover } from "./Doctor/Discover.ts"
import { type EndpointReport, examine } from "./Doctor/Examine.ts"
import { subscriptions, subscriptionsPath } from "./Doctor/Subscriptions.ts"
import type { Undetermined } from "./Doctor/Survey.ts"
import * as Address from "./Partner/Address.ts"
import * as Fault from "./Partner/Fault.ts"
import { bounds, type ServiceLimits, type Tuning } from "./Partner/ServiceLimits.ts"
import * as Session from "./Partner/Session.ts"
import type { Interface } from "./Settings/Interface.ts"
import type { ConnectionSettings } from "./Settings.ts"

export interface Diagnosis {
  readonly connection: string
  readonly surfaces: ConnectionSettings["surfaces"]
  readonly configured: Interface
  /** The profile that the endpoints were called by: the configured one, or the proposed one. */
  readonly profile: Interface
  /** Names that could not be determined; empty without discovery. */
  readonly undetermined: ReadonlyArray<Undetermined>
  readonly endpoints: ReadonlyArray<EndpointReport>
}

/**
 * A person waits, and most refusals are the answer that the doctor looks for. So there are few tries, and no breaker, which
 * would take a series of wrong guesses for a service that is down.
 */
const patience = { tries: 2, concurrency: 1 }
const tuning: Partial<Tuning> = { startRate: 10, limitedTries: 4, breakerThreshold: 1_000 }

/** Fails where the connection as a whole cannot be used: address, credentials, network. */
export const diagnose = Effect.fn("Doctor.diagnose")(function* (
  connection: ConnectionSettings,
  options: {
    readonly discover: boolean
    readonly limits: ServiceLimits
    /** The address that the service should deliver the connection's events to; null if the settings have none. */
    readonly publicUrl: string | null
    readonly tuning?: Partial<Tuning>
  },
) {
  const { baseUrl, interface: configured, name, surfaces } = connection
  const address = Address.parse(baseUrl)
  if (Either.isLeft(address)) {
    return yield* Fault.make("Rejected", `connection ${name}`, {
      detail: address.left,
      advice: "Set TIEOUT_BASE_URL to https://host/api/v1",
    })
  }
  const limits = bounds({ ...options.limits, ...patience }, { ...tuning, ...options.tuning })
  const session = yield* Session.make(address.right, configured.paths.token, connection, limits)
  const { ask, verdict } = watching(asker(session))
  const { profile, undetermined } = options.discover
    ? yield* discover(ask, configured, surfaces)
    : { profile: configured, undetermined: [] }
  const examined = yield* examine(ask, profile, surfaces)
  const { publicUrl } = options
  const delivered: ReadonlyArray<EndpointReport> =
    publicUrl === null
      ? []
      : [
          {
            surface: null,
            endpoint: "subscriptions",
            path: subscriptionsPath,
            ...(yield* subscriptions(ask, profile, publicUrl)),
          },
        ]
  const clock = verdict()
  const clocked: ReadonlyArray<EndpointReport> =
    clock === undefined ? [] : [{ surface: null, endpoint: "clock", path: null, ...clock }]
  const endpoints = [...examined, ...delivered, ...clocked]
  const diagnosis: Diagnosis = { connection: name, surfaces, configured, profile, undetermined, endpoints }
  return diagnosis
}, Effect.scoped)

/** Whether a sync would fail, at least in part. */
export const isWrong = ({ endpoints, undetermined }: Diagnosis): boolean =>
  endpoints.some(({ severity }) => severity === "error") || undetermined.some(({ blocking }) => blocking)
