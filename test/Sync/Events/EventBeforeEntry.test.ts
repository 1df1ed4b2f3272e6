/** Events that come before the statement shows what they are about. */
import { expect, layer } from "@effect/vitest"
import { Duration, Effect, Option } from "effect"
import { Database } from "../../../src/Database.ts"
import { skippingWaits } from "../../support/ChangedClock.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { accountId, credit, deposit, id, type Partnership, partnership } from "../Partnership.ts"
import { findings, inboxStates, postings, rows, sync } from "../Runs.ts"
import { delivery, processing } from "./Processing.ts"

const first = credit(1, "5.00", "5.00", id(19))
const earlier = { balance: "5.00", deposits: [deposit(19, "5.00")], statement: [first] }
const entry = credit(2, "100.00", "105.00", id(20))

const booked = ["deposit cash 5, deposits_clearing -5", "deposit cash 100, deposits_clearing -100"]

const completed = () => delivery("deposit.completed", { depositId: id(20), status: "COMPLETED" })
const credited = () =>
  delivery("account.credited", {
    accountId,
    amount: "100.0",
    currency: "USD",
    relatedResourceType: "DEPOSIT",
    relatedResourceId: id(20),
    occurredAt: entry.occurredAt,
  })
const adjusted = () =>
  delivery("account.credited", { accountId, amount: "100", currency: "USD", occurredAt: entry.occurredAt })

const all = { statement: [first, entry], balance: "105.00" }

/** A service whose deposit has come, and whose statement and balance do not show it before `show`. */
const behind = Effect.fn(function* (statement: Partnership["statement"] = [first]) {
  const { held, service } = yield* partnership({ ...earlier, statement })
  yield* sync(service.url)
  held.deposits = [...held.deposits, deposit(20, "100.00")]
  const waits: Array<number> = []
  const rounds = (
    deliveries: ReadonlyArray<ReturnType<typeof delivery>>,
    onWait: (waited: number) => Partial<Partnership>,
    tries: number,
  ) =>
    processing(service.url, (events, inbox) =>
      Effect.gen(function* () {
        yield* inbox.put(deliveries)
        const states: Array<unknown> = []
        for (let round = 1; round <= tries; round++) {
          const done = yield* skippingWaits(
            events.round("default"),
            [Duration.seconds(1), Duration.seconds(2)],
            (wait) => {
              waits.push(Duration.toMillis(wait))
              Object.assign(held, onWait(waits.length))
            },
          )
          states.push(Option.map(done, ({ failed }) => failed).pipe(Option.getOrNull))
          yield* soon
        }
        return {
          states,
          listed: yield* inbox.list({ connection: Option.none(), state: Option.none(), limit: 9 }),
        }
      }),
    )
  return { held, rounds, waits }
})

/** The next try is due at once. */
const soon = Effect.flatMap(Database, (database) =>
  database.execute(
    "Test.soon",
    (sql) => sql`update webhook.inbox set next_try_at = now() where next_try_at > now()`,
  ),
)

