/** Events that name a movement that is archived. */
import { createHash } from "node:crypto"
import { expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { describe } from "vitest"
import * as PartnerHttp from "../../src/Partner/Http.ts"
import { Settings } from "../../src/Settings.ts"
import { Events } from "../../src/Sync/Events.ts"
import { Inbox } from "../../src/Webhook/Inbox.ts"
import { debit, id } from "../Sync/Partnership.ts"
import { inboxStates, postings, variablesFor } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unpaced } from "../support/Unpaced.ts"
import { archiving, closedYears } from "./Years.ts"

const delivery = (type: string, data: object) => {
  const event = { id: id(5_000), timestamp: "2026-10-20T12:00:00Z", type, data }
  const body = Buffer.from(JSON.stringify(event))
  const digest = createHash("sha256").update(body).digest("hex")
  return {
    connection: "default",
    eventId: event.id,
    digest,
    type,
    body,
    keyId: "k",
    algorithm: "ES256",
    poison: null,
  }
}

const round = (url: string, type: string, data: object) =>
  Effect.gen(function* () {
    const settings = yield* Settings
    const partner = PartnerHttp.layer({ ...(yield* settings.connection("default")), limits: settings.limits })
    yield* (yield* Inbox).put([delivery(type, data)])
    return yield* (yield* Events).round("default").pipe(Effect.provide(partner))
  }).pipe(
    Effect.provide(
      Events.Default.pipe(
        Layer.provideMerge(Inbox.Default),
        Layer.provideMerge(Settings.from({ variables: variablesFor(url) })),
      ),
    ),
    unpaced,
  )

describe("an event of an archived movement", () => {
  it.scopedLive("has the statement of its account read on, as of any other", () =>
    Effect.gen(function* () {
      const { held, service } = yield* closedYears
      yield* archiving(2024)
      held.statement.push({
        ...debit(71, "100.00", "1026.00"),
        relatedResourceType: "DEPOSIT",
        relatedResourceId: id(111),
        occurredAt: "2026-10-20T12:00:00Z",
      })
      held.balance = "1026.00"
      const took = yield* round(service.url, "deposit.canceled", { depositId: id(111), status: "CANCELED" })
      expect(Option.map(took, ({ entries, failed }) => ({ entries, failed }))).toEqual(
        Option.some({ entries: 1, failed: 0 }),
      )
      expect((yield* postings).at(-1)).toBe("unidentified suspense 100, cash -100")
      expect(yield* inboxStates).toEqual(["done 1"])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
