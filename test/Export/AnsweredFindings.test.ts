/** What a person has answered for at a close makes no export incomplete, nor does what came up after a closed month. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { closing, movement, reopening } from "../Close/Months.ts"
import { json } from "../Partner/Service.ts"
import { id, partnership } from "../Sync/Partnership.ts"
import { findings, sync } from "../Sync/Runs.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"
import { all, exporting, october, september } from "./Exporting.ts"

const back = (index: number, amount: string, balanceAfter: string, of: number, day: string) => ({
  ...movement(index, amount, balanceAfter, day).entry,
  type: "DEBIT",
  relatedResourceId: id(of),
})

layer(TestDatabase.layer, { excludeTestServices: true })("a finding that was accepted for good", (it) => {
  it.scoped("makes no export incomplete until it changes", () =>
    Effect.gen(function* () {
      const { deposit, entry } = movement(11, "10.00", "10.00", "2026-09-05")
      const { held, service } = yield* partnership({
        balance: "7.00",
        statement: [entry, back(12, "3.00", "7.00", 111, "2026-09-06")],
        deposits: [deposit],
      })
      yield* sync(service.url)
      expect(yield* findings).toEqual(["movement-entries blocking"])
      const write = exporting("ORG", temporaryFolder())
      expect((yield* write(september, ["journal"])).batches[0]?.manifest.reasons).toEqual([
        "1 blocking finding is open",
      ])
      const [blocked] = yield* closing("2026-09")
      const accept = [{ id: blocked?.blockers[0]?.id ?? "", reason: "The bank kept it" }]
      expect((yield* closing("2026-09", { accept }))[0]?.state).toBe("closed")

      expect((yield* write(september, ["journal"])).batches[0]?.manifest.reasons).toEqual([])
      expect((yield* write(all, ["journal"])).complete).toBe(true)

      held.statement.push(back(13, "1.00", "6.00", 111, "2026-10-07"))
      held.balance = "6.00"
      yield* sync(service.url)
      expect((yield* write(september, ["journal"])).complete).toBe(true)
      expect((yield* write(october, ["journal"])).batches[0]?.manifest.reasons).toEqual([
        "1 blocking finding is open",
      ])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a statement that is read no more", (it) => {
  const reasonsOf = (days: typeof october) =>
    Effect.map(
      exporting("ORG", temporaryFolder())(days, ["journal"], { again: true }),
      ({ batches }) => batches[0]?.manifest.reasons,
    )
  const lastRead = unruled(`
    update sync.stream_reads set began_at = '2026-09-15T00:00:00Z' where stream like 'statement:%'`)
  const early = (to: string) => `the statements were read on 2026-09-15, before ${to} was over`

  it.scoped("makes no export of a closed month incomplete, nor one of a later month where it is gone", () =>
    Effect.gen(function* () {
      const [first, second] = [
        movement(11, "10.00", "10.00", "2026-09-05"),
        movement(12, "5.00", "15.00", "2026-10-05"),
      ]
      const { held, service } = yield* partnership({
        balance: "15.00",
        statement: [first.entry, second.entry],
        deposits: [first.deposit, second.deposit],
      })
      yield* sync(service.url)
      yield* lastRead
      expect(yield* reasonsOf(september)).toEqual([early("2026-09-30")])
      const [blocked] = yield* closing("2026-09")
      const accept = [{ id: blocked?.blockers[0]?.id ?? "", reason: "The bank no longer gives it" }]
      expect((yield* closing("2026-09", { accept }))[0]?.state).toBe("closed")
      expect(yield* reasonsOf(september)).toEqual([])
      expect(yield* reasonsOf(october)).toEqual([early("2026-10-31"), "1 blocking finding is open"])

      // It leaves the list, and its statement with it.
      held.interfere = (path, response) => {
        if (!path.startsWith("/accounts")) return false
        if (/^\/accounts(\?|$)/.test(path)) json(response, { items: [], pageInfo: { hasNextPage: false } })
        else json(response, {}, 404)
        return true
      }
      yield* sync(service.url)
      yield* lastRead
      expect(yield* findings).toEqual(["account-gone blocking"])
      expect(yield* reasonsOf(october)).toEqual(["1 blocking finding is open"])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a finding of a later month", (it) => {
  it.scoped("makes the export of a closed month no less complete", () =>
    Effect.gen(function* () {
      const first = movement(11, "10.00", "10.00", "2026-09-05")
      const second = movement(12, "5.00", "15.00", "2026-10-05")
      const { held, service } = yield* partnership({
        balance: "10.00",
        statement: [first.entry],
        deposits: [first.deposit],
      })
      yield* sync(service.url)
      expect((yield* closing("2026-09"))[0]?.state).toBe("closed")
      held.statement.push(second.entry, back(13, "2.00", "13.00", 112, "2026-10-06"))
      held.deposits.push(second.deposit)
      held.balance = "13.00"
      yield* sync(service.url)
      expect(yield* findings).toEqual(["movement-entries blocking"])
      const write = exporting("ORG", temporaryFolder())
      expect((yield* write(september, ["journal"])).complete).toBe(true)
      expect((yield* write(all, ["journal"])).complete).toBe(false)

      yield* reopening("2026-09")
      expect((yield* write(september, ["journal"])).complete).toBe(false)
    }),
  )
})
