/** A person who moves a line explains it: its findings close, and no other finding is hidden by the move. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { reclassify } from "../../src/Reclassify.ts"
import { exchange, type Move } from "../Sync/Exchange.ts"
import { credit, debit, deposit, id, partnership } from "../Sync/Partnership.ts"
import { findings, postings, rows, sync } from "../Sync/Runs.ts"
import { services } from "../support/BookServices.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const moving = (what: string) =>
  reclassify({
    ...{ id: what, to: "7995", name: Option.some("Expenses:Losses"), reason: "Lost", who: "controller" },
  }).pipe(Effect.provide(services))

const numberOf = (check: string) =>
  Effect.map(
    rows(`select 'F' || finding_id as id from reconcile.findings where check_name = '${check}'`),
    ([row]) => String(row?.id),
  )

/** A completed conversion of 100 USD into 90 EUR, of which the statements show `moves`; it is read until all its findings are due. */
const books = (...moves: ReadonlyArray<Move>) =>
  Effect.gen(function* () {
    const { held, service } = yield* exchange({
      moves: [...moves],
      conversions: { 500: { sell: "usd", sold: "100", buy: "eur", bought: "90" } },
    })
    const run = Effect.repeatN(sync(service.url), 1)
    yield* run
    return { held, run }
  })

const sold: Move = { on: "usd", at: "2026-09-05", amount: "-100", of: 500 }
const bought: Move = { on: "eur", at: "2026-09-06", amount: "90", of: 500 }
const transit = "conversion-in-transit warning"
const unshown = "movement-entries blocking"

const fresh = TestDatabase.layer

layer(TestDatabase.layer, { excludeTestServices: true })("a completed conversion", (it) => {
  it.scoped("with a leg that never came is explained when a person moves the other leg", () =>
    Effect.gen(function* () {
      const { held, run } = yield* books(sold)
      expect(yield* findings).toEqual([transit, unshown])
      yield* moving(id(10_000))
      expect(yield* findings).toEqual([])
      yield* run
      expect(yield* findings).toEqual([])
      // A leg that comes after all is an open item of its own.
      held.moves.push(bought)
      yield* run
      expect(yield* findings).toEqual([transit])
      yield* moving(id(10_001))
      yield* run
      expect(yield* findings).toEqual([])
    }).pipe(Effect.provide(fresh)),
  )

  it.scoped("is not explained by a leg that was moved before it was known to be complete", () =>
    Effect.gen(function* () {
      const { held, run } = yield* books()
      held.conversions[500] = { sell: "usd", sold: "100", buy: "eur", bought: "90", status: "ACTIVE" }
      held.moves.push(sold)
      yield* run
      yield* moving(id(10_000))
      expect(yield* findings).toEqual([])
      held.conversions[500] = { sell: "usd", sold: "100", buy: "eur", bought: "90" }
      yield* run
      expect(yield* findings).toEqual([unshown])
    }).pipe(Effect.provide(fresh)),
  )

  it.scoped("still shows what the other side lacks, and entries that come beside the moved ones", () =>
    Effect.gen(function* () {
      const { held, run } = yield* books(sold, { ...bought, amount: "80" })
      expect(yield* findings).toEqual([transit, unshown])
      yield* moving(id(10_000))
      yield* run
      expect(yield* findings).toEqual([transit, unshown])
      yield* moving(id(10_001))
      yield* run
      expect(yield* findings).toEqual([])
      held.moves.push({ ...sold, amount: "-7" })
      yield* run
      expect(yield* findings).toEqual([transit, unshown])
    }).pipe(Effect.provide(fresh)),
  )

  it.scoped("is whole without the extra entry that was moved", () =>
    Effect.gen(function* () {
      const { run } = yield* books(sold, bought, { ...bought, amount: "9" })
      expect(yield* findings).toEqual([transit, unshown])
      yield* moving(id(10_002))
      yield* run
      expect(yield* findings).toEqual([])
    }).pipe(Effect.provide(fresh)),
  )

  it.scoped("that was cancelled after its leg was moved leaves nothing in clearing", () =>
    Effect.gen(function* () {
      const { held, run } = yield* books()
      const cancelled = { sell: "usd", sold: "100", buy: "eur", bought: "90", status: "CANCELED" } as const
      held.conversions[500] = cancelled
      held.moves.push(sold)
      yield* run
      expect(yield* findings).toEqual(["clearing-nets blocking", transit])
      yield* moving(id(10_000))
      yield* run
      expect(yield* findings).toEqual([])
    }).pipe(Effect.provide(fresh)),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a deposit", (it) => {
  it.scoped(
    "is complete without an entry too many that was moved, and is not by moving what is too little",
    () =>
      Effect.gen(function* () {
        const { service } = yield* partnership({
          balance: "210.00",
          statement: [
            credit(11, "100.00", "100.00", id(111)),
            credit(12, "20.00", "120.00", id(111)),
            credit(13, "90.00", "210.00", id(113)),
          ],
          deposits: [deposit(111, "100.00"), deposit(113, "100.00")],
        })
        yield* Effect.repeatN(sync(service.url), 1)
        expect(yield* findings).toEqual([unshown, unshown])
        yield* moving(id(12))
        yield* moving(id(13))
        yield* sync(service.url)
        expect(yield* findings).toEqual([unshown])
        expect(yield* rows("select subject_id from reconcile.findings where closed_at is null")).toEqual([
          { subject_id: id(113) },
        ])
      }).pipe(Effect.provide(fresh)),
  )

  it.scoped("that was moved first and cancelled later must still be returned", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({
        balance: "10.00",
        statement: [credit(11, "10.00", "10.00", id(12))],
        deposits: [deposit(12, "10.00")],
      })
      yield* sync(service.url)
      yield* moving(id(11))
      held.deposits = [deposit(12, "10.00", { status: "CANCELED" })]
      yield* sync(service.url, {}, true)
      yield* sync(service.url)
      expect(yield* findings).toEqual(["clearing-nets blocking"])
    }).pipe(Effect.provide(fresh)),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("an entry whose resource is not known", (it) => {
  it.scoped("is moved by the number of its finding, which closes when the last entry is moved", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({
        balance: "7.00",
        statement: [credit(11, "10.00", "10.00", id(111)), debit(12, "3.00", "7.00", id(112))],
      })
      yield* sync(service.url)
      const missing = "missing-resource blocking"
      expect(yield* findings).toEqual([missing, missing])
      const first = yield* numberOf("missing-resource")
      expect((yield* moving(first)).from.code).toBe("1990")
      expect(yield* findings).toEqual([missing])
      held.statement.push({ ...debit(13, "1.00", "8.00", id(112)), type: "CREDIT" })
      held.balance = "8.00"
      yield* sync(service.url)
      const [second] = yield* rows(
        "select 'F' || finding_id as id from reconcile.findings where closed_at is null",
      )
      expect((yield* Effect.flip(moving(String(second?.id)))).message).toContain(
        "is about 2 statement entries",
      )
      yield* moving(id(12))
      // One entry is left.
      yield* moving(String(second?.id))
      yield* sync(service.url, {}, true)
      expect(yield* findings).toEqual([])
      // The service shows the resource after all: the entry moves on to the account that it belongs on.
      held.deposits.push(deposit(111, "10.00"))
      yield* sync(service.url, {}, true)
      expect((yield* postings).filter((line) => String(line).includes(" 10"))).toEqual([
        "unidentified cash 10, suspense -10",
        "reclassification suspense 10, other -10",
        "reclassification other 10, deposits_clearing -10",
      ])
      expect(yield* findings).toEqual([])
    }).pipe(Effect.provide(fresh)),
  )
})
