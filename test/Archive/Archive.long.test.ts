import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import { failureOf } from "../../src/Cli/Failure.ts"
import { Database } from "../../src/Database.ts"
import { accountBalances } from "../../src/Inquiry/Balance.ts"
import { type Register, registersOf } from "../../src/Inquiry/Register.ts"
import { proof } from "../Proof/Filled.ts"
import { findings, rows, sync } from "../Sync/Runs.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { answers, archiving, closedYears, committed } from "./Years.ts"

const remaining =
  rows(`select (select count(*)::integer from ledger.journal_entries where period < '2025-01-01') as entries,
  (select string_agg(right(resource_id::text, 3), ' ' order by resource_id) from mirror.resources) as resources`)

/** By account, its register. */
const registers = Effect.gen(function* () {
  const accounts = yield* rows("select account_id from ledger.accounts where book_id = 1 order by 1")
  return yield* registersOf(
    1,
    accounts.map(({ account_id: account }) => Number(account)),
    { limit: 1000, period: null },
  )
})

/** What is left of a register once the year is archived: its lines after that, from the balance before them. */
const withoutTheYear = ({ closing, lines, opening }: Register): Register => {
  const later = lines.filter(({ period }) => period > "2024-12")
  const before = lines[lines.length - later.length - 1]?.balance ?? opening
  return { opening: before, closing, postings: later.length, lines: later, archived: "2024-12" }
}

describe("an archived year", () => {
  it.scopedLive("leaves every later answer as it was", () =>
    Effect.gen(function* () {
      const { service } = yield* closedYears
      yield* committed({ kind: "period", period: "2024-03" })
      yield* committed({ kind: "all" }, false, ["xero"]).pipe(Effect.ignore)
      yield* committed({ kind: "all" })
      expect(yield* proof).toMatchObject({ wrong: [] })
      const before = yield* answers
      const seen = yield* findings
      const shown = yield* registers
      // At the end of a month the balance follows from what is never archived.
      const balances = Effect.forEach(["2024-03-31", "2024-12-31"], (day) => accountBalances(1, day))
      const stood = yield* balances
      expect(stood.every((accounts) => accounts.length > 0)).toBe(true)
      expect(shown.some(({ lines }) => lines.some(({ period }) => period <= "2024-12"))).toBe(true)
      const dry = yield* archiving(2024, { dryRun: true })
      expect(dry.dump).toBeNull()
      expect(yield* answers).toEqual(before)

      // Nothing is written beside what would write to the same books.
      const database = yield* Database
      const beside = (lock: string) =>
        Effect.map(Effect.flip(database.withSessionLock(lock, archiving(2024))), failureOf)
      for (const [lock, what] of [
        ["sync:default", "A sync of connection default, or a command that changes its books,"],
        ["backfill:default", "A backfill of connection default"],
        ["export 1", "An export of connection default"],
      ] as const) {
        expect(yield* beside(lock)).toMatchObject({
          code: 4,
          message: `${what} is running: nothing was archived, and no dump was written. Run it again when that has ended. See: tieout status`,
        })
      }
      expect(yield* answers).toEqual(before)

      // A dump that an interrupted command left may be the only one with what it removed.
      const left = join(temporaryFolder(), "left.gz")
      writeFileSync(left, "")
      expect(failureOf(yield* Effect.flip(archiving(2024, { file: left })))).toMatchObject({
        code: 2,
        message: expect.stringContaining(
          "is there already: keep it, since nothing else may have the entries",
        ),
      })

      const done = yield* archiving(2024)
      expect(done.books).toMatchObject([{ book: "ORG", state: "archived", refusals: [] }])
      expect(done.books[0]?.rows).toEqual(dry.books[0]?.rows)
      expect(yield* remaining).toEqual([{ entries: 4, resources: "131 132 141 142 151 161" }])
      expect(yield* answers).toEqual(before)
      expect(yield* registers).toEqual(shown.map(withoutTheYear))
      expect(yield* balances).toEqual(stood)
      expect(yield* proof).toMatchObject({ wrong: [], closes: 6 })

      // Everything is listed again, and nothing of it is new.
      const full = yield* sync(service.url, {}, true)
      expect([full.counters.entries, full.counters.journalEntries, full.counters.contradictions]).toEqual([
        0, 0, 0,
      ])
      expect(yield* findings).toEqual(seen)
      expect(yield* answers).toEqual(before)
      expect(yield* proof).toMatchObject({ wrong: [] })
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
