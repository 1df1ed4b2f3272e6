/** How long a connection's keys are trusted without asking, and what of them is taken anew. By a clock that the test sets. */
import { Deferred, Effect, Fiber } from "effect"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { PartnerError } from "../../src/Partner/PartnerError.ts"
import type { PublicKey } from "../../src/Partner.ts"
import { defaultTuning, type Keyring, makeKeyring } from "../../src/Webhook/Keyring.ts"
import { readKey } from "../../src/Webhook/KeyText.ts"
import { pairOf, recordOf } from "./Keys.ts"

const [first, second] = [pairOf("EdDSA"), pairOf("EdDSA")]
const began = Date.parse("2026-10-05T08:00:00Z")
/** Lets time pass until so many minutes after the test began. */
const minutes = (count: number): void => {
  vi.advanceTimersByTime(count * 60_000 - performance.now())
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "performance"], now: began })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A service that counts how often it is asked, and what it answers now. */
const ringOf = (answer: () => PublicKey | "away") => {
  let asked = 0
  const ring = makeKeyring({
    areListed: true,
    read: () => {
      asked++
      const key = answer()
      return key === "away"
        ? new PartnerError({
            ...{ reason: "Timeout", operation: "GET keys", detail: "no answer within the headers timeout" },
            advice: "set a larger `limits.headersTimeout`",
          })
        : Effect.succeed([key])
    },
  })
  return Effect.map(ring, (keyring) => ({ keyring, asked: () => asked }))
}

describe("keys that do not come", () => {
  it("are no reason to change limits of the settings, which are not theirs", () =>
    Effect.gen(function* () {
      const { keyring } = yield* ringOf(() => "away")
      const { detail } = yield* Effect.flip(keyring.refresh)
      expect(detail).toBe("GET keys: no answer within the headers timeout")
    }).pipe(Effect.scoped, Effect.runPromise))
})

const found = (keyring: Keyring) => Effect.map(Effect.either(keyring.find(first.id)), ({ _tag }) => _tag)

describe("the keys of a connection, over time,", () => {
  it("[W4] are trusted for an hour after they were asked for, however often the service then fails", () =>
    Effect.gen(function* () {
      let away = false
      const { asked, keyring } = yield* ringOf(() => {
        // The answer takes its time: what was withdrawn meanwhile may still be in it.
        if (!away) minutes(2)
        return away ? "away" : recordOf(first)
      })
      const at = function* (count: number) {
        minutes(count)
        const isFresh = keyring.fresh(first.id) !== undefined
        return [count, isFresh, yield* found(keyring), asked()]
      }
      yield* keyring.refresh
      away = true
      expect(yield* at(4)).toEqual([4, true, "Right", 1])
      // Asked in the background from the fifth minute on, and before the key is trusted from the tenth.
      expect(yield* at(11)).toEqual([11, false, "Right", 2])
      expect(yield* at(12)).toEqual([12, true, "Right", 2])
      expect(yield* at(60)).toEqual([60, false, "Right", 3])
      expect(yield* at(61)).toEqual([61, false, "Left", 4])
      expect(yield* at(62)).toEqual([62, false, "Left", 5])
    }).pipe(Effect.scoped, Effect.runPromise))

  it("[W4] are trusted no longer where the clock was ahead and is set right", () =>
    Effect.gen(function* () {
      let away = false
      const { asked, keyring } = yield* ringOf(() => (away ? "away" : recordOf(first)))
      yield* keyring.refresh
      away = true
      vi.setSystemTime(began - 24 * 60 * 60_000)
      minutes(61)
      expect(keyring.fresh(first.id)).toBeUndefined()
      expect([yield* found(keyring), asked()]).toEqual(["Left", 2])
    }).pipe(Effect.scoped, Effect.runPromise))

  it("[W4] are asked for again a minute after too many unknown ones, where the clock was ahead and is set right", () =>
    Effect.gen(function* () {
      const { asked, keyring } = yield* ringOf(() => recordOf(first))
      const unknown = Effect.either(keyring.find(second.id))
      for (let count = 0; count < 11; count++) yield* unknown
      expect(asked()).toBe(10)
      vi.setSystemTime(began - 24 * 60 * 60_000)
      minutes(1)
      expect((yield* unknown)._tag).toBe("Right")
      expect(asked()).toBe(11)
    }).pipe(Effect.scoped, Effect.runPromise))

  it("[W4] are waited for by so many deliveries at most, and strangers keep nobody with a known key from them", () =>
    Effect.gen(function* () {
      let answer: Effect.Effect<ReadonlyArray<PublicKey>> = Effect.succeed([recordOf(first)])
      const tuning = { ...defaultTuning, mostWaiting: 2 }
      const keyring = yield* makeKeyring(
        { areListed: true, read: () => Effect.suspend(() => answer) },
        tuning,
      )
      yield* keyring.refresh
      minutes(11)
      const answered = yield* Deferred.make<void>()
      answer = Effect.as(Deferred.await(answered), [recordOf(first)])
      const stranger = Effect.fork(keyring.find(second.id))
      const waiting = [yield* stranger, yield* stranger, yield* Effect.fork(keyring.find(first.id))]
      yield* Effect.yieldNow()
      expect(yield* Effect.flip(keyring.find(second.id))).toMatchObject({ reason: "Crowded", retryAfter: 5 })
      yield* Deferred.succeed(answered, undefined)
      const names = Effect.map(Fiber.join(Fiber.all(waiting)), (known) =>
        known.map((one) => one?.record.publicKeyId),
      )
      expect(yield* names).toEqual([undefined, undefined, first.id])
      // Who has gone makes room.
      expect(yield* keyring.find(second.id)).toBeUndefined()
    }).pipe(Effect.scoped, Effect.runPromise))

  it("[W5] have the text that the service lists now, under the same identifier, too", () =>
    Effect.gen(function* () {
      let key = recordOf(first)
      const { keyring } = yield* ringOf(() => key)
      for (const pair of [first, first, second]) {
        key = { ...recordOf(pair), publicKeyId: first.id }
        yield* keyring.refresh
        expect(keyring.fresh(first.id)?.key?.equals(pair.publicKey)).toBe(true)
      }
      expect(readKey(key.publicKey)?.equals(second.publicKey)).toBe(true)
    }).pipe(Effect.scoped, Effect.runPromise))
})
