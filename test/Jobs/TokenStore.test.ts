/** A token that processes share: sealed in the database, requested by one, and used by the others. */
import { randomBytes } from "node:crypto"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Logger, LogLevel, Option, Redacted, Schema } from "effect"
import { describe, it } from "vitest"
import { Database } from "../../src/Database.ts"
import { open, seal } from "../../src/Jobs/SealedToken.ts"
import { keeping } from "../../src/Jobs/TokenStore.ts"
import * as PartnerHttp from "../../src/Partner/Http.ts"
import { Partner } from "../../src/Partner.ts"
import { Interface } from "../../src/Settings/Interface.ts"
import { Secrets } from "../../src/Settings/KnownSecrets.ts"
import { tokenKeyMistakes } from "../../src/Settings/TokenKey.ts"
import { Settings } from "../../src/Settings.ts"
import { account, isRead, json, serve, uuid } from "../Partner/Service.ts"
import { rows, variablesFor } from "../Sync/Runs.ts"
import { settingsFor } from "../support/DatabaseAddress.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const key = Redacted.make(randomBytes(32))
const to = { name: "default", baseUrl: "http://x/api/v1", clientId: "the-client", scope: "a b" }
const token = Redacted.make("the-bearer-token")

describe("a sealed token", () => {
  const sealed = seal(key, to, token)

  it("opens with its key for the credentials that it was issued for, and reveals nothing", () => {
    expect(Option.map(open(key, to, sealed), Redacted.value)).toEqual(Option.some("the-bearer-token"))
    expect(sealed.toString("latin1")).not.toContain("bearer")
    expect(seal(key, to, token).equals(sealed)).toBe(false)
  })

  it.each([
    ["name", { ...to, name: "other" }],
    ["client", { ...to, clientId: "other" }],
    ["service", { ...to, baseUrl: "http://y/api/v1" }],
    ["scope", { ...to, scope: "a" }],
  ])("opens for nobody else: another %s", (_, other) => {
    expect(open(key, other, sealed)).toEqual(Option.none())
  })

  it("does not open with another key, truncated, or with a changed bit", () => {
    expect(open(Redacted.make(randomBytes(32)), to, sealed)).toEqual(Option.none())
    for (let length = 0; length < sealed.length; length++)
      expect(open(key, to, sealed.subarray(0, length))).toEqual(Option.none())
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(open(key, to, changed)).toEqual(Option.none())
    }
  })
})

describe("the key", () => {
  it.each([
    ["base64", randomBytes(32).toString("base64"), true],
    ["base64url", randomBytes(32).toString("base64url"), true],
    ["hexadecimal", randomBytes(32).toString("hex"), true],
    ["too short", randomBytes(31).toString("base64"), false],
    ["typed", "a".repeat(43), false],
    ["a password", "correct horse battery staple", false],
  ])("%s", async (_, text, isGood) => {
    expect(tokenKeyMistakes(Option.some(text))).toHaveLength(isGood ? 0 : 1)
    expect(JSON.stringify(tokenKeyMistakes(Option.some(text)))).not.toContain(text)
    const secrets = new Secrets()
    secrets.learn({ TIEOUT_TOKEN_KEY: text })
    expect(secrets.hide(`x ${text} y`)).not.toContain(text)
    const variables = { ...variablesFor("http://127.0.0.1:9/api/v1"), TIEOUT_TOKEN_KEY: text }
    const read = await Effect.runPromise(
      Effect.either(Effect.provide(Settings, Settings.from({ variables }))),
    )
    expect(read._tag).toBe(isGood ? "Right" : "Left")
  })
})

/** A process of its own that reads an account of the connection. */
const reading = (url: string, index: number, over: Partial<typeof to> = {}) =>
  Effect.gen(function* () {
    const database = yield* Database
    const connection = {
      ...{ ...to, ...over, baseUrl: url },
      clientSecret: Redacted.make("the-client-secret"),
      interface: Schema.decodeUnknownSync(Interface)({}),
    }
    const partner = PartnerHttp.layer({
      ...connection,
      tokens: keeping(database, key, connection),
    })
    const one = Effect.flatMap(Partner, ({ account: read }) => read(uuid(index)))
    return { one: Effect.map(one, isRead), partner }
  })

