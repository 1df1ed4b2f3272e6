/** What works where nothing can be written: with a role that may only read, and on a standby, whose answers are the same. */
import { rmSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { describe } from "vitest"
import * as Export from "../../../src/Export.ts"
import { closing, threeMonths } from "../../Close/Months.ts"
import { accountId } from "../../Sync/Partnership.ts"
import { rows, sync } from "../../Sync/Runs.ts"
import { withDatabase } from "../../support/DatabaseAddress.ts"
import { program } from "../../support/Program.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { unruled } from "../../support/unruled.ts"

const schemas = "drizzle, export, ledger, mirror, reconcile, sync, valuation, webhook"

/** A role that may read everything and write nothing; `standby`: whose every session is as on a standby. */
const reader = (name: string, standby: boolean) =>
  Effect.gen(function* () {
    yield* unruled(`
      create role ${name} login password 'reader';
      grant usage on schema ${schemas} to ${name};
      grant select on all tables in schema ${schemas} to ${name};
      ${standby ? `grant all on all tables in schema ${schemas} to ${name}; alter role ${name} set default_transaction_read_only = on;` : ""}`)
    yield* Effect.addFinalizer(() => Effect.ignore(unruled(`drop owned by ${name}; drop role ${name}`)))
    const { name: database, url } = yield* TestDatabase
    const address = new URL(withDatabase(url, database))
    address.username = name
    address.password = "reader"
    return address.href
  })

describe("where nothing can be written", () => {
  for (const standby of [false, true]) {
    it.scopedLive(
      `${standby ? "on a standby" : "with a role that only reads"} readers work, and writers end with 2`,
      () =>
        Effect.gen(function* () {
          const { service } = yield* threeMonths
          yield* sync(service.url)
          yield* closing("2026-08")
          const { cwd, run } = yield* program
          yield* Export.run({
            formats: ["journal"],
            scope: { kind: "period", period: "2026-08" },
            connection: Option.none(),
            book: Option.none(),
            out: join(cwd, "exports"),
          })
          rmSync(join(cwd, "exports"), { recursive: true })
          const url = yield* reader(standby ? "tieout_standby" : "tieout_reader", standby)
          const [cash] = yield* rows("select code from ledger.accounts where role = 'cash' limit 1")
          const [clearing] = yield* rows(
            "select code from ledger.accounts where role = 'deposits_clearing' limit 1",
          )
          const [entry] = yield* rows(
            "select entry_id::text as id from mirror.statement_entries order by position limit 1",
          )
          const tieout = (...args: ReadonlyArray<string>) =>
            Effect.map(
              run(args, {
                DATABASE_URL: url,
                TIEOUT_USER: "jane",
                TIEOUT_LOG_LEVEL: "none",
                TIEOUT_BASE_URL: service.url,
                TIEOUT_CLIENT_ID: "a",
                TIEOUT_CLIENT_SECRET: "b",
                TIEOUT_SCOPE: "c",
              }),
              ({ code, error, out }) => ({ args: args.join(" "), code, said: `${out}${error}` }),
            )
          const codes = (all: ReadonlyArray<ReadonlyArray<string>>) =>
            Effect.forEach(all, (args) => tieout(...args)).pipe(
              Effect.map((found) => found.filter(({ code }) => code !== 0 && code !== 3)),
            )
          expect(
            yield* codes([
              ["status"],
              ["explain", String(entry?.id)],
              ["explain", accountId],
              ["balance"],
              ["register", String(cash?.code)],
              ["items", String(clearing?.code)],
              [
                "export",
                "--format",
                "journal",
                "--period",
                "2026-09",
                "--preview",
                "--out",
                join(cwd, "previews"),
              ],
              ["report", "2026-08", "--out", join(cwd, "reports")],
              ["batches", "list"],
              ["batches", "download", "ORG/1", "--out", join(cwd, "again")],
              ["quarantine", "list"],
              ["webhook", "events"],
              ["verify", "--database"],
              ["backup", join(cwd, `backup-${standby}.gz`)],
              ["migrate"],
            ]),
          ).toEqual([])
          const writers = [
            ["sync"],
            ["reconcile"],
            ["close", "2026-09"],
            ["reopen", "2026-08", "--reason", "x"],
            ["export", "--format", "journal", "--period", "2026-09", "--out", join(cwd, "exports")],
            ["webhook", "replay", "--dead"],
          ]
          for (const args of writers) {
            const { code, said } = yield* tieout(...args)
            expect([args.join(" "), code, said]).toEqual([
              args.join(" "),
              2,
              expect.stringContaining("may only be read"),
            ])
          }
        }).pipe(Effect.provide(TestDatabase.layer)),
    )
  }
})
