/** The roles by which commands use the embedded database: its owner makes the tables, and no other command can change them. */
import { chmodSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect, Layer, Logger, LogLevel, Option } from "effect"
import { booksForSync, booksToRead } from "../../src/Cli/BookEnvironment.ts"
import { asOwner } from "../../src/Database/AsOwner.ts"
import { migrate } from "../../src/Database/Migrate.ts"
import { Database } from "../../src/Database.ts"
import { bookQueue, boss, calling, runsWorkers } from "../../src/Jobs/Boss.ts"
import { prepare } from "../../src/Jobs/Prepare.ts"
import { Settings } from "../../src/Settings.ts"
import { program } from "../support/Program.ts"
import { refusal } from "../support/statement.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"

const done = (statement: string) =>
  Effect.flatMap(Database, ({ query }) => query("Test.do", (sql) => sql.unsafe(statement).simple()))

const values = (statement: string) =>
  Effect.map(
    Effect.flatMap(Database, ({ query }) => query("Test.read", (sql) => sql.unsafe(statement))),
    (rows) => rows.map(({ value }) => value),
  )

/** Statements that need the right to change tables, or to read the server's files. */
const forbidden = [
  "alter table ledger.postings disable trigger all",
  "drop trigger identity_kept on mirror.accounts",
  "create table ledger.mine (a int)",
  "create table public.mine (a int)",
  "create schema mine",
  "truncate ledger.postings",
  "create or replace function ledger.day_of(a timestamptz, b text) returns date language sql as 'select null::date'",
  "set session_replication_role = replica",
  "create role intruder",
  "alter role tieout_runtime superuser",
  "set role tieout",
  "create database mine",
  "delete from drizzle.rules",
  "delete from drizzle.objects",
  "update drizzle.__drizzle_migrations set hash = ''",
  "select pg_read_file('/etc/hostname')",
  "copy mirror.books to program 'true'",
]

const dataFolder = (): string => {
  const parent = temporaryFolder()
  // As root the server runs as another user, who must get in.
  chmodSync(parent, 0o755)
  const folder = join(parent, "data")
  mkdirSync(folder, { mode: 0o755 })
  return folder
}

const within = (dataDir: string) =>
  Layer.provide(Database.layer({ url: Option.none(), dataDir }), Logger.minimumLogLevel(LogLevel.None))

it.live(
  "no command can change a table, a trigger, a rule or a role, although it made the tables as their owner",
  () =>
    Effect.gen(function* () {
      const dataDir = dataFolder()
      const { run } = yield* program
      const variables = { TIEOUT_DATA_DIR: dataDir }
      expect((yield* run(["migrate"], variables)).code).toBe(0)
      for (const layer of [booksForSync, booksToRead]) {
        const [who, refusals] = yield* Effect.all([
          values(
            "select session_user::text || ' ' || rolsuper as value from pg_roles where rolname = session_user",
          ),
          Effect.forEach(forbidden, refusal),
        ]).pipe(Effect.provide(Layer.provide(layer, Settings.from({ variables }))))
        expect(who).toEqual(["tieout_runtime false"])
        expect(forbidden.filter((_, at) => refusals[at] !== "42501")).toEqual([])
      }
      const status = yield* run(["status"], variables)
      expect([status.code, status.error]).toEqual([0, ""])
    }),
)

it.live(
  "a database of an earlier version, or with other rights, is brought in order by the next command",
  () =>
    Effect.gen(function* () {
      const dataDir = dataFolder()
      yield* Effect.provide(migrate(), within(dataDir))
      const dropped = ["tieout_runtime", "tieout_auditor"].map(
        (name) => `drop owned by ${name}; drop role ${name};`,
      )
      // The database as it was when the owner was the only role.
      yield* Effect.provide(asOwner(done(dropped.join(""))), within(dataDir))
      const { run } = yield* program
      const variables = { TIEOUT_DATA_DIR: dataDir }
      const status = yield* run(["status"], variables)
      expect([status.code, status.error]).toEqual([0, ""])
      const proved = yield* run(["verify", "--database"], variables)
      expect([proved.code, proved.error]).toEqual([0, ""])

      // Another password than in the file, and rights that a person revoked: both are repaired.
      yield* Effect.provide(asOwner(done("alter role tieout_runtime password 'another'")), within(dataDir))
      expect((yield* run(["status"], variables)).code).toBe(0)
      const older =
        "revoke all on all tables in schema ledger from tieout_runtime; comment on role tieout_runtime is 'older'"
      yield* Effect.provide(asOwner(done(older)), within(dataDir))
      expect((yield* run(["status"], variables)).code).toBe(0)

      // Tables of an earlier version: a command that reads reports them; one that writes migrates them as their owner.
      yield* Effect.provide(asOwner(done("delete from drizzle.rules")), within(dataDir))
      const reader = yield* run(["status"], variables)
      expect([reader.code, reader.error]).toEqual([2, expect.stringContaining("run tieout migrate")])
      const writer = yield* run(["reconcile"], variables)
      expect([writer.code, writer.error]).toEqual([2, expect.stringContaining("There are no books yet")])
      expect((yield* run(["status"], variables)).code).toBe(0)
      expect(yield* Effect.provide(Effect.forEach(forbidden, refusal), within(dataDir))).toEqual(
        forbidden.map(() => "42501"),
      )
    }),
)

it.live.skipIf(!runsWorkers(process.versions.node))(
  "the workers' queue is made by its owner, and used by the role that can change no table",
  () =>
    Effect.gen(function* () {
      const dataDir = dataFolder()
      yield* Effect.gen(function* () {
        yield* migrate()
        yield* Effect.all([prepare(), prepare()], { concurrency: "unbounded" })
        const { settings } = yield* Database
        const queue = yield* boss(settings, false)
        const sent = yield* calling("Test.send", () => queue.send(bookQueue, {}, { singletonKey: "1" }))
        expect(sent).not.toBeNull()
        expect(yield* refusal("create table jobs.mine (a int)")).toBe("42501")
      }).pipe(Effect.scoped, Effect.provide(within(dataDir)))
    }),
)
