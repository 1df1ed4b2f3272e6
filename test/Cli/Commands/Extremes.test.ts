/** Options at the ends of what can be written. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { threeMonths } from "../../Close/Months.ts"
import { sync } from "../../Sync/Runs.ts"
import { program } from "../../support/Program.ts"
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
})
