/** An as-of export is as complete as the books were then, whatever is wrong or missing now. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { closing, movement } from "../Close/Months.ts"
import { partnership } from "../Sync/Partnership.ts"
import { findings, rows, sync } from "../Sync/Runs.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { exporting, september } from "./Exporting.ts"

const now = Effect.map(
  rows(`select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`),
  ([row]) => ({ kind: "moment", text: String(row?.now) }) as const,
)

const oneDeposit = Effect.suspend(() => {
  const { deposit, entry } = movement(11, "10.00", "10.00", "2026-09-05")
  return partnership({ balance: "10.00", statement: [entry], deposits: [deposit] })
})

layer(TestDatabase.layer, { excludeTestServices: true })("what an as-of export says of the books", (it) => {
  it.scoped("is what was open then, and not answered for by then", () =>
    Effect.gen(function* () {
      const { held, service } = yield* oneDeposit
      const write = exporting("ORG", temporaryFolder())
      const reasonsAt = (asOf: Effect.Effect.Success<typeof now>) =>
        Effect.map(write(september, ["journal"], { asOf }), ({ batches }) => batches[0]?.manifest.reasons)
      yield* sync(service.url)
      const well = yield* now
      held.balance = "12.00"
      yield* sync(service.url)
      expect(yield* findings).toEqual(["cash-balance blocking"])
      const open = yield* now
      const [blocked] = yield* closing("2026-09")
      const accept = [{ id: blocked?.blockers[0]?.id ?? "", reason: "Under way" }]
      expect((yield* closing("2026-09", { accept }))[0]?.state).toBe("closed")
      const accepted = yield* now
      const then = [[], ["1 blocking finding was open"], []]
      expect(yield* Effect.forEach([well, open, accepted], reasonsAt)).toEqual(then)

      held.balance = "10.00"
      yield* sync(service.url)
      expect(yield* findings).toEqual([])
      expect(yield* Effect.forEach([well, open, accepted], reasonsAt)).toEqual(then)
    }),
  )

  it.scoped("has nothing of how the connection's last sync ended, or of statements that it left unread", () =>
    Effect.gen(function* () {
      const { held, service } = yield* oneDeposit
      yield* sync(service.url)
      const then = yield* now
      held.balance = "12.00"
      yield* sync(service.url)
      const write = exporting("ORG", temporaryFolder())
      const asked = yield* write(september, ["journal"], { asOf: then })
      expect(asked.batches[0]?.manifest.reasons).toEqual([])
      expect(asked.complete).toBe(true)
      expect((yield* write(september, ["journal"])).complete).toBe(false)
    }),
  )
})
