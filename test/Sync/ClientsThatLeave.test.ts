/** Clients that leave the list, or whose row in it cannot be understood. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { readStates } from "../../src/Reconcile/ReadStates.ts"
import { Settings } from "../../src/Settings.ts"
import { json } from "../Partner/Service.ts"
import { inOwnDatabase, TestDatabase } from "../support/TestDatabase.ts"
import { client, clientId, lending, move } from "./Lending.ts"
import { findings, postings, rows, sync, syncWith, variablesFor } from "./Runs.ts"

const variables = { TIEOUT_CONNECTIONS: "{default: {surfaces: [client]}}" }

/** Three clients; the paths of those in `refused` answer 403, and the accounts of those in `empty` are none. */
const service = Effect.gen(function* () {
  const world = { refused: [2, 3], empty: [2, 3, 4] }
  const { held, service: server } = yield* lending({
    clients: [client(1), client(2), client(3), client(4)],
    clock: "2026-11-02T00:00:00Z",
  })
  const isOf = (path: string, some: ReadonlyArray<number>) =>
    some.some((index) => path.startsWith(`/clients/${clientId(index)}/accounts`))
  held.interfere = (path, response) => {
    if (isOf(path, world.refused)) json(response, { code: "forbidden" }, 403)
    else if (isOf(path, world.empty)) json(response, { items: [], pageInfo: { hasNextPage: false } })
    else return false
    return true
  }
  move(held, clientId(1), { type: "CREDIT", amount: 10 })
  return { held, world, url: server.url, count: server.count }
})

const unreadBooks = Effect.map(
  Effect.provide(
    readStates(null),
    Settings.from({ variables: { ...variablesFor("http://127.0.0.1:1"), ...variables } }),
  ),
  (states) => states.map(({ code }) => code),
)

layer(TestDatabase.layer, { excludeTestServices: true })("a client that never had an account", (it) => {
  it.scoped("is expected no more once the list shows it as another than ACTIVE, or not at all", () =>
    Effect.gen(function* () {
      const { count, held, url } = yield* service
      const refused = yield* sync(url, variables)
      expect(refused.blockingFindings).toBe(2)
      const stands = "adjustment warning"
      expect(yield* findings).toEqual([stands, "stream-unread blocking", "stream-unread blocking"])

      held.clients = [client(1), client(2, { status: "DISABLED" })]
      const left = yield* sync(url, variables)
      expect([left.blockingFindings, left.findingsClosed]).toEqual([0, 2])
      expect(yield* findings).toEqual([stands])
      expect(yield* unreadBooks).toEqual(["C1", "ORG"])

      // They are noted once, and not asked for.
      expect((yield* sync(url, variables)).counters.quarantined).toBe(0)
      expect(count(`/clients/${clientId(4)}/accounts`)).toBe(1)
      const notes = rows("select count(*)::integer as n from sync.stream_reads where trouble = 'Inactive'")
      expect(yield* notes).toEqual([{ n: 3 }])
    }).pipe(inOwnDatabase),
  )

  it.scoped("is read again when it comes back", () =>
    Effect.gen(function* () {
      const { held, url, world } = yield* service
      yield* sync(url, variables)
      held.clients = [client(1)]
      yield* sync(url, variables)
      held.clients = [client(1), client(2), client(4)]
      world.empty = []
      world.refused = []
      move(held, clientId(4), { type: "CREDIT", amount: 7 })
      yield* sync(url, variables)
      expect(yield* findings).toEqual(["adjustment warning", "adjustment warning"])
      expect(yield* postings).toHaveLength(2)
      expect(yield* unreadBooks).toEqual(["C1", "C2", "C4", "ORG"])
    }).pipe(inOwnDatabase),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a client whose row cannot be understood", (it) => {
  it.scoped("is read on, since its book is known", () =>
    Effect.gen(function* () {
      const { held, url, world } = yield* service
      world.refused = []
      yield* sync(url, variables)
      held.clients = [client(1, { legalEntityName: 5 }), client(2, { legalEntityName: 5 })]
      move(held, clientId(1), { type: "CREDIT", amount: 3 })
      const report = yield* sync(url, variables)
      expect([report.counters.entries, report.counters.quarantined, report.clients.read]).toEqual([1, 2, 2])
      expect(yield* findings).toContain("quarantine blocking")
      expect(yield* unreadBooks).toEqual(["C1", "C2", "ORG"])
    }).pipe(inOwnDatabase),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("--client", (it) => {
  it.scoped("takes the code of a client's book, whatever the service calls the client", () =>
    Effect.gen(function* () {
      const { held, url } = yield* service
      const of = (name: string) =>
        Effect.map(
          syncWith({ ...variablesFor(url), ...variables }, { client: Option.some(name) }),
          ({ clients }) => clients.read,
        )
      held.clients = [client(1, { code: "acme" })]
      yield* sync(url, variables)
      held.clients = [client(1, { code: "beta" })]
      for (const name of ["ACME", "beta", clientId(1)]) expect(yield* of(name), name).toBe(1)
      expect((yield* Effect.flip(of("acme")))._tag).toBe("SettingsError")
    }).pipe(inOwnDatabase),
  )
})
