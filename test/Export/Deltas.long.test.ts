import { readdirSync } from "node:fs"
import { expect, layer } from "@effect/vitest"
import { Effect, Either, Option } from "effect"
import fc from "fast-check"
import type { Database } from "../../src/Database.ts"
import * as Batches from "../../src/Export/Batches.ts"
import { batchesOnClose } from "../../src/Export/Request/StandingBatches.ts"
import type * as Export from "../../src/Export.ts"
import * as Verify from "../../src/Verify.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { closeMonth, openBook, postMonths } from "./Books.ts"
import { all, client, deposit, exporting, imported, october, range, states } from "./Exporting.ts"

layer(TestDatabase.layer)("an accounting system's batches", (it) => {
  it.effect("hold each entry once: overlapping dates give a delta, and no news give none", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("DELTA", client(1))
      yield* postMonths(bookId)
      const out = temporaryFolder()
      const run = exporting("DELTA", out)
      const first = yield* run(october, ["qbo"])
      expect(first.batches[0]?.manifest.lineage).toMatchObject({
        state: "committed",
        delta: false,
        previous: null,
      })
      const wider = yield* run(range("2026-09-01", "2026-10-15"), ["qbo"])
      expect(wider.batches[0]?.manifest).toMatchObject({
        entries: 1,
        lineage: { delta: true, follows: [1], supersedes: [], previous: { batch: 1 } },
      })
      expect(imported(wider.batches[0]?.folder ?? "").map((number) => number.slice(-6))).toEqual(["000001"])

      const none = yield* run(all, ["qbo"])
      expect([none.batches, none.exported]).toEqual([
        [],
        [{ book: "DELTA", formats: ["qbo"], batches: [1, 2] }],
      ])
      yield* deposit(bookId, "2026-10-03")
      const late = yield* run(october, ["qbo", "journal"])
      // The journal is complete; the import file has only the delta.
      expect(late.batches.map(({ manifest }) => [manifest.formats, manifest.entries])).toEqual([
        [["journal"], 7],
        [["qbo"], 1],
      ])
      for (const { folder } of [...first.batches, ...wider.batches, ...late.batches]) {
        expect((yield* Verify.run(folder)).problems).toEqual([])
      }
    }),
  )

  it.effect("are superseded completely where everything is exported again, and never in part", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("AGAIN", client(2))
      yield* postMonths(bookId)
      const run = exporting("AGAIN", temporaryFolder())
      yield* run(october, ["qbo", "netsuite"])
      const half = yield* Effect.flip(run(october, ["qbo"], { again: true }))
      expect(half.message).toContain("holds netsuite too")
      const whole = yield* run(range("2026-10-01", "2026-10-05"), ["qbo", "netsuite"], { again: true })
      expect(whole.batches[0]?.manifest).toMatchObject({
        entries: 5,
        lineage: { supersedes: [1], delta: false },
      })
      expect(yield* states(bookId)).toEqual(["1 superseded", "2 committed"])
      const rest = yield* run(october, ["qbo"])
      expect(rest.batches[0]?.manifest).toMatchObject({ entries: 1, lineage: { delta: true, follows: [2] } })
      const contradiction = yield* Effect.flip(run({ kind: "since-last" }, ["qbo"], { again: true }))
      expect(contradiction).toMatchObject({ reason: "Usage" })
    }),
  )

  let books = 10
  const days = ["2026-09-29", "2026-09-30", "2026-10-01", "2026-10-05", "2026-10-15", "2026-10-31"]
  const step = fc.oneof(
    { weight: 2, arbitrary: fc.record({ post: fc.constantFrom(...days) }) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(fc.constantFrom(...days), fc.constantFrom(...days), fc.integer({ min: 0, max: 5 }))
        .map(([a, b, kind]) => ({
          scope:
            kind === 0
              ? all
              : kind === 1
                ? { kind: "since-last" as const }
                : a < b
                  ? range(a, b)
                  : range(b, a),
          again: kind === 5,
        })),
    },
    { weight: 1, arbitrary: fc.record({ supersede: fc.nat(5) }) },
  )

  it.effect(
    "have each entry at most once, and after an export of all exactly once, whatever came before",
    () =>
      Effect.gen(function* () {
        const runtime = yield* Effect.runtime<Database>()
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 9 }), (steps) =>
              Effect.gen(function* () {
                books += 1
                const code = `P${books}`
                const bookId = yield* openBook(code, client(books))
                yield* deposit(bookId, "2026-10-01")
                const run = exporting(code, temporaryFolder())
                const folders = new Map<number, string>()
                const keep = ({ batches }: Export.ExportSummary) => {
                  for (const { folder, manifest } of batches) folders.set(manifest.batch, folder)
                }
                const standing = Effect.fnUntraced(function* () {
                  return (yield* states(bookId))
                    .filter((text) => text.endsWith(" committed"))
                    .flatMap((text) => imported(folders.get(Number.parseInt(text, 10)) ?? ""))
                })
                let posted = 1
                for (const one of [...steps, { scope: all, again: false }]) {
                  if ("post" in one) {
                    yield* deposit(bookId, one.post)
                    posted += 1
                  } else if ("supersede" in one) {
                    const committed = (yield* states(bookId)).filter((text) => text.endsWith(" committed"))
                    const chosen = committed[one.supersede % Math.max(1, committed.length)]
                    if (chosen !== undefined) {
                      yield* Batches.supersede(
                        `${code}/${Number.parseInt(chosen, 10)}`,
                        "jane",
                        "Not imported.",
                      )
                    }
                  } else {
                    // For days without entries nothing is written.
                    const made = yield* Effect.either(run(one.scope, ["qbo"], { again: one.again }))
                    if (Either.isRight(made)) keep(made.right)
                    else expect(made.left.message).toContain("has no entries")
                  }
                  const had = yield* standing()
                  expect(new Set(had).size).toBe(had.length)
                }
                expect((yield* standing()).length).toBe(posted)
              }).pipe(Effect.provide(runtime), Effect.runPromise),
            ),
            { numRuns: 12 },
          ),
        )
      }),
  )

  it.effect(
    "are none of a period without entries: it takes no number, and is left out among several books",
    () =>
      Effect.gen(function* () {
        yield* postMonths(yield* openBook("FULL", client(31)))
        yield* openBook("EMPTY", client(32))
        const out = temporaryFolder()
        const of = (book: string, period: string) =>
          exporting(book, out)({ kind: "period", period }, ["journal"])
        expect((yield* Effect.flip(of("EMPTY", "2026-10"))).message).toBe(
          "2026-10 has no entries in EMPTY. Nothing was written.",
        )
        const ahead = yield* Effect.flip(of("FULL", "2199-12"))
        expect(ahead).toMatchObject({ reason: "Usage" })
        expect(ahead.message).toBe("2199-12 lies ahead in FULL. Nothing was written.")
        expect(readdirSync(out)).toEqual([])
        const { batches, empty } = yield* exporting("FULL", out)(october, ["journal"], {
          book: Option.none(),
        })
        expect(empty).toEqual(["EMPTY"])
        expect(batches.map(({ manifest }) => manifest.book.code)).toContain("FULL")
      }),
  )

  it.effect("stand on the closes of their months", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("STANDS", client(33))
      yield* postMonths(bookId)
      yield* closeMonth(bookId, "2026-09")
      const run = exporting("STANDS", temporaryFolder())
      const { batches } = yield* run(range("2026-09-01", "2026-09-30"), ["qbo"])
      yield* run(october, ["qbo"])
      const hash = batches[0]?.manifest.lineage?.closes[0]?.hash ?? ""
      expect(yield* batchesOnClose("STANDS", hash)).toEqual([
        { batch: 1, scope: "2026-09-01_2026-09-30", formats: ["qbo"], state: "committed" },
      ])
      expect(yield* batchesOnClose("STANDS", "f".repeat(64))).toEqual([])
    }),
  )
})
