/**
 * The service on loopback has no limit to be careful of. A connection that begins at 20 requests a second, as the program's
 * does, would spend most of a small sync waiting.
 */
import { Effect } from "effect"
import { Connector } from "../../src/Partner/Connector.ts"
import * as PartnerHttp from "../../src/Partner/Http.ts"

/** With the real adapter, which begins fast. */
export const unpaced = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(effect, Connector, (connection) =>
    PartnerHttp.layer({ ...connection, tuning: { startRate: 5_000 } }),
  )
