import { readFileSync } from "node:fs"
import { relative } from "node:path"
import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { firstOf } from "../../src/Common/Effects/FirstOf.ts"
import { sources } from "../support/folderMap.ts"

it.effect("what an interrupted effect needs is there until it has ended", () =>
  Effect.gen(function* () {
    const said: Array<string> = []
    const say = (text: string) => Effect.sync(() => void said.push(text))
    const begun = yield* Deferred.make<void>()
    const work = Effect.acquireUseRelease(
      Deferred.succeed(begun, undefined),
      () => Effect.never,
      () => Effect.zipRight(Effect.yieldNow().pipe(Effect.repeatN(20)), say("the work has ended")),
    )
    const fiber = yield* Effect.acquireRelease(Effect.void, () => say("the lock is let go")).pipe(
      Effect.zipRight(firstOf(work, Effect.never)),
      Effect.scoped,
      Effect.fork,
    )
    yield* Deferred.await(begun)
    expect(Exit.isInterrupted(yield* Fiber.interrupt(fiber))).toBe(true)
    expect(said).toEqual(["the work has ended", "the lock is let go"])
  }),
)

it.effect("the first to end says how, and the other one is stopped", () =>
  Effect.gen(function* () {
    expect(yield* firstOf(Effect.succeed("done"), Effect.never)).toBe("done")
    expect(yield* Effect.flip(firstOf(Effect.never, Effect.fail("lost")))).toBe("lost")
  }),
)

/** Where neither of the two needs anything that ends with them. */
const waits = ["src/Cli/Reload.ts", "src/Jobs/Worker.ts", "src/Serve/Schedule.ts"]

it("nothing else races but what only waits", () => {
  const racing = sources().filter((path) => /\bEffect\.(?:raceFirst|race)\b/.test(readFileSync(path, "utf8")))
  expect(racing.map((path) => relative(".", path)).sort()).toEqual(
    [...waits, "src/Common/Effects/FirstOf.ts"].sort(),
  )
})
