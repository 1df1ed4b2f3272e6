/**
 * Commands where nothing can be written: with the role that may only read, and on a standby that streams from its primary.
 * The commands are taken from their records.
 */
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { describe } from "vitest"
import { readManual } from "../../../src/Cli/Commands.ts"
import { migrate } from "../../../src/Database/Migrate.ts"
import { administerRoles, applyRoles } from "../../../src/Database/Roles.ts"
import { Database } from "../../../src/Database.ts"
import * as Export from "../../../src/Export.ts"
import { closing, threeMonths } from "../../Close/Months.ts"
import { credit, deposit, id, partnership } from "../../Sync/Partnership.ts"
import { rows, sync, variablesFor } from "../../Sync/Runs.ts"
import { commandLines } from "../../support/commandLines.ts"
import { settingsFor } from "../../support/DatabaseAddress.ts"
import { program } from "../../support/Program.ts"
import { roles } from "../../support/Roles.ts"
import { replicated } from "../../support/Standby.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const manual = await readManual()

/** Books over two closed months with everything that a command can name, and the names. */
const filled = Effect.gen(function* () {
  const { held, service } = yield* threeMonths
  yield* sync(service.url)
  yield* closing("2026-08")
  const { cwd, run } = yield* program
  const exported = (period: string, preview: boolean) =>
    Export.run({
      formats: ["journal"],
      scope: { kind: "period", period },
      connection: Option.none(),
      book: Option.none(),
      out: join(cwd, "exports"),
      preview,
    })
  yield* exported("2026-08", false)
  rmSync(join(cwd, "exports"), { recursive: true })
  held.statement.push({ ...credit(14, "1.00", "176.00"), occurredAt: "2026-10-06T12:00:00Z" })
  held.balance = "176.00"
  held.deposits.push(deposit(115, "9", { amount: { value: "9", currency: "USD" } }))
  yield* sync(service.url)
  yield* exported("2026-09", true)
  const codeOf = (role: string) =>
    Effect.map(rows(`select code from ledger.accounts where role = '${role}' limit 1`), ([found]) =>
      String(found?.code),
    )
  const lines = commandLines(manual, {
    cash: yield* codeOf("cash"),
    clearing: yield* codeOf("deposits_clearing"),
    entry: id(14),
    openMonth: "2026-09",
    closedMonth: "2026-08",
    batch: "ORG/1",
    preview: "ORG/2",
    row: "Q1",
    out: (name) => join(cwd, name),
  })
  writeFileSync(join(cwd, "rates.csv"), "date,from,to,rate,source\n2026-10-01,USD,EUR,0.9,ECB\n")
  return { lines, run, variables: variablesFor(service.url) }
})

/** A restore is refused before anything is written, because there are books. Roles can only be made by a user with that right. */
const refused = /may only be read|holds books already|may not make roles/

type Filled = Effect.Effect.Success<typeof filled>

/** Runs a line of the commands on a database. One that does not end within half a minute counts as running. */
const answerOf = ({ run, variables }: Filled, url: string, args: ReadonlyArray<string>) =>
  run(args, { ...variables, DATABASE_URL: url, TIEOUT_USER: "jane", TIEOUT_LOG_LEVEL: "none" }).pipe(
    Effect.timeoutTo({
      duration: "30 seconds",
      onSuccess: (answer) => answer,
      onTimeout: () => ({ code: null, out: "", error: "still runs" }),
    }),
  )

/** What is started again on an outage, and not after 2: it may be started while a standby takes over. */
const stayUp = ["serve", "worker"]

