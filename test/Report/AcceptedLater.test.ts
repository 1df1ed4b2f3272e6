/** A movement of a closed month that later stopped adding up, and that a person accepted for good at the close of that later month. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { closing, movement } from "../Close/Months.ts"
import { id, partnership } from "../Sync/Partnership.ts"
import { sync } from "../Sync/Runs.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { reporting, sheet } from "./Reports.ts"

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a deposit of which a part went back a month later",
  (it) => {
    it.scoped("makes the report of its closed month a draft until somebody answers for it", () =>
      Effect.gen(function* () {
        const { deposit, entry } = movement(11, "10.00", "10.00", "2026-09-05")
        const { held, service } = yield* partnership({
          balance: "10.00",
          statement: [entry],
          deposits: [deposit],
        })
        yield* sync(service.url)
        yield* closing("2026-09")
        const back = (index: number, amount: string, balanceAfter: string, day: string) => ({
          ...movement(index, amount, balanceAfter, day).entry,
          type: "DEBIT",
          relatedResourceId: id(111),
        })
        held.statement.push(back(12, "3.00", "7.00", "2026-10-06"))
        held.balance = "7.00"
        yield* sync(service.url)
        const september = Effect.map(reporting("2026-09", temporaryFolder()), ({ folder, manifest }) => ({
          ...{ draft: manifest.draft, reasons: manifest.reasons },
          exceptions: sheet(folder, "exceptions.csv").map(({ reason, severity, what }) => [
            what,
            severity,
            reason,
          ]),
        }))
        const [blocked] = yield* closing("2026-10")
        const finding = blocked?.blockers[0]?.id ?? ""
        const draft = {
          draft: true,
          reasons: [`finding ${finding} (movement-entries) has come up since the close`],
          exceptions: [["open finding: movement-entries", "blocking", ""]],
        }
        expect(yield* september).toEqual(draft)

        yield* closing("2026-10", { accept: [{ id: finding, reason: "The bank kept it" }] })
        expect(yield* september).toEqual({
          draft: false,
          reasons: [],
          exceptions: [["accepted at the close of 2026-10", "accepted", "The bank kept it"]],
        })

        held.statement.push(back(13, "1.00", "6.00", "2026-11-07"))
        held.balance = "6.00"
        yield* sync(service.url)
        expect(yield* september).toEqual(draft)
      }),
    )
  },
)
