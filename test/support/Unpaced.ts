/**
 * The service on loopback has no rate limit. A connection that begins at 20 requests a second, like the program's, would spend
 * most of a small sync waiting.
 */
import { Effect } from "effect"
import { Connector } from "../../src/Partner/Connector.ts"
import * as PartnerHttp from "../../src/Partner/Http.ts"

/** Uses the real adapter, but begins fast. */
export const unpaced = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(effect, Connector, (connection) =>
    PartnerHttp.layer({ ...connection, tuning: { startRate: 5_000 } }),
  )
