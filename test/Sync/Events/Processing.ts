/** Rounds over events against a service on loopback. */
import { createHash } from "node:crypto"
import { Effect, Layer } from "effect"
import type { Database } from "../../../src/Database.ts"
import * as PartnerHttp from "../../../src/Partner/Http.ts"
import { Settings } from "../../../src/Settings.ts"
import { Events } from "../../../src/Sync/Events.ts"
import { Inbox } from "../../../src/Webhook/Inbox.ts"
import { unpaced } from "../../support/Unpaced.ts"
import { id } from "../Partnership.ts"
import { variablesFor } from "../Runs.ts"

/** The processor of events, with the partner at a URL. */
export const processing = <A, E>(
  url: string,
  use: (events: Events, inbox: Inbox) => Effect.Effect<A, E, Partner | Database>,
  variables: Record<string, string> = {},
) =>
  Effect.gen(function* () {
    const settings = yield* Settings
    const partner = PartnerHttp.layer({
      ...(yield* settings.connection("default")),
      limits: { ...settings.limits, tries: 1 },
    })
    return yield* use(yield* Events, yield* Inbox).pipe(Effect.provide(partner))
  }).pipe(
    Effect.provide(
      Events.Default.pipe(
        Layer.provideMerge(Inbox.Default),
        Layer.provideMerge(Settings.from({ variables: { ...variablesFor(url), ...variables } })),
      ),
    ),
    unpaced,
  )
type Partner = Layer.Layer.Success<ReturnType<typeof PartnerHttp.layer>>

let counter = 0

export const delivery = (type: string, data: object) => {
  counter += 1
  const event = { id: id(5_000 + counter), timestamp: "2026-10-01T00:00:00Z", type, data }
  const body = Buffer.from(JSON.stringify(event))
  return {
    connection: "default",
    eventId: event.id,
    digest: createHash("sha256").update(body).digest("hex"),
    type,
    body,
    keyId: "k",
    algorithm: "ES256",
    poison: null,
  }
}
