/** pg-boss's statements over our own client. */
import { expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { parseDatabaseUrl } from "../../src/Database/DatabaseUrl.ts"
import { bossDatabase } from "../../src/Jobs/BossDatabase.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

it.scopedLive(
  "runs scripts on sessions of their own, whichever statement is the first, and leaves no transaction open",
  () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const settings = yield* parseDatabaseUrl(Redacted.make(url))
      const { close, db } = bossDatabase(settings)
      yield* Effect.addFinalizer(() => Effect.promise(close))
      const run = (statement: string) => Effect.tryPromise(() => db.executeSql(statement))
      expect((yield* run("begin; select 1 as one; commit")).rows).toEqual([{ one: 1 }])
      expect((yield* run("select 2 as two")).rows).toEqual([{ two: 2 }])
      expect((yield* run("begin; select 3 as three; commit")).rows).toEqual([{ three: 3 }])
      yield* Effect.flip(run("begin; select 1 / 0; commit"))
      const open =
        "select count(*)::int as open from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'"
      expect((yield* run(open)).rows).toEqual([{ open: 0 }])
    }).pipe(Effect.provide(TestDatabase.blank)),
)
