/** A database that may only be read: from the beginning, where nothing was possible as asked, or only from the middle of a command. */
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { rows } from "../../Sync/Runs.ts"
import { program } from "../../support/Program.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

it.scopedLive("a database that turns read-only while a command writes is an outage: run it again", () =>
  Effect.gen(function* () {
    const { cwd, run } = yield* program
    const { url } = yield* TestDatabase
    yield* Effect.promise(() =>
      writeFile(join(cwd, "rates.csv"), "date,from,to,rate,source\n2026-10-01,USD,EUR,0.9,ECB\n"),
    )
    yield* rows(`create function valuation.changed_over() returns trigger language plpgsql as $$
      begin raise exception 'cannot execute INSERT in a read-only transaction' using errcode = '25006'; end $$`)
    yield* rows(
      "create trigger changed_over before insert on valuation.rates for each statement execute function valuation.changed_over()",
    )
    const stopped = yield* run(["rates", "import", "rates.csv"], { DATABASE_URL: url })
    expect(stopped.error).toContain("the database could be written to, and may only be read now")
    expect(stopped.code).toBe(75)
  }).pipe(Effect.provide(TestDatabase.layer)),
)

it.scopedLive("one that could not be written to when a command began was not possible as asked", () =>
  Effect.gen(function* () {
    const { cwd, run } = yield* program
    const { url } = yield* TestDatabase
    const reading = { DATABASE_URL: `${url}${url.includes("?") ? "&" : "?"}default_transaction_read_only=on` }
    const refused = {
      code: 2,
      error: expect.stringContaining("the database may only be read here. Run it on"),
    }
    expect(yield* run(["migrate"], reading)).toMatchObject(refused)
    expect((yield* run(["migrate"], { DATABASE_URL: url })).code).toBe(0)
    expect((yield* run(["backup", "empty.gz"], { DATABASE_URL: url })).code).toBe(0)
    expect(yield* run(["restore", join(cwd, "empty.gz")], reading)).toMatchObject(refused)
  }).pipe(Effect.provide(TestDatabase.blank)),
)