/** Runs all lines of commands that use the books on a database that cannot be written. Answers those with a wrong result. */
const amiss = (filled: Filled, url: string, isStandby = false) =>
  Effect.gen(function* () {
    const found: Array<unknown> = []
    for (const { args, books } of filled.lines) {
      // The demonstration has a database of its own.
      if (books === "none" || args[0] === "demo") continue
      const { code, error, out } = yield* answerOf(filled, url, args)
      const works = books === "reads" || books === "previews"
      const waits = isStandby && stayUp.includes(args[0] ?? "")
      const good = works ? code === 0 || code === 3 : code === (waits ? 75 : 2) && refused.test(error)
      if (!good) found.push({ line: args.join(" "), code, said: `${out}${error}`.slice(0, 400) })
    }
    // A reader that writes with this option alone: a valuation is kept, and one as of a time is made in temporary tables.
    for (const then of [[], ["--as-of", "2026-11-05"]]) {
      const { code, error } = yield* answerOf(filled, url, ["report", "2026-08", "--base", ...then])
      if (code !== 2 || !error.startsWith("Database.write: the database may only be read here"))
        found.push({ line: `report --base ${then.join(" ")}`, code, said: error.slice(0, 400) })
    }
    return found
  })

describe("where nothing can be written, readers work and writers end with 2, or with 75 where they are to stay up on a standby", () => {
  it.scopedLive("with the auditor's role", () =>
    Effect.gen(function* () {
      const books = yield* filled
      const names = { runtime: "tieout_readers_runtime", auditor: "tieout_readers_auditor" }
      yield* applyRoles(names)
      expect(yield* administerRoles(names)).toBe(true)
      yield* Effect.addFinalizer(() =>
        Effect.forEach(Object.values(names), (name) =>
          Effect.ignore(rows(`drop owned by ${name}; drop role ${name}`)),
        ),
      )
      yield* rows(`alter role ${names.auditor} password 'reader'`)
      const { url } = yield* TestDatabase
      expect(yield* amiss(books, url.replace(/\/\/[^@]*@/, `//${names.auditor}:reader@`))).toEqual([])
    }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("on a standby", () =>
    Effect.gen(function* () {
      const { caughtUp, primary, standby } = yield* replicated
      const books = yield* Effect.zipRight(migrate(), filled).pipe(
        Effect.provide(Database.layer(settingsFor(primary))),
      )
      yield* caughtUp
      expect(yield* amiss(books, standby, true)).toEqual([])
    }),
  )
})

it.scopedLive("a command that would write ends with 2 even where there is nothing to do", () =>
  Effect.gen(function* () {
    const { service } = yield* partnership()
    const { cwd, run } = yield* program
    const lines = commandLines(manual, {
      ...{ cash: "1000", clearing: "1100", entry: id(1), openMonth: "2026-09", closedMonth: "2026-08" },
      ...{ batch: "ORG/1", preview: "ORG/2", row: "Q1", out: (name) => join(cwd, name) },
    })
    writeFileSync(join(cwd, "rates.csv"), "date,from,to,rate,source\n")
    const names = yield* roles
    yield* rows(`alter role ${names.auditor} password 'reader'`)
    const { url } = yield* TestDatabase
    const found = yield* Effect.forEach(
      lines.filter(({ args, books }) => args[0] !== "demo" && (books === "writes" || books === "begins")),
      ({ args }) =>
        Effect.map(
          answerOf(
            { lines, run, variables: variablesFor(service.url) },
            url.replace(/\/\/[^@]*@/, `//${names.auditor}:reader@`),
            args,
          ),
          ({ code, error, out }) => ({
            line: args.join(" "),
            code,
            good: code === 2,
            said: `${out}${error}`.slice(0, 300),
          }),
        ),
    )
    expect(found.filter(({ good }) => !good)).toEqual([])
  }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
)

it.scopedLive("a reader brings no older database up to date: it ends with 2 and says what to run", () =>
  Effect.gen(function* () {
    const books = yield* filled
    const { url } = yield* TestDatabase
    yield* rows("delete from drizzle.rules")
    for (const { args } of books.lines.filter((line) => line.books === "reads")) {
      const { code, error } = yield* answerOf(books, url, args)
      expect([args.join(" "), code, error]).toEqual([
        ...[args.join(" "), 2],
        expect.stringContaining("it lacks rules): run tieout migrate"),
      ])
    }
    expect(yield* rows("select from drizzle.rules")).toHaveLength(0)
  }).pipe(Effect.provide(TestDatabase.layer)),
)