layer(TestDatabase.layer, { excludeTestServices: true })("An event that comes before its entry", (it) => {
  for (const [what, event] of [
    ["a completed movement", completed],
    ["a posting of a movement", credited],
    ["a posting of none", adjusted],
  ] as const) {
    it.scoped(`waits a moment for it: ${what} [W14]`, () =>
      Effect.gen(function* () {
        const { rounds, waits } = yield* behind()
        const { states } = yield* rounds([event()], (waited) => (waited === 2 ? all : {}), 1)
        expect(waits).toEqual([1_000, 2_000])
        expect(states).toEqual([0])
        expect(yield* postings).toEqual(booked)
        expect(yield* inboxStates).toEqual(["done 1"])
        expect(yield* findings).toEqual([])
        // Nor was there one in between.
        expect(yield* rows("select check_name from reconcile.findings")).toEqual([])
      }).pipe(Effect.provide(TestDatabase.layer)),
    )
  }

  it.scoped("is tried again, and left to the next sync after a quarter of a minute", () =>
    Effect.gen(function* () {
      const { rounds, waits } = yield* behind()
      const { listed, states } = yield* rounds([completed()], () => ({}), 6)
      // A moment is waited for at the first try alone.
      expect(waits).toEqual([1_000, 2_000])
      expect(states).toEqual([1, 1, 1, 1, 0, null])
      expect(listed.map(({ note, state, tries }) => ({ note, state, tries }))).toEqual([
        { note: "no statement shows what it is about (yet): left to the next sync", state: "done", tries: 5 },
      ])
      expect(yield* postings).toEqual(booked.slice(0, 1))
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("is booked by a later try", () =>
    Effect.gen(function* () {
      const { held, rounds } = yield* behind()
      yield* rounds([credited()], () => ({}), 1)
      Object.assign(held, all)
      expect((yield* rounds([], () => ({}), 1)).states).toEqual([0])
      expect(yield* postings).toEqual(booked)
      expect(yield* findings).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("is done at once where the statement shows it", () =>
    Effect.gen(function* () {
      const { held, rounds, waits } = yield* behind()
      Object.assign(held, all)
      expect((yield* rounds([completed(), credited(), adjusted()], () => ({}), 1)).states).toEqual([0])
      expect(waits).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  for (const [what, over] of [
    ["in an earlier state", { status: "PENDING" }],
    ["not at all", null],
  ] as const) {
    it.scoped(`is tried again where the service shows its movement ${what}`, () =>
      Effect.gen(function* () {
        const { held, rounds, waits } = yield* behind()
        const event = over === null ? credited() : completed()
        Object.assign(held, all, {
          deposits: [deposit(19, "5.00"), ...(over === null ? [] : [deposit(20, "100.00", over)])],
        })
        expect((yield* rounds([event], () => ({}), 1)).states).toEqual([1])
        held.deposits = [
          deposit(19, "5.00"),
          deposit(20, "100.00", { fee: { amount: "0", currency: "USD" } }),
        ]
        expect((yield* rounds([], () => ({}), 1)).states).toEqual([0])
        expect(yield* rows("select status from mirror.resources")).toEqual(
          Array.from({ length: 2 }, () => ({ status: "COMPLETED" })),
        )
        expect(yield* findings).toEqual([])
        // No statement is waited for.
        expect(waits).toEqual([])
      }).pipe(Effect.provide(TestDatabase.layer)),
    )
  }

  it.scoped("is tried again with another that names the same movement, which is not shown yet", () =>
    Effect.gen(function* () {
      const { held, rounds } = yield* behind()
      Object.assign(held, all, { deposits: earlier.deposits })
      expect((yield* rounds([completed(), credited()], () => ({}), 2)).states).toEqual([2, 2])
      held.deposits = [...earlier.deposits, deposit(20, "100.00")]
      expect((yield* rounds([], () => ({}), 1)).states).toEqual([0])
      expect(yield* inboxStates).toEqual(["done 2"])
      expect(yield* findings).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("is tried again where the service shows its movement as it was before it had ended", () =>
    Effect.gen(function* () {
      const { held, rounds } = yield* behind()
      Object.assign(held, all)
      const later = delivery("deposit.held", { depositId: id(20), status: "HELD" })
      expect((yield* rounds([completed()], () => ({}), 1)).states).toEqual([0])
      const ended = held.deposits
      held.deposits = [deposit(19, "5.00"), deposit(20, "100.00", { status: "HELD" })]
      expect((yield* rounds([later], () => ({}), 1)).states).toEqual([1])
      held.deposits = ended
      expect((yield* rounds([], () => ({}), 1)).states).toEqual([0])
      expect(yield* inboxStates).toEqual(["done 2"])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("is not expected where no entry of the book names a movement", () =>
    Effect.gen(function* () {
      const { rounds, waits } = yield* behind([credit(1, "5.00", "5.00")])
      expect((yield* rounds([completed(), credited()], () => ({}), 1)).states).toEqual([0])
      expect(waits).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
