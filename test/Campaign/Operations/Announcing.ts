/** Sends webhook events of what changed at the service since the last ones, receives them and processes them in one round. */
import { createHash } from "node:crypto"
import { Effect, Layer, Option } from "effect"
import { Events } from "../../../src/Sync/Events.ts"
import { Inbox } from "../../../src/Webhook/Inbox.ts"
import type { BookName } from "../History.ts"
import { partnerOf, type Site } from "../Site.ts"

/** Events of the newest movements, and of each account that these are about. */
const most = 6

const ofClient = (site: Site, book: BookName): object =>
  book === "org" ? {} : { clientId: site.world.clients.get(book)?.id ?? "" }

const said = (site: Site): ReadonlyArray<{ readonly type: string; readonly data: object }> => {
  const resources = [...site.world.resources.values()].filter(({ hidden }) => !hidden).slice(-most)
  const accounts = [...site.world.accounts.values()].filter(({ entries }) => entries.length > 0).slice(-most)
  return [
    ...resources.map(({ book, content, id, status }) => {
      const kind = content.type.toLowerCase()
      return {
        type: `${kind}.${status === "COMPLETED" ? "completed" : "created"}`,
        data: { [`${kind}Id`]: id, status, ...ofClient(site, book) },
      }
    }),
    ...accounts.map((account) => ({
      type: "account.credited",
      data: {
        ...{
          accountId: account.id,
          amount: "1.00",
          currency: account.currency,
          occurredAt: site.world.servedAt,
        },
        ...ofClient(site, account.book),
      },
    })),
  ]
}

/** Puts events into the inbox and processes them. Only over the port: the processor is given its partner. */
export const announce = (site: Site) =>
  Effect.gen(function* () {
    const deliveries = said(site).map((event) => {
      site.announced += 1
      const id = site.idOf(`event ${site.announced}`)
      const body = Buffer.from(JSON.stringify({ id, timestamp: site.world.servedAt, ...event }))
      return {
        ...{
          connection: site.connection,
          eventId: id,
          type: event.type,
          body,
          keyId: "k",
          algorithm: "ES256",
        },
        ...{ digest: createHash("sha256").update(body).digest("hex"), poison: null },
      }
    })
    if (deliveries.length === 0) return "nothing to tell"
    const inbox = yield* Inbox
    yield* inbox.put(deliveries)
    const round = yield* (yield* Events).round(site.connection)
    return Option.match(round, {
      onNone: () => "nothing waits",
      onSome: ({ entries, events, failed }) => `${events} events, ${failed} failed, ${entries} entries`,
    })
  }).pipe(
    Effect.provide(
      Events.DefaultWithoutDependencies.pipe(
        Layer.provideMerge(Inbox.Default),
        Layer.provideMerge(partnerOf(site)),
        Layer.provide(site.services),
      ),
    ),
  )
