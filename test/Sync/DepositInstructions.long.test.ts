/** How accounts are paid into: asked for once per account. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { json } from "../Partner/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { accounts, exchange } from "./Exchange.ts"
import { rows, sync } from "./Runs.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("deposit instructions", (it) => {
  it.scoped("are kept of every account that has them, where the service fails to show those of one", () =>
    Effect.gen(function* () {
      const { held, service } = yield* exchange({ listed: ["usd", "eur", "usdt"] })
      const { accountId: broken } = accounts.usd
      held.interfere = (path, response) => {
        const [, of] = /^\/accounts\/([^/]+)\/deposit-instructions$/.exec(path) ?? []
        if (of === undefined) return false
        if (of === broken) json(response, { code: "odd" }, 500)
        else json(response, { accountNumber: "1", bankName: "B", beneficiaryName: "N", swiftBic: "X" })
        return true
      }
      const { notices } = yield* sync(service.url)
      expect(notices).toEqual([
        expect.stringContaining(`GET /accounts/${broken}/deposit-instructions answered 500`),
      ])
      expect(notices[0]).toContain("tieout sync --full")
      expect(
        yield* rows(
          "select item_id from mirror.reference_items where kind = 'deposit_instruction' order by 1",
        ),
      ).toEqual([{ item_id: accounts.eur.accountId }, { item_id: accounts.usdt.accountId }])
    }),
  )

  it.scoped("keep nothing else from being read, where the service shows none of them", () =>
    Effect.gen(function* () {
      const { held, service } = yield* exchange({ listed: ["usd", "eur", "usdt", "usd2"] })
      held.moves = [{ on: "usd", at: "2026-09-05", amount: "10" }]
      let answered = 503
      held.interfere = (path, response) => {
        const isAsked = path.endsWith("/deposit-instructions")
        if (isAsked) response.writeHead(answered).end()
        return isAsked
      }
      const { counters, notices } = yield* sync(service.url)
      expect(counters.entries).toBe(1)
      expect(notices).toHaveLength(1)
      answered = 204
      expect((yield* sync(service.url, {}, true)).notices).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
