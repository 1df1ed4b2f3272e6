import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { backup } from "../../src/Backup.ts"
import { migrate } from "../../src/Database/Migrate.ts"
import { rows } from "../Sync/Runs.ts"
import { program } from "../support/Program.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

it.scopedLive("a backup does not replace the rates of a database that has no books yet", () =>
  Effect.gen(function* () {
    const folder = temporaryFolder()
    const file = join(folder, "tieout.gz")
    yield* Effect.zipRight(migrate(), backup(file)).pipe(Effect.provide(TestDatabase.layer))
    const csv = join(folder, "rates.csv")
    writeFileSync(csv, "date,from,to,rate,source\n2026-09-30,EUR,USD,1.1,ECB\n")
    yield* Effect.gen(function* () {
      const { run } = yield* program
      const { url } = yield* TestDatabase
      const environment = { DATABASE_URL: url, TIEOUT_LOG_LEVEL: "none" }
      expect(yield* run(["migrate"], environment)).toMatchObject({ code: 0 })
      expect(yield* run(["rates", "import", csv], environment)).toMatchObject({ code: 0, error: "" })
      const { code, error } = yield* run(["restore", file], environment)
      expect([code, error]).toEqual([2, expect.stringContaining("holds exchange rates")])
      expect(yield* rows("select rate::text from valuation.rates")).toEqual([{ rate: "1.1" }])
    }).pipe(Effect.provide(TestDatabase.layer))
  }),
)
