/** Options at the ends of what can be written: the last day of the calendar, and numbers that no column holds. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { threeMonths } from "../../Close/Months.ts"
import { sync } from "../../Sync/Runs.ts"
import { program } from "../../support/Program.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("at the ends of what can be written", (it) => {
  it.scoped("register shows all postings where N is more than any number of them", () =>
    Effect.gen(function* () {
      const { service } = yield* threeMonths
      yield* sync(service.url)
      const { run } = yield* program
      const { url } = yield* TestDatabase
      for (const limit of ["2147483648", "99999999999"]) {
        const { code, out } = yield* run(["register", "1010", "--limit", limit, "--json"], {
          DATABASE_URL: url,
        })
        expect(code).toBe(0)
        expect(JSON.parse(out)).toMatchObject({ accounts: [{ postings: 3, lines: [{}, {}, {}] }] })
      }
    }),
  )

  it.scoped("an export goes through the last day of the calendar, and begins with the first", () =>
    Effect.gen(function* () {
      const { run } = yield* program
      const { url } = yield* TestDatabase
      const out = temporaryFolder()
      for (const [first, last] of [
        ["2026-08-01", "9999-12-31"],
        ["0001-01-01", "9999-12-31"],
      ]) {
        const shown = yield* run(
          `export --format journal,trial-balance,beancount --from ${first} --to ${last} --out ${out} --json`.split(
            " ",
          ),
          { DATABASE_URL: url },
        )
        // 3: the statements were read before the last day was over.
        expect(`${shown.code} ${shown.out}`).toMatch(/^3 \{/)
        expect(JSON.parse(shown.out)).toMatchObject({
          batches: expect.arrayContaining([expect.objectContaining({ book: "ORG", entries: 3 })]),
        })
      }
    }),
  )
})