const ownDatabase = Effect.flatMap(TestDatabase, ({ url }) => Layer.build(Database.layer(settingsFor(url))))

layer(TestDatabase.layer, { excludeTestServices: true })("a token that processes share", (it) => {
  it.scoped("is requested once, and once again when the service refuses it", () =>
    Effect.gen(function* () {
      let refused = ""
      const service = yield* serve(({ headers, path }, response) =>
        headers.authorization === `Bearer ${refused}`
          ? json(response, {}, 401)
          : json(response, account(Number(path.slice(-12)))),
      )
      const lines: Array<string> = []
      const logger = Logger.replace(
        Logger.defaultLogger,
        Logger.make(({ message }) => void lines.push(String(message))),
      )
      yield* Effect.gen(function* () {
        const contexts = yield* Effect.all(
          [1, 2, 3].map((index) =>
            Effect.flatMap(ownDatabase, (database) =>
              Effect.gen(function* () {
                const { one, partner } = yield* reading(service.url, index)
                const context = yield* Layer.build(partner)
                return { one: Effect.provide(one, context) }
              }).pipe(Effect.provide(database)),
            ),
          ),
        )
        const all = Effect.all(
          contexts.map((each) => each.one),
          { concurrency: "unbounded" },
        )
        expect(yield* all).toEqual([true, true, true])
        expect(service.count("/oauth/token")).toBe(1)
        refused = "token-0"
        expect(yield* all).toEqual([true, true, true])
        expect(service.count("/oauth/token")).toBe(2)
        expect(new Set(service.calls.map(({ headers }) => headers.authorization))).toEqual(
          new Set([undefined, "Bearer token-0", "Bearer token-1"]),
        )
      }).pipe(Effect.provide(logger), Logger.withMinimumLogLevel(LogLevel.All))
      expect(lines.join("\n")).not.toMatch(/token-\d/)
      expect(
        yield* rows(`
          select position('token' in encode(sealed, 'escape')) as found, refresh_at > now() + interval '40 minutes' as later
          from sync.tokens`),
      ).toEqual([{ found: 0, later: true }])
      // A later process uses it as well; one with other credentials does not.
      const later = yield* reading(service.url, 4)
      expect(yield* Effect.provide(later.one, later.partner)).toBe(true)
      expect(service.count("/oauth/token")).toBe(2)
      const other = yield* reading(service.url, 5, { clientId: "another" })
      expect(yield* Effect.provide(other.one, other.partner)).toBe(true)
      expect(service.count("/oauth/token")).toBe(3)
      // An expired token is requested again.
      yield* rows("update sync.tokens set refresh_at = now()")
      const late = yield* reading(service.url, 6)
      expect(yield* Effect.provide(late.one, late.partner)).toBe(true)
      expect(service.count("/oauth/token")).toBe(4)
    }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
  )

  it.scoped("that cannot be obtained fails for each process, and blocks none", () =>
    Effect.gen(function* () {
      const service = yield* serve(
        (_, response) => json(response, account(1)),
        (_, response) => json(response, { error: "invalid_client" }, 401),
      )
      const attempts = [1, 2].map((index) =>
        Effect.flatMap(reading(service.url, index), ({ one, partner }) =>
          Effect.flip(Effect.provide(one, partner)),
        ),
      )
      const errors = yield* Effect.all(attempts, { concurrency: "unbounded" })
      expect(errors.map(({ reason }) => reason)).toEqual(["Unauthorized", "Unauthorized"])
      expect(errors.map(({ message }) => message).join()).not.toContain("the-client-secret")
      expect(yield* rows("select * from sync.tokens")).toEqual([])
    }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
  )
})
