/** A batch that was put elsewhere with a link in its place: what is behind the link is not checked, and that is said. */
import { mkdirSync, renameSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Export from "../../src/Export.ts"
import { runAll } from "../../src/Verify.ts"
import { openBook, postMonths } from "../Export/Books.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const said = (named: ReadonlyArray<string>, chain = false) =>
  Effect.map(runAll(named, { chain }), (found) =>
    found.flatMap(({ notes, problems }) => [...problems.map(({ message }) => message), ...notes]),
  )

layer(TestDatabase.layer, { excludeTestServices: true })("a link in a tree of exports", (it) => {
  it.effect("is no batch: it is a problem, unless the folder behind it is named as well", () =>
    Effect.gen(function* () {
      yield* postMonths(yield* openBook("ORG"))
      const out = temporaryFolder()
      const folders: Array<string> = []
      for (let batch = 1; batch <= 3; batch++) {
        const { batches } = yield* Export.run({
          formats: ["trial-balance"],
          scope: { kind: "period", period: "2026-10" },
          ...{ connection: Option.none(), book: Option.none(), out },
        })
        folders.push(...batches.map(({ folder }) => folder))
      }
      expect(yield* said([out], true)).toEqual([])
      const [, second = ""] = folders
      const elsewhere = join(temporaryFolder(), "2")
      renameSync(second, elsewhere)
      symlinkSync(elsewhere, second)
      const missing = (which: string, next: number) =>
        `The chain of batches was not followed to its ${which}: batch 2, which batch ${next} follows, does not stand beside it.`
      expect(yield* said([out])).toEqual([
        missing("end", 3),
        missing("beginning", 3),
        `stands behind the link ${second}, which is not followed: name the folder that it leads to as well`,
      ])
      // Named by itself, a link is the folder that it leads to.
      expect((yield* said([second])).filter((text) => !text.startsWith("The chain"))).toEqual([])
      const both = yield* said([out, elsewhere])
      expect(both.filter((text) => text.includes("behind the link"))).toEqual([])
      // Nor does the chain take it for one, and a link of any other name is a person's own.
      expect(
        (yield* said([out], true)).filter((text) => text.includes("does not stand beside it")).length,
      ).toBe(2)
      symlinkSync(elsewhere, join(out, "latest"))
      expect((yield* said([out])).filter((text) => text.includes("behind the link")).length).toBe(1)
    }),
  )

  it.effect("with the name of a month is a problem, too", () =>
    Effect.gen(function* () {
      const out = temporaryFolder()
      const elsewhere = join(temporaryFolder(), "2026-09")
      mkdirSync(join(elsewhere, "1"), { recursive: true })
      mkdirSync(join(out, "default-ORG"))
      symlinkSync(elsewhere, join(out, "default-ORG", "2026-09"))
      expect(yield* said([out])).toEqual([
        `stands behind the link ${join(out, "default-ORG", "2026-09")}, which is not followed: name the folder that it leads to as well`,
      ])
    }),
  )
})
