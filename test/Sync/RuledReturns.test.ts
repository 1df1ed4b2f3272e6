/** Returns under posting rules: a movement that was fully returned leaves no balance anywhere, whatever the rules are by then. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { chooseBooks } from "../../src/Book/ChosenBooks.ts"
import { Ledger } from "../../src/Ledger.ts"
import { Resources } from "../../src/Mirror/Resources.ts"
import { postChanges, throughRules } from "../../src/Reclassify/ByRules.ts"
import { Reconcile } from "../../src/Reconcile.ts"
import { beginRun } from "../../src/Run.ts"
import { Settings } from "../../src/Settings.ts"
import { PostingFacts } from "../../src/Sync/Statements/PostingFacts.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { credit, deposit, id, partnership } from "./Partnership.ts"
import { balances, findings, rows, sync } from "./Runs.ts"

const under = (variables: Record<string, string>) =>
  Layer.mergeAll(Ledger.Default, Reconcile.Default, Resources.Default, PostingFacts.Default).pipe(
    Layer.provideMerge(Settings.from({ variables })),
  )

type Match = Readonly<Record<string, string>>
const rulesOf = (...rules: ReadonlyArray<readonly [match: Match, code: string]>) => ({
  TIEOUT_RULES: JSON.stringify(
    rules.map(([match, code]) => ({ match, account: { code, name: `Income:R${code}:{currency}` } })),
  ),
})
const sales: readonly [Match, string] = [{ type: "DEPOSIT", direction: "CREDIT", remitter: "^ACME" }, "4120"]
const anySales: readonly [Match, string] = [{ type: "DEPOSIT", remitter: "^ACME" }, "4120"]
const returns: readonly [Match, string] = [{ type: "DEPOSIT", direction: "DEBIT" }, "4190"]

const acme = (over: object = {}) => deposit(111, "1000.00", { remitterName: "ACME", ...over })

const back = { ...credit(12, "1000.00", "0.00", id(111)), type: "DEBIT" }

/** A deposit that is booked under the rules `first`, and refused and returned under the rules `second`. */
const returned = (first: object, second: object, over: object = {}) =>
  Effect.gen(function* () {
    const { held, service } = yield* partnership({
      balance: "1000.00",
      statement: [credit(11, "1000.00", "1000.00", id(111))],
      deposits: [acme()],
    })
    yield* sync(service.url, { ...first })
    const before = yield* balances
    held.deposits = [acme({ status: "REJECTED", ...over })]
    held.statement.push(back)
    held.balance = "0.00"
    yield* sync(service.url, { ...second })
    return { before, after: yield* balances, findings: yield* findings }
  }).pipe(Effect.provide(TestDatabase.layer))

/** A refused deposit and its return, each in the account of a rule of its own. */
const inTwoAccounts = Effect.gen(function* () {
  const world = yield* partnership({
    balance: "0.00",
    statement: [credit(11, "1000.00", "1000.00", id(111)), back],
    deposits: [acme({ status: "REJECTED" })],
  })
  // Synced once more: the check compares a movement only with a statement that was read after it.
  yield* sync(world.service.url, rulesOf(sales, returns))
  yield* sync(world.service.url, rulesOf(sales, returns))
  expect(yield* findings).toEqual([])
  return world
})

