import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { pendingMigrations } from "../../src/Database/Migrations/Pending.ts"
import { program } from "../support/Program.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const first = fileURLToPath(new URL("../Database/frozen/0.1.0.gz", import.meta.url))

it.scopedLive("restores a backup of an earlier version without a folder for temporary files", () =>
  Effect.gen(function* () {
    const { run } = yield* program
    const { url } = yield* TestDatabase
    const nowhere = join(temporaryFolder(), "nowhere")
    const environment = { DATABASE_URL: url, TIEOUT_LOG_LEVEL: "none", TMPDIR: nowhere }
    const { error, out } = yield* run(["restore", first], environment)
    expect(error).not.toContain("cannot be reached")
    expect(out).toContain("are restored, as of")
    expect(yield* pendingMigrations()).toEqual([])
  }).pipe(Effect.provide(TestDatabase.blankLayer)),
)
