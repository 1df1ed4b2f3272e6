import { it } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { program } from "../support/Program.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

for (const args of [["sync"], ["backfill", "--period", "2026-10"], ["doctor"]]) {
  it.scopedLive(
    `${args[0]} of which nothing can be read names each of several connections with its failure`,
    () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const { run } = yield* program
        const variablesOf = (name: string) => ({
          [`TIEOUT_${name}_BASE_URL`]: "http://127.0.0.1:9/api/v1",
          [`TIEOUT_${name}_CLIENT_ID`]: "id",
          [`TIEOUT_${name}_CLIENT_SECRET`]: `the secret of ${name}`,
          [`TIEOUT_${name}_SCOPE`]: "s",
        })
        const { code, error } = yield* run(args, {
          ...{ DATABASE_URL: url, TIEOUT_CONNECTIONS: "{ here: {}, there: {} }", TIEOUT_LIMITS_TRIES: "1" },
          ...{ ...variablesOf("HERE"), ...variablesOf("THERE") },
        })
        expect(code).toBe(75)
        expect(error).toMatch(/^here did not finish: POST .*\n(?:.*\n)*there did not finish: POST /m)
      }).pipe(Effect.provide(TestDatabase.migrated)),
  )
}
