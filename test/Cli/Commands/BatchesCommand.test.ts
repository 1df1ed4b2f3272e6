import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { openBook, postMonths } from "../../Export/Books.ts"
import { program } from "../../support/Program.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

layer(Layer.fresh(TestDatabase.layer), { excludeTestServices: true })("batches on the command line", (it) => {
  it.scoped(
    "are exported once, previewed, committed, acknowledged, superseded and downloaded, each with its exit code",
    () =>
      Effect.gen(function* () {
        yield* postMonths(yield* openBook("ORG"))
        const { url } = yield* TestDatabase
        const { run } = yield* program
        const said = (...args: ReadonlyArray<string>) =>
          Effect.map(
            run(args, { DATABASE_URL: url, TIEOUT_USER: "jane", TIEOUT_LOG_LEVEL: "none" }),
            ({ code, error, out }) => [code, out + error] as const,
          )
        const has = (code: number, text: string) => [code, expect.stringContaining(text)]
        const system = ["export", "--format", "business-central", "--period", "2026-10"]
        expect(yield* said(...system, "--preview")).toEqual(has(0, "a preview"))
        expect(yield* said("batches", "commit", "ORG/1")).toEqual(has(0, "ORG/1: committed."))
        expect(yield* said(...system)).toEqual(
          has(0, "ORG business-central: nothing new, batch 1 has it. To export it again: --again"),
        )
        expect(yield* said(...system, "--again")).toEqual(
          has(0, "What was imported of batch 1 has to leave the accounting system"),
        )
        expect(yield* said("batches", "acknowledge", "ORG/1")).toEqual(has(2, "ORG/1 is superseded"))
        expect(yield* said("batches", "acknowledge", "org/2", "--note", "import 7")).toEqual(
          has(0, "ORG/2: acknowledged."),
        )
        expect(yield* said("batches", "show", "ORG/2")).toEqual(has(0, "acknowledged by jane: import 7"))
        const [code, list] = yield* said("batches", "list", "--json")
        expect([code, JSON.parse(list).batches]).toMatchObject([
          0,
          [
            { book: "ORG", batch: 2, state: "acknowledged", who: "jane" },
            { book: "ORG", batch: 1, state: "superseded", who: "jane" },
          ],
        ])
        expect(yield* said("batches", "download", "ORG/2", "--out", "again")).toEqual(has(0, "byte for byte"))
        expect(yield* said("batches", "download", "ORG/2", "--out", "again")).toEqual(
          has(2, "business-central-JPY.csv"),
        )
        expect(yield* said("verify", "again")).toEqual(has(0, "again is whole"))
        expect(yield* said("batches", "supersede", "ORG/2")).toEqual(has(2, "--reason"))
        expect(yield* said("batches", "show", "ORG/9")).toEqual(has(2, "There is no batch ORG/9"))
        expect(yield* said(...system, "--as-of", "2199-01-01")).toEqual(has(2, "is not over yet"))
        expect(yield* said(...system, "--as-of", "soon")).toEqual(has(2, 'found "soon"'))
        expect(yield* said(...system, "--as-of", "2026-01-01")).toEqual(has(0, "7 entries recorded since."))
        expect(yield* said("batches", "acknowledge", "ORG/3")).toEqual(
          has(2, "ORG/3 is what the books said as of"),
        )
        const asOf = "committed, as of 2026-01-01T23:59:59.999999Z"
        expect(yield* said("batches", "show", "ORG/3")).toEqual(has(0, `ORG/3: ${asOf}, 2026-10@`))
        const [, past] = yield* said("batches", "list", "--json")
        expect(JSON.parse(past).batches[0]).toMatchObject({ batch: 3, asOf: "2026-01-01T23:59:59.999999Z" })
        expect(yield* said("batches", "list")).toEqual(has(0, asOf))
      }),
  )
})
