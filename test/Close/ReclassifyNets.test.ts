/** A movement that was refused or cancelled and does not net to zero is settled by the number of its finding. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { reclassifyAll } from "../../src/Reclassify.ts"
import { credit, debit, deposit, id, partnership } from "../Sync/Partnership.ts"
import { balances, findings, rows, sync } from "../Sync/Runs.ts"
import { services } from "../support/BookServices.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const moving = (ids: ReadonlyArray<string>) =>
  reclassifyAll({
    ...{ ids, to: "6855", name: Option.some("Expenses:Kept"), reason: "Kept by the bank", who: "controller" },
  }).pipe(
    Effect.provide(services),
    Effect.map(({ moved }) => moved.map(({ amount }) => amount)),
  )

const numberOfFinding = rows(
  "select 'F' || finding_id as id from reconcile.open_findings where check_name = 'clearing-nets'",
).pipe(Effect.map(([row]) => String(row?.id)))

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a movement that leaves something in clearing",
  (it) => {
    it.scoped("is moved with all its entries that stand there, by the number of its finding", () =>
      Effect.gen(function* () {
        const { service } = yield* partnership({
          balance: "40.00",
          statement: [
            credit(11, "100.00", "100.00", id(111)),
            { ...debit(12, "60.00", "40.00", id(111)), relatedResourceType: "DEPOSIT" },
          ],
          deposits: [deposit(111, "100.00", { status: "CANCELED" })],
        })
        yield* sync(service.url)
        expect(yield* findings).toEqual(["clearing-nets blocking"])
        expect(yield* moving([yield* numberOfFinding])).toEqual(["-100.00 USD", "60.00 USD"])
        expect(yield* findings).toEqual([])
        expect(yield* balances).toEqual(["1010 40", "6855 -40"])
      }).pipe(Effect.provide(TestDatabase.layer)),
    )

    it.scoped(
      "is moved on where a person moved it before, but not what was moved since it was cancelled",
      () =>
        Effect.gen(function* () {
          const { held, service } = yield* partnership({
            balance: "16.00",
            statement: [credit(11, "10.00", "10.00", id(111)), credit(12, "6.00", "16.00", id(111))],
            deposits: [deposit(111, "16.00")],
          })
          yield* sync(service.url)
          yield* moving([id(11)])
          held.deposits = [deposit(111, "16.00", { status: "CANCELED" })]
          yield* sync(service.url, {}, true)
          yield* sync(service.url)
          expect(yield* findings).toEqual(["clearing-nets blocking"])
          const again = {
            to: "6856",
            name: Option.some("Expenses:Other"),
            reason: "Theirs",
            who: "controller",
          }
          yield* reclassifyAll({ ids: [id(12)], ...again }).pipe(Effect.provide(services))
          const { moved } = yield* reclassifyAll({ ids: [yield* numberOfFinding], ...again }).pipe(
            Effect.provide(services),
          )
          expect(moved.map(({ amount }) => amount)).toEqual(["-10.00 USD"])
          expect(yield* findings).toEqual([])
        }).pipe(Effect.provide(TestDatabase.layer)),
    )
  },
)
