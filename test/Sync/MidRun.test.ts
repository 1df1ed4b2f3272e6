/** What is told of an account while a run reads its balance and its statement, one after the other. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { Database } from "../../src/Database.ts"
import { Status } from "../../src/Inquiry/Status.ts"
import { needsAttention, tieOutSentence } from "../../src/Reconcile/TieOut.ts"
import { Settings } from "../../src/Settings.ts"
import { json } from "../Partner/Service.ts"
import { inOwnDatabase, TestDatabase } from "../support/TestDatabase.ts"
import { delivery, processing } from "./Events/Processing.ts"
import { account, accountId, credit, type Partnership, partnership } from "./Partnership.ts"
import { sync } from "./Runs.ts"

const told = Effect.flatMap(Status, (status) => status.read(Option.none())).pipe(
  Effect.provide(Layer.provide(Status.Default, Settings.from({ variables: {} }))),
  Effect.map(({ accounts, tieOut }) => [
    ...accounts.map(({ beingRead, remark, tiesOut }) => ({ beingRead, remark, tiesOut })),
    `${needsAttention(tieOut) ? "NO" : "ok"}: ${tieOutSentence(tieOut)}`,
  ]),
)

const page = (items: ReadonlyArray<unknown>) => ({ items, pageInfo: { hasNextPage: false } })

/** What is told during `run`, when the service is asked for a path that `isAsked` names for the first time. */
const toldWhen = <A, E, R>(
  held: Partnership,
  isAsked: (path: string) => boolean,
  answer: (path: string) => unknown,
  run: Effect.Effect<A, E, R>,
) =>
  Effect.gen(function* () {
    const found = Effect.provideService(told, Database, yield* Database)
    const seen: Array<unknown> = []
    held.interfere = (path, response) => {
      if (seen.length > 0 || !isAsked(path)) return false
      seen.push("asked")
      void Effect.runPromise(Effect.either(found)).then((said) => {
        seen.splice(0, 1, said)
        json(response, answer(path))
      })
      return true
    }
    yield* run
    return seen
  })

/** The same while the account's statement is asked for, in a round of one event. */
const midRound = (url: string, held: Partnership) =>
  toldWhen(
    held,
    (path) => path.includes("/statement"),
    () => page(held.statement),
    processing(url, (events, inbox) =>
      Effect.zipRight(
        inbox.put([delivery("account.credited", { accountId, amount: "1.00", currency: "USD" })]),
        events.round("default"),
      ),
    ),
  )

const first = credit(1, "5.00", "5.00")
const second = credit(2, "1.00", "6.00")
const beingRead = (remark: string, items: string) => [
  {
    right: [
      { beingRead: true, remark, tiesOut: false },
      `ok: Cash ties out as far as it was read; 1 account is being read, ${items}`,
    ],
  },
]

layer(TestDatabase.layer, { excludeTestServices: true })("An account in the middle of a run", (it) => {
  it.scoped(
    "is being read, and neither ties out nor not, where its new balance came before its new entries",
    () =>
      Effect.gen(function* () {
        const { held, service } = yield* partnership({ balance: "5.00", statement: [first] })
        yield* sync(service.url)
        Object.assign(held, { balance: "6.00", statement: [first, second] })
        expect(yield* midRound(service.url, held)).toMatchObject(
          beingRead("the service says 6.00", "1 item stands in suspense"),
        )
        expect((yield* told)[0]).toEqual({ beingRead: false, remark: null, tiesOut: true })
      }).pipe(inOwnDatabase),
  )

  it.scoped("is being read where its new entries came before its new balance", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({ balance: "5.00", statement: [first] })
      yield* sync(service.url)
      held.statement = [first, second]
      let isRead = false
      const later = { ...account, balance: "6.00", status: "ACTIVE" }
      const seen = yield* toldWhen(
        held,
        (path) => {
          if (!path.startsWith("/accounts")) return false
          if (path.includes("/statement")) isRead = true
          return isRead && !path.includes("/statement")
        },
        (path) => {
          held.balance = "6.00"
          return path.includes(accountId) ? later : page([later])
        },
        sync(service.url, {}, true),
      )
      expect(seen).toMatchObject(beingRead("the service says 5.00", "1 item stands in suspense"))
      expect((yield* told)[0]).toEqual({ beingRead: false, remark: null, tiesOut: true })
    }).pipe(inOwnDatabase),
  )

  it.scoped("does not tie out where it did not before", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({ balance: "7.00", statement: [first] })
      yield* sync(service.url)
      const off = [
        { beingRead: false, remark: "the service says 7.00", tiesOut: false },
        "NO: 1 account does not tie out; 1 item stands in suspense",
      ]
      expect(yield* told).toEqual(off)
      expect(yield* midRound(service.url, held)).toMatchObject([{ right: off }])
    }).pipe(inOwnDatabase),
  )
})
