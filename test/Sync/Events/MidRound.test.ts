/** What is told of an account while a round reads on in its statement. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { Database } from "../../../src/Database.ts"
import { Status } from "../../../src/Inquiry/Status.ts"
import { needsAttention, tieOutSentence } from "../../../src/Reconcile/TieOut.ts"
import { Settings } from "../../../src/Settings.ts"
import { json } from "../../Partner/Service.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { accountId, credit, type Partnership, partnership } from "../Partnership.ts"
import { sync } from "../Runs.ts"
import { delivery, processing } from "./Processing.ts"

const told = Effect.flatMap(Status, (status) => status.read(Option.none())).pipe(
  Effect.provide(Layer.provide(Status.Default, Settings.from({ variables: {} }))),
  Effect.map(({ accounts, tieOut }) => [
    ...accounts.map(({ beingRead, remark, tiesOut }) => ({ beingRead, remark, tiesOut })),
    `${needsAttention(tieOut) ? "NO" : "ok"}: ${tieOutSentence(tieOut)}`,
  ]),
)

/** What is told while the service is asked for the account's statement, in a round of one event. */
const midRound = (url: string, held: Partnership) =>
  Effect.gen(function* () {
    const found = Effect.provideService(told, Database, yield* Database)
    const seen: Array<unknown> = []
    held.interfere = (path, response) => {
      if (seen.length > 0 || !path.includes("/statement")) return false
      seen.push("asked")
      const { statement } = held
      void Effect.runPromise(Effect.either(found)).then((answer) => {
        seen.splice(0, 1, answer)
        json(response, { items: statement, pageInfo: { hasNextPage: false } })
      })
      return true
    }
    yield* processing(url, (events, inbox) =>
      Effect.zipRight(
        inbox.put([delivery("account.credited", { accountId, amount: "1.00", currency: "USD" })]),
        events.round("default"),
      ),
    )
    return seen
  })

layer(TestDatabase.layer, { excludeTestServices: true })(
  "An account in the middle of a round of events",
  (it) => {
    it.scoped(
      "is being read, and neither ties out nor not, where its new balance came before its new entries",
      () =>
        Effect.gen(function* () {
          const first = credit(1, "5.00", "5.00")
          const { held, service } = yield* partnership({ balance: "5.00", statement: [first] })
          yield* sync(service.url)
          Object.assign(held, { balance: "6.00", statement: [first, credit(2, "1.00", "6.00")] })
          expect(yield* midRound(service.url, held)).toMatchObject([
            {
              right: [
                { beingRead: true, remark: "the service says 6.00", tiesOut: false },
                "ok: Cash ties out as far as it was read; 1 account is being read, 1 item stands in suspense",
              ],
            },
          ])
          expect((yield* told)[0]).toEqual({ beingRead: false, remark: null, tiesOut: true })
        }),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })("An account that did not tie out before", (it) => {
  it.scoped("does not in the middle of a round either", () =>
    Effect.gen(function* () {
      const first = credit(1, "5.00", "5.00")
      const { held, service } = yield* partnership({ balance: "7.00", statement: [first] })
      yield* sync(service.url)
      const off = [
        { beingRead: false, remark: "the service says 7.00", tiesOut: false },
        "NO: 1 account does not tie out; 1 item stands in suspense",
      ]
      expect(yield* told).toEqual(off)
      expect(yield* midRound(service.url, held)).toMatchObject([{ right: off }])
    }),
  )
})
