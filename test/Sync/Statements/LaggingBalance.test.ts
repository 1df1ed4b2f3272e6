/** A service that counts a movement in its balances some time after it lists it. */
import { expect, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { isoOf } from "../../../src/Common/Time.ts"
import { json } from "../../Partner/Service.ts"
import { skippingWaits } from "../../support/ChangedClock.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { accounts, exchange } from "../Exchange.ts"
import { findings, sync } from "../Runs.ts"

const day = 86_400_000

/**
 * One entry of 10, so many milliseconds old; the balance is 0 until the connector has waited `lag` milliseconds. The statement is shown
 * so many times: then another answers, which does not know the account yet.
 */
const lagging = (age: number, lag: number, shown = Number.POSITIVE_INFINITY) =>
  Effect.gen(function* () {
    const { held, service } = yield* exchange({ listed: ["usd"] })
    const waits: Array<number> = []
    const listed = () => ({
      ...accounts.usd,
      balance: waits.reduce((sum, wait) => sum + wait, 0) < lag ? "0" : "10",
      status: "ACTIVE",
    })
    held.moves = [{ on: "usd", at: isoOf(Date.now() - age), amount: "10" }]
    let statements = 0
    held.interfere = (path, response) => {
      if (path.includes("/statement") && ++statements > shown) {
        json(response, { code: "not_found" }, 404)
        return true
      }
      const all = path.startsWith("/accounts?")
      if (!all && path !== `/accounts/${accounts.usd.accountId}`) return false
      json(response, all ? { items: [listed()], pageInfo: { hasNextPage: false } } : listed())
      return true
    }
    return {
      waits,
      read: skippingWaits(sync(service.url), [Duration.seconds(1), Duration.seconds(2)], (wait) =>
        waits.push(Duration.toMillis(wait)),
      ),
    }
  })

const cash = Effect.map(findings, (all) => all.filter((finding) => String(finding).startsWith("cash")))

layer(TestDatabase.layer, { excludeTestServices: true })("a balance that lags", (it) => {
  it.scoped("is waited for where the statement's last entry is of this minute", () =>
    Effect.gen(function* () {
      const { read, waits } = yield* lagging(0, 3_000)
      yield* read
      expect(waits).toEqual([1_000, 2_000])
      expect(yield* cash).toEqual([])
    }),
  )

  it.scoped("is waited for no longer than it lags", () =>
    Effect.gen(function* () {
      const { read, waits } = yield* lagging(30_000, 1_000)
      yield* read
      expect(waits).toEqual([1_000])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("is waited for where its statement, which was read, is not shown for a while", () =>
    Effect.gen(function* () {
      const { read, waits } = yield* lagging(0, 3_000, 1)
      yield* read
      expect(waits).toEqual([1_000, 2_000])
      expect(yield* cash).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("is waited for once: an account that stays off is off for another reason", () =>
    Effect.gen(function* () {
      const { read, waits } = yield* lagging(0, Number.POSITIVE_INFINITY)
      yield* read
      expect(waits).toEqual([1_000, 2_000])
      expect(yield* cash).toEqual(["cash-balance blocking"])
      yield* read
      expect(waits).toEqual([1_000, 2_000])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  for (const [what, age] of [
    ["old", day],
    ["dated ahead", -day],
  ] as const) {
    it.scoped(`is not waited for where the last entry is ${what}`, () =>
      Effect.gen(function* () {
        const { read, waits } = yield* lagging(age, Number.POSITIVE_INFINITY)
        yield* read
        expect(waits).toEqual([])
        expect(yield* cash).toEqual(["cash-balance blocking"])
      }).pipe(Effect.provide(TestDatabase.layer)),
    )
  }
})
