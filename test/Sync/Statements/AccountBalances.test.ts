/** Statements whose accounts are listed with another balance than they end with. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { json } from "../../Partner/Service.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { accounts, exchange } from "../Exchange.ts"
import { rows, sync } from "../Runs.ts"

layer(TestDatabase.layer, { excludeTestServices: true })(
  "an account that the service fails to show",
  (it) => {
    it.scoped("is a failure of its own: the other balances are read again", () =>
      Effect.gen(function* () {
        const moves = (["usd", "eur"] as const).map((on) => ({ on, at: "2026-09-05", amount: "10" }))
        const { held, service } = yield* exchange({ moves })
        // The list is older than the statements.
        const listed = held.listed.map((name) => ({ ...accounts[name], balance: "0", status: "ACTIVE" }))
        held.interfere = (path, response) => {
          if (path.startsWith("/accounts?")) {
            json(response, { items: listed, pageInfo: { hasNextPage: false } })
            return true
          }
          if (path !== `/accounts/${accounts.usd.accountId}`) return false
          json(response, { code: "odd" }, 400)
          return true
        }
        const failed = yield* Effect.flip(sync(service.url))
        expect(failed.message.split("\n")).toEqual([
          expect.stringMatching(`^account balances: GET /accounts/${accounts.usd.accountId} answered 400: `),
          "Everything else was read and is committed; run the command again to go on from there.",
        ])
        expect(
          yield* rows("select currency, balance::float8 from mirror.accounts order by currency"),
        ).toEqual([
          { currency: "EUR", balance: 10 },
          { currency: "USD", balance: 0 },
        ])
      }),
    )
  },
)
