/** A transaction is run again after a conflict, as on a standby whose recovery is in its way: what it writes into files stands there once. */
import { readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { readBack } from "../../src/Backup/ReadBack.ts"
import { backup } from "../../src/Backup.ts"
import { openBook, postMonths } from "../Export/Books.ts"
import { everything, exporting, october } from "../Export/Exporting.ts"
import { reporting } from "../Report/Reports.ts"
import { conflictOnce, hasConflicted } from "../support/conflictOnce.ts"
import { as, roles } from "../support/Roles.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

/** Runs it undisturbed and then with a conflict, as a role that row security binds. */
const twice = <A, E, R>(table: string, write: (out: string) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    yield* Effect.flatMap(openBook("ORG"), postMonths)
    const { runtime } = yield* roles
    const before = yield* write(temporaryFolder()).pipe(as(runtime))
    yield* conflictOnce(table)
    return yield* Effect.gen(function* () {
      const after = yield* write(temporaryFolder())
      expect(yield* hasConflicted).toBe(true)
      return { before, after }
    }).pipe(as(runtime, "?row_security=on"))
  })

it.scopedLive("a backup", () =>
  Effect.gen(function* () {
    const { after, before } = yield* twice("ledger.postings", (out) => backup(join(out, "tieout.gz")))
    expect([after.rows, after.tables]).toEqual([before.rows, before.tables])
    expect(readdirSync(dirname(after.file))).toEqual(["tieout.gz"])
    expect((yield* readBack(after.file)).content.sha256).toBe(after.sha256)
  }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
)

it.scopedLive("a report", () =>
  Effect.gen(function* () {
    const { after, before } = yield* twice("ledger.postings", (out) =>
      Effect.map(reporting("2026-10", out), ({ folder }) => folder),
    )
    expect(Object.keys(everything(after))).toEqual(Object.keys(everything(before)))
  }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
)

it.scopedLive("an export", () =>
  Effect.gen(function* () {
    const { after, before } = yield* twice("ledger.postings", (out) =>
      Effect.map(exporting("ORG", out)(october, ["journal", "hledger"], { preview: true }), ({ batches }) =>
        batches.map(({ folder }) => {
          // It says when it was made.
          const { "manifest.json": _, ...files } = everything(folder)
          return files
        }),
      ),
    )
    expect(after).toEqual(before)
  }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
)
