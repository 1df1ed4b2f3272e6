/** An export that slept until its locks were gone: the next one of the book has cleared what it left, and writes there. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { Database } from "../../../src/Database.ts"
import { openFolders } from "../../../src/Export/Batch/Folder.ts"
import { knownSinceOf, markUnfinished } from "../../../src/Export/Batch/Leftovers.ts"
import * as Verify from "../../../src/Verify.ts"
import { someoneWaits } from "../../Close/LockWait.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { openBook, postMonths } from "../Books.ts"
import { all, exporting } from "../Exporting.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("an export that was overtaken", (it) => {
  it.effect("publishes and removes nothing where the next one has written", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("SLEPT", "33333333-0000-4000-8000-000000000061")
      yield* postMonths(bookId)
      const out = temporaryFolder()
      const book = join(out, "default-SLEPT")
      const since = (yield* knownSinceOf([bookId])).get(bookId) ?? expect.fail("the book is not known")
      const sleeping = yield* Scope.make()
      const mark = yield* Scope.extend(markUnfinished(book, ["all/1"], since), sleeping)
      const [folder] = yield* Scope.extend(
        openFolders([join(book, "all", "1")], undefined, mark.isOwn),
        sleeping,
      )
      if (folder === undefined) return expect.fail("no folder was opened")
      const file = yield* folder.create("journal.csv")
      yield* file.write(Buffer.from("half a li"))
      yield* file.finish

      const { batches } = yield* exporting("SLEPT", out)(all, ["journal"])
      expect(batches.map((batch) => batch.folder)).toEqual([folder.path])

      expect(yield* Effect.flip(folder.create("books.journal"))).toMatchObject({ reason: "Busy" })
      expect(yield* Effect.flip(folder.publish(["journal.csv"]))).toMatchObject({
        reason: "Busy",
        message: expect.stringContaining("took over"),
      })
      yield* Scope.close(sleeping, Exit.void)
      expect(yield* Verify.run(folder.path)).toMatchObject({ ok: true })
    }),
  )

  it.effect("leaves the next one its marker and its files, where it is interrupted at its commit", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("WOKEN", "33333333-0000-4000-8000-000000000062")
      yield* postMonths(bookId)
      const out = temporaryFolder()
      const book = join(out, "default-WOKEN")
      const batch = join(book, "all", "1")
      const marker = join(book, ".unfinished")
      const database = yield* Database
      const locked = yield* Deferred.make<void>()
      const over = yield* Deferred.make<void>()
      const holder = yield* Effect.fork(
        database.transaction(
          database
            .execute("Test.lock", (sql) => sql`lock table export.batches in share mode`)
            .pipe(
              Effect.zipRight(Deferred.succeed(locked, undefined)),
              Effect.zipRight(Deferred.await(over)),
            ),
        ),
      )
      yield* Deferred.await(locked)
      const sleeping = yield* Effect.fork(exporting("WOKEN", out)(all, ["journal"]))
      yield* someoneWaits
      // As the next one does: it clears, and marks the folder as its own.
      const text = readFileSync(marker, "utf8")
      rmSync(batch, { recursive: true })
      writeFileSync(marker, text.replace(/^by .*$/m, "by another"))
      mkdirSync(batch)
      for (const name of ["journal.csv", "statement.csv.partial"])
        writeFileSync(join(batch, name), "another's")
      yield* Fiber.interruptFork(sleeping)
      yield* Deferred.succeed(over, undefined)
      yield* Fiber.join(holder)
      expect(Exit.isFailure(yield* Fiber.await(sleeping))).toBe(true)
      expect([readdirSync(batch), existsSync(marker)]).toEqual([
        ["journal.csv", "statement.csv.partial"],
        true,
      ])
    }),
  )
})
