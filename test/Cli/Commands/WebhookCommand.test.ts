/** `tieout webhook …` as a person types it, on events that a listener has received. */
import { sign } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Database } from "../../../src/Database.ts"
import { uuid } from "../../Partner/Service.ts"
import { Tool } from "../../support/Program.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { pairOf, recordOf } from "../../Webhook/Keys.ts"
import { database, deliver, eventOf, headersFor, keysFrom, listening } from "../../Webhook/Listening.ts"

const pair = pairOf("EdDSA")

const tieout = (...args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase
    return yield* (yield* Tool).run(args, { DATABASE_URL: url })
  })

const json = (...args: ReadonlyArray<string>) =>
  Effect.map(tieout("--json", ...args), ({ code, out }) => ({ code, document: JSON.parse(out) }))

const states = Effect.flatMap(Database, ({ query }) =>
  query(
    "Test.states",
    (sql) => sql<Array<{ event_id: string; state: string; tries: number }>>`
      select event_id, state, tries from webhook.inbox order by event_id, digest`,
  ),
).pipe(Effect.map((rows) => rows.map(({ event_id, state, tries }) => `${event_id} ${state} ${tries}`)))

layer(Layer.merge(database, Tool.layer), {
  excludeTestServices: true,
})("tieout webhook", (it) => {
  it.scoped(
    "events lists what was received, replay takes up what was given up, and each ends with its exit code",
    () =>
      Effect.gen(function* () {
        const none = yield* tieout("webhook", "events")
        expect(none).toMatchObject({ code: 0, out: "No such event has been received.\n" })

        const { inbox, port } = yield* listening(keysFrom(() => [recordOf(pair)]))
        for (const body of [
          eventOf(1),
          eventOf(2),
          eventOf(3),
          eventOf(3, { timestamp: "2026-10-06T08:00:00Z" }),
          "not an event",
        ])
          expect((yield* deliver(port, pair, body)).status).toBe(200)
        const taken = yield* inbox.take("default", 10)
        const of = (index: number) => taken.filter(({ eventId }) => eventId === uuid(index))
        yield* inbox.fail(of(1), "the service lists no such deposit", 1)
        yield* inbox.finish(of(2).map((event) => ({ ...event, note: "unknown type: all was looked at" })))

        const text = yield* tieout("webhook", "events")
        expect(text.code).toBe(0)
        expect(text.out).toMatch(new RegExp(`default +${uuid(1)} +deposit\\.completed +dead +1 +the service`))
        expect(text.out).toMatch(new RegExp(`${uuid(3)} +deposit\\.completed +waiting +1 +came with several`))
        expect(text.out).toMatch(new RegExp(`${uuid(2)} +deposit\\.completed +done +1 +unknown type`))
        expect(text.out).toContain("default: 1 event dead\n")
        expect(text.out).toContain("default: 2 events waiting, 2 of them with several bodies\n")
        expect(text.out).not.toContain("more, which")
        const cut = yield* tieout("webhook", "events", "--limit", "2")
        expect(cut.out).toContain("\n… and 3 more, which --limit N shows.\n")
        const waiting = yield* json("webhook", "events", "--limit", "1", "--state", "waiting")
        expect(waiting.document).toMatchObject({ total: 2, truncated: true })
        expect(waiting.document.events).toHaveLength(1)
        expect((yield* json("webhook", "events")).document).toMatchObject({ total: 5, truncated: false })
        expect((yield* tieout("webhook", "events", "--limit", "0")).code).toBe(2)
        const dead = yield* json("webhook", "events", "--state", "dead", "--connection", "default")
        expect([dead.code, dead.document.events]).toEqual([
          0,
          [expect.objectContaining({ eventId: uuid(1), state: "dead", tries: 1, conflict: false })],
        ])
        const poison = yield* json("webhook", "events", "--state", "poison")
        const [unreadable] = poison.document.events
        expect(unreadable).toMatchObject({ type: null, error: "The body is not JSON." })
        expect((yield* tieout("webhook", "events", "--connection", "nobody")).code).toBe(2)
        expect((yield* tieout("webhook", "events", "--state", "gone")).code).toBe(2)

        const nothing = yield* tieout("webhook", "replay")
        expect([nothing.code, nothing.error]).toEqual([
          2,
          "No event is named.\nName the events' identifiers, or --dead for all that were given up.\n",
        ])
        expect((yield* tieout("webhook", "replay", "--dead", uuid(1))).code).toBe(2)
        const other = { TIEOUT_CONNECTIONS: "{ default: {}, acme: {} }" }
        const { url } = yield* TestDatabase
        const tool = yield* Tool
        for (const args of [
          ["--connection", "acme", "--dead"],
          ["--dead", "--connection", "acme"],
        ])
          expect(
            yield* tool.run(["webhook", "replay", ...args], { DATABASE_URL: url, ...other }),
          ).toMatchObject({ code: 0, out: "0 events set back to waiting.\n" })
        expect(
          yield* tool.run(["webhook", "replay", uuid(1), "--connection", "acme"], {
            DATABASE_URL: url,
            ...other,
          }),
        ).toMatchObject({
          code: 1,
          out: expect.stringContaining("0 events set back"),
        })
        expect((yield* tieout("webhook", "replay", "--connection", "nobody", "--dead")).code).toBe(2)
        expect(yield* json("webhook", "replay", "--dead", "--connection", "default")).toEqual({
          code: 0,
          document: { schema: 1, replayed: [{ connection: "default", eventId: uuid(1) }], missing: [] },
        })
        const again = yield* tieout("webhook", "replay", uuid(2), uuid(99), unreadable.eventId)
        expect(again).toMatchObject({
          code: 1,
          out: `${uuid(99)}: no such event, or one that cannot be read.\n${unreadable.eventId}: no such event, or one that cannot be read.\n1 event set back to waiting.\n`,
        })
        expect(yield* states).toEqual([
          `${uuid(1)} waiting 0`,
          `${uuid(2)} waiting 0`,
          `${uuid(3)} waiting 1`,
          `${uuid(3)} waiting 1`,
          `${unreadable.eventId} poison 0`,
        ])
      }),
  )

  it.scoped("diagnose finds how a captured delivery is signed, and says where nothing fits", () =>
    Effect.gen(function* () {
      const { cwd } = yield* Tool
      const body = eventOf(7)
      const key = pair.publicKey.export({ type: "spki", format: "pem" }).toString()
      writeFileSync(join(cwd, "key.pem"), key)
      const capture = { headers: headersFor(pair, body), body }
      writeFileSync(join(cwd, "good.json"), JSON.stringify(capture))
      writeFileSync(join(cwd, "bad.json"), JSON.stringify({ ...capture, body: `${body} ` }))
      const good = yield* tieout("webhook", "diagnose", "good.json", "--key", "key.pem")
      expect(good.code).toBe(0)
      expect(good.out).toContain("# The signature is good")
      expect(good.out).toContain("signature: x-signature")
      const bad = yield* tieout("webhook", "diagnose", "bad.json", "--key", "key.pem")
      expect([bad.code, bad.out.startsWith("Nothing fits: ")]).toEqual([1, true])
      const gone = yield* tieout("webhook", "diagnose", "gone.json", "--key", "key.pem")
      expect([gone.code, gone.error.startsWith("gone.json: there is no such file")]).toEqual([2, true])
    }),
  )

  it.scoped("diagnose tries what the named connection's settings say first, and prints settings for it", () =>
    Effect.gen(function* () {
      const { cwd, run } = yield* Tool
      const body = eventOf(8)
      writeFileSync(join(cwd, "key.pem"), pair.publicKey.export({ type: "spki", format: "pem" }).toString())
      const signature = sign(null, Buffer.from(`v9|now|${body}`), pair.privateKey).toString("base64")
      const headers = { ...headersFor(pair, body), "x-signature": signature, "x-when": "now" }
      writeFileSync(join(cwd, "own.json"), JSON.stringify({ headers, body }))
      const own = { interface: { webhook: { signedPayload: "v9|{header:x-when}|{body}" } } }
      const diagnose = (connections: object, ...more: ReadonlyArray<string>) =>
        run(["webhook", "diagnose", "own.json", "--key", "key.pem", ...more], {
          TIEOUT_CONNECTIONS: JSON.stringify(connections),
        })
      const two = { first: {}, other: own }
      expect((yield* diagnose(two)).code).toBe(1)
      expect((yield* diagnose(two, "--connection", "first")).code).toBe(1)
      expect((yield* diagnose(two, "--connection", "nobody")).code).toBe(2)
      const printed =
        "connections:\n  other:\n    surfaces:\n      - organization\n    interface:\n      webhook:\n"
      const named = yield* diagnose(two, "--connection", "other")
      expect([named.code, named.out.includes(printed)]).toEqual([0, true])
      // Of one connection there is no doubt.
      const only = yield* diagnose({ other: own })
      expect([only.code, only.out.includes(printed)]).toEqual([0, true])
    }),
  )
})
