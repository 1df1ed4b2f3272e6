import { expect, layer } from "@effect/vitest"
import { Effect, Option, Schema } from "effect"
import { Database } from "../../src/Database.ts"
import { Inbox } from "../../src/Webhook/Inbox.ts"
import { listen } from "../../src/Webhook.ts"
import { freePort } from "../support/Loopback.ts"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { algorithms } from "./Keys.ts"
import { database, settingsAt } from "./Listening.ts"

const post = (origin: string, path: string) =>
  Effect.promise(() => fetch(`${origin}${path}`, { method: "POST" }).then((answer) => answer.json()))

const State = Schema.Struct({ webhooks: Schema.Record({ key: Schema.String, value: Schema.Int }) })

const stateOf = (origin: string) =>
  Effect.promise(async () =>
    Schema.decodeUnknownSync(State)(await (await fetch(`${origin}/control/state`)).json()),
  ).pipe(Effect.map(({ webhooks }) => webhooks))

const settled = (origin: string): Effect.Effect<Record<string, number>> =>
  Effect.repeat(Effect.delay(stateOf(origin), "50 millis"), { until: ({ pending }) => pending === 0 })

/** The sandbox and a listener, each knowing where the other is. */
const together = (algorithm: string) =>
  Effect.gen(function* () {
    const port = yield* freePort
    const webhook = `http://127.0.0.1:${port}/webhooks/default`
    const sandbox = yield* runningSandbox({
      entries: 200,
      clients: 1,
      webhook,
      webhookAlgorithm: algorithm,
      clientId: "client",
      clientSecret: "hunter2-secret",
    })
    const running = yield* Effect.provide(listen({ host: "127.0.0.1", port }), settingsAt(sandbox.url))
    const { query, transaction } = yield* Database
    yield* transaction(
      Effect.zipRight(
        query("Test.empty", (sql) => sql`set local session_replication_role = replica`),
        query("Test.empty", (sql) => sql`delete from webhook.inbox`),
      ),
    )
    return { sandbox, running, inbox: yield* Inbox, origin: sandbox.origin }
  })

layer(database, { excludeTestServices: true })("the sandbox's webhooks", (it) => {
  for (const algorithm of algorithms) {
    it.scoped(`sends events of what happens, signed with ${algorithm}`, () =>
      Effect.gen(function* () {
        const { inbox, origin, sandbox } = yield* together(algorithm)
        sandbox.advance(40)
        sandbox.advance(10, 0)
        const state = yield* settled(origin)
        expect(state.accepted).toBe(state.events)
        const rows = yield* inbox.list({ connection: Option.none(), state: Option.none(), limit: 1_000 })
        expect(rows.length).toBe(state.events)
        expect(new Set(rows.map((row) => row.algorithm))).toEqual(new Set([algorithm]))
        const types = new Set(rows.map(({ type }) => type))
        for (const type of [
          "deposit.created",
          "deposit.completed",
          "withdrawal.created",
          "account.credited",
          "account.debited",
        ])
          expect(types).toContain(type)
        const events = yield* inbox.take("default", 1_000)
        expect(events.some(({ body }) => Buffer.from(body).includes(`"clientId":"`))).toBe(true)
      }),
    )
  }

  it.scoped(
    "sends them badly when it is told to, and rotates its key: nothing but the dropped ones is lost",
    () =>
      Effect.gen(function* () {
        const { inbox, origin, running, sandbox } = yield* together("ES256")
        yield* post(origin, "/control/webhooks?set=duplicates:30,reorder:30,drop:20,tamper:30")
        for (let round = 0; round < 4; round++) {
          yield* post(origin, "/control/advance?movements=20")
          yield* post(origin, "/control/webhooks/rotate")
        }
        const state = yield* settled(origin)
        const [{ events: stored = 0, conflicts = 1 } = {}] = yield* inbox.counts()
        expect(stored).toBe((state.events ?? 0) - (state.dropped ?? 0))
        expect(conflicts).toBe(0)
        expect(state.tamperedAccepted).toBe(0)
        for (const name of ["duplicates", "reordered", "dropped", "tampered"])
          expect(state[name]).toBeGreaterThan(0)
        const counts = (yield* running.counts).get("default")
        expect(counts?.get("unsigned")).toBeGreaterThanOrEqual(state.tampered ?? 0)
        sandbox.advance(1)
        expect(yield* post(origin, "/control/webhooks?set=noise")).toMatchObject({ error: "invalid_request" })
      }),
  )

  it.scoped("announces changes of an address book entry", () =>
    Effect.gen(function* () {
      const { inbox, origin } = yield* together("ES256")
      for (const to of ["ACTIVE", "SUSPENDED", "CLOSED"]) {
        expect(yield* post(origin, `/control/destinations?index=3&to=${to}`)).toMatchObject({ status: to })
      }
      expect(yield* post(origin, "/control/destinations?index=3&to=GONE")).toMatchObject({
        error: "invalid_request",
      })
      yield* settled(origin)
      const rows = yield* inbox.list({ connection: Option.none(), state: Option.none(), limit: 10 })
      expect(rows.map(({ type }) => type).sort()).toEqual([
        "destination.activated",
        "destination.closed",
        "destination.suspended",
      ])
    }),
  )

  it.scoped("makes movements by itself", () =>
    Effect.gen(function* () {
      const { inbox, origin } = yield* together("EdDSA")
      expect(yield* post(origin, "/control/rate?movements=50")).toEqual({ rate: 50 })
      yield* Effect.repeat(Effect.delay(stateOf(origin), "50 millis"), {
        until: ({ events = 0 }) => events > 20,
      })
      expect(yield* post(origin, "/control/rate?movements=0")).toEqual({ rate: 0 })
      const state = yield* settled(origin)
      expect(state.events).toBeGreaterThan(20)
      expect(yield* inbox.counts()).toMatchObject([{ state: "waiting", events: state.events }])
    }),
  )
})
