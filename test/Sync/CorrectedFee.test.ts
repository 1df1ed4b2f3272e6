/** The service corrects the fee of a conversion after its completion: what an ordinary sync sees of that. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Settings } from "../../src/Settings.ts"
import { Backfill } from "../../src/Sync/Backfill.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unpaced } from "../support/Unpaced.ts"
import { unruled } from "../support/unruled.ts"
import { type Exchanged, exchange, type Move } from "./Exchange.ts"
import { findings, rows, sync, variablesFor } from "./Runs.ts"

const before: Exchanged = { sell: "usd", sold: "100", buy: "eur", bought: "85.5", fee: "5" }
/** A part of the fee comes back, so that less was sold. */
const after: Exchanged = { ...before, sold: "98", fee: "3" }

const sold: Move = { on: "usd", at: "2026-09-05", amount: "-100", of: 500 }
const bought: Move = { on: "eur", at: "2026-09-05", amount: "85.5", of: 500 }
const back: Move = { on: "usd", at: "2026-09-07", amount: "2", of: 500 }

const standing = rows(`
  select a.role || ' ' || trim_scale(sum(p.amount))::text || ' ' || p.currency as line
  from ledger.postings p join ledger.accounts a using (book_id, account_id)
  where a.role <> 'cash' group by a.role, p.currency having sum(p.amount) <> 0 order by 1`).pipe(
  Effect.map((found) => found.map(({ line }) => line)),
)

const september = { from: "2026-09-01", to: "2026-09-30" }

const backfill = (url: string) =>
  Effect.flatMap(Backfill, (service) => service.run({ connection: "default", days: september })).pipe(
    Effect.provide(
      Backfill.Default.pipe(Layer.provideMerge(Settings.from({ variables: variablesFor(url) }))),
    ),
    Effect.scoped,
    unpaced,
  )

const corrected = ["fees 3 USD", "trading -85.5 EUR", "trading 95 USD"]

const begun = Effect.gen(function* () {
  const made = yield* exchange({ moves: [sold, bought], conversions: { 500: before } })
  yield* sync(made.service.url)
  expect(yield* standing).toEqual(["fees 5 USD", "trading -85.5 EUR", "trading 95 USD"])
  return { ...made, run: sync(made.service.url) }
})

layer(TestDatabase.layer, { excludeTestServices: true })("a corrected fee of a conversion", (it) => {
  it.scoped("is booked by the next sync where an entry names the conversion", () =>
    Effect.gen(function* () {
      const { held, run } = yield* begun
      held.conversions[500] = after
      held.moves.push(back)
      yield* run
      expect(yield* standing).toEqual(corrected)
      expect(yield* findings).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("is booked as well where our clock was ahead when it was read before, and was set right", () =>
    Effect.gen(function* () {
      const { held, run } = yield* begun
      yield* unruled("update mirror.resources set read_at = now() + interval '30 days'")
      held.conversions[500] = after
      held.moves.push(back)
      yield* run
      expect(yield* standing).toEqual(corrected)
      expect(yield* findings).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("is asked for until it fits, where the entry that gives it back was read first", () =>
    Effect.gen(function* () {
      const { held, run } = yield* begun
      held.moves.push(back)
      yield* run
      expect(yield* findings).toContain("movement-entries blocking")
      held.conversions[500] = after
      yield* run
      expect(yield* standing).toEqual(corrected)
      expect(yield* findings).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("is not seen until a backfill, where no entry and no event names the conversion", () =>
    Effect.gen(function* () {
      const { held, run, service } = yield* begun
      held.conversions[500] = { ...before, fee: "15" }
      yield* run
      expect(yield* standing).toEqual(["fees 5 USD", "trading -85.5 EUR", "trading 95 USD"])
      yield* backfill(service.url)
      expect(yield* standing).toEqual(["fees 15 USD", "trading -85.5 EUR", "trading 85 USD"])
      expect(yield* findings).toContain("conversion-rate warning")
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