layer(TestDatabase.layer, { excludeTestServices: true })("a deposit that is returned", (it) => {
  it.scoped.each([
    ["under a rule for what comes in", rulesOf(sales), rulesOf(sales), {}],
    [
      "whose remitter is called otherwise by then",
      rulesOf(anySales),
      rulesOf(anySales),
      { remitterName: "acme trading" },
    ],
    ["under a rule that was made meanwhile", {}, rulesOf(anySales), {}],
    ["under a rule that is gone", rulesOf(anySales), {}, {}],
  ] as const)("leaves nothing: %s", ([, first, second, over]) =>
    Effect.gen(function* () {
      const { after, before, findings: found } = yield* returned(first, second, over)
      expect(before).toHaveLength(2)
      expect([after, found]).toEqual([[], []])
    }),
  )

  it.scoped("leaves nothing where its resource was unknown until both entries were booked", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({
        balance: "0.00",
        statement: [credit(11, "1000.00", "1000.00", id(111)), back],
        deposits: [],
      })
      yield* sync(service.url, rulesOf(sales))
      expect(yield* balances).toEqual([])
      held.deposits = [acme({ status: "REJECTED" })]
      yield* sync(service.url, rulesOf(sales))
      expect([yield* balances, yield* findings]).toEqual([[], []])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped(
    "stands in the account of a rule that names its direction, which no check minds while the rule is there",
    () =>
      Effect.gen(function* () {
        const { after, findings: found } = yield* returned(rulesOf(sales, returns), rulesOf(sales, returns))
        expect([after, found]).toEqual([["4120 -1000", "4190 1000"], []])
      }),
  )

  it.scoped(
    "is found by the next sync once that rule is gone, though nothing new came, and no more once it is back",
    () =>
      Effect.gen(function* () {
        const { service } = yield* inTwoAccounts
        yield* sync(service.url, rulesOf(sales))
        expect(yield* findings).toEqual(["clearing-nets blocking"])
        yield* sync(service.url, rulesOf(sales, returns))
        expect(yield* findings).toEqual([])
      }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("is found again once a month was checked by other rules meanwhile", () =>
    Effect.gen(function* () {
      const { service } = yield* inTwoAccounts
      yield* sync(service.url, rulesOf(sales))
      expect(yield* findings).toEqual(["clearing-nets blocking"])
      yield* Effect.flatMap(Reconcile, (reconcile) =>
        reconcile.run({ connection: Option.none(), period: Option.some("2026-10"), full: false }),
      ).pipe(Effect.provide(under(rulesOf(sales, returns))))
      expect(yield* findings).toEqual([])
      yield* sync(service.url, rulesOf(sales))
      expect(yield* findings).toEqual(["clearing-nets blocking"])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped(
    "is found where rules that are gone moved it, by a process that was killed before it checked",
    () =>
      Effect.gen(function* () {
        const { service } = yield* partnership({
          balance: "0.00",
          statement: [credit(11, "1000.00", "1000.00", id(111)), back],
          deposits: [acme({ status: "REJECTED" })],
        })
        yield* sync(service.url, rulesOf(anySales))
        yield* sync(service.url, rulesOf(anySales))
        const [book] = yield* chooseBooks(Option.none(), Option.none())
        if (book === undefined) throw new Error("no book")
        const run = yield* beginRun("default", "reclassify")
        yield* throughRules(book, "returns apart", (changes, _, proof) =>
          postChanges(book, run, changes, proof),
        ).pipe(Effect.provide(under(rulesOf(returns, anySales))))
        expect(yield* balances).toEqual(["4120 -1000", "4190 1000"])
        yield* sync(service.url, rulesOf(anySales))
        expect(yield* findings).toEqual(["clearing-nets blocking"])
      }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("is a finding where an earlier version left it on two accounts", () =>
    Effect.gen(function* () {
      yield* inTwoAccounts
      yield* Effect.flatMap(Reconcile, (reconcile) =>
        reconcile.run({ connection: Option.none(), period: Option.none(), full: true }),
      ).pipe(
        Effect.provide(
          Reconcile.Default.pipe(Layer.provideMerge(Settings.from({ variables: rulesOf(sales) }))),
        ),
      )
      expect(yield* rows("select message from reconcile.open_findings")).toEqual([
        {
          message:
            "The deposit of 1000.00 USD was rejected, but leaves -1000.00 USD in 4120 Income:R4120:USD and 1000.00 USD in 4190 Income:R4190:USD.",
        },
      ])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
