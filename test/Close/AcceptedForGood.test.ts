/** What is accepted once and cannot be put right: it stays accepted as long as nothing about it changes. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { id, partnership } from "../Sync/Partnership.ts"
import { findings, sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { closing, movement } from "./Months.ts"

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a completed deposit of which a part went back",
  (it) => {
    it.scoped("stays accepted for later months, until more of it goes back", () =>
      Effect.gen(function* () {
        const { deposit, entry } = movement(11, "10.00", "10.00", "2026-09-05")
        const back = (index: number, amount: string, balanceAfter: string, day: string) => ({
          ...movement(index, amount, balanceAfter, day).entry,
          type: "DEBIT",
          relatedResourceId: id(111),
        })
        const { held, service } = yield* partnership({
          balance: "7.00",
          statement: [entry, back(12, "3.00", "7.00", "2026-09-06")],
          deposits: [deposit],
        })
        yield* sync(service.url)
        expect(yield* findings).toEqual(["movement-entries blocking"])
        const [blocked] = yield* closing("2026-09")
        const finding = blocked?.blockers[0]?.id ?? ""
        const accept = [{ id: finding, reason: "The bank kept it" }]
        expect((yield* closing("2026-09", { accept }))[0]?.state).toBe("closed")

        const [preview] = yield* closing("2026-10", { dryRun: true })
        expect(preview?.blockers).toEqual([])
        expect(preview?.accepted.map(({ id: of, reason }) => [of, reason])).toEqual([
          [finding, "The bank kept it"],
        ])

        held.statement.push(back(13, "1.00", "6.00", "2026-10-07"))
        held.balance = "6.00"
        yield* sync(service.url)
        const [again] = yield* closing("2026-10", { dryRun: true })
        expect(again?.blockers.map(({ id: of }) => of)).toEqual([finding])
      }),
    )
  },
)
