import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import { restore } from "../../src/Backup/Restore.ts"
import { failureOf } from "../../src/Cli/Failure.ts"
import { resolveAsOf } from "../../src/Ledger/AsOf.ts"
import { proof } from "../Proof/Filled.ts"
import { deposit } from "../Sync/Partnership.ts"
import { sync } from "../Sync/Runs.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { archiving, closeAll, closedYears } from "./Years.ts"

/** Two years, each in a dump of its own. */
const twoArchives = Effect.gen(function* () {
  const { held, service } = yield* closedYears
  const [first, second] = ["tieout-2024.gz", "tieout-2025.gz"].map((name) => join(temporaryFolder(), name))
  if (first === undefined || second === undefined) return yield* Effect.dieMessage("no files")
  yield* archiving(2024, { file: first })
  held.deposits[2] = deposit(132, "20.00", { createdAt: "2024-12-28T11:00:00Z" })
  yield* sync(service.url)
  yield* closeAll(["2026-10"])
  yield* archiving(2025, { file: second })
  return { first, second }
})

const asOf = (text: string) =>
  Effect.map(
    Effect.flip(resolveAsOf({ kind: "moment", text }, 1, "UTC")),
    (error) => failureOf(error).message,
  )

describe("after two years were archived", () => {
  it.scopedLive("an earlier moment is asked for in the dump that still has all of it", () =>
    Effect.gen(function* () {
      const { first, second } = yield* twoArchives
      // Nothing was recorded by then, and all of both years since.
      const long = "2025-06-01T00:00:00Z"
      expect(yield* asOf(long)).toContain("its entries are in tieout-2024.gz")
      // The dump of the second year is of a database that has lost the first one already.
      yield* Effect.gen(function* () {
        yield* restore(second)
        expect(yield* proof).toMatchObject({ wrong: [] })
        expect(yield* asOf(long)).toContain("its entries are in tieout-2024.gz")
      }).pipe(Effect.provide(TestDatabase.blankLayer))
      yield* Effect.gen(function* () {
        yield* restore(first)
        expect(yield* resolveAsOf({ kind: "moment", text: long }, 1, "UTC")).toContain("2025-06-01")
      }).pipe(Effect.provide(TestDatabase.blankLayer))
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
