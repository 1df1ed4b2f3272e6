/** A folder that this user may not read: the others are checked all the same. */
import { chmodSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { runAll } from "../../src/Verify.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { writeEmptyReport } from "./EmptyReport.ts"

/** Whose rights do not apply to root, who runs the tests in a container: the rest is done as another user. */
const asSomebody = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  if (process.getuid?.() !== 0) return work
  const nobody = 65_534
  return Effect.acquireUseRelease(
    Effect.sync(() => process.seteuid?.(nobody)),
    () => work,
    () => Effect.sync(() => process.seteuid?.(0)),
  )
}

it.effect.skipIf(process.platform === "win32")(
  "is a problem of its own, and no reason to check nothing",
  () =>
    Effect.gen(function* () {
      const out = temporaryFolder()
      chmodSync(out, 0o755)
      const books = ["a", "b", "c"].map((book) => join(out, book))
      for (const book of books) {
        writeEmptyReport(join(book, "2026-10"))
      }
      const [first = "", sealed = "", last = ""] = books
      chmodSync(sealed, 0)
      const found = yield* Effect.ensuring(
        asSomebody(runAll([out])),
        Effect.sync(() => chmodSync(sealed, 0o755)),
      )
      expect(found.map(({ folder, ok }) => [folder, ok])).toEqual([
        [join(first, "2026-10"), true],
        [sealed, false],
        [join(last, "2026-10"), true],
      ])
      expect(found[1]?.problems[0]?.message).toContain(`${sealed} cannot be read: Error: EACCES`)
    }),
)
