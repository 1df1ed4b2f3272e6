import { mkdir, readFile, writeFile } from "node:fs/promises"
import { connect, createServer } from "node:net"
import { join } from "node:path"
import { expect, it, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { parseDatabaseUrl } from "../../src/Database/DatabaseUrl.ts"
import { migrate } from "../../src/Database/Migrate.ts"
import { pendingMigrations } from "../../src/Database/Migrations/Pending.ts"
import { Database } from "../../src/Database.ts"
import { settingsFor, withDatabase } from "../support/DatabaseAddress.ts"
import { listenOn } from "../support/Loopback.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const first = {
  tag: "0000_first",
  when: 1_000,
  sql: "create table public.one (id int);\n--> statement-breakpoint\ncreate table public.two (id int);",
}
const second = { tag: "0001_second", when: 2_000, sql: "alter table public.one add column more text;" }
const broken = {
  tag: "0002_broken",
  when: 3_000,
  sql: "create table public.three (id int);\n--> statement-breakpoint\ncreate table public.nonsense (id no_such_type);",
}

const folderOf = (migrations: ReadonlyArray<typeof first>, rules?: string) =>
  Effect.promise(async () => {
    const folder = temporaryFolder()
    await mkdir(join(folder, "meta"))
    const entries = migrations.map(({ tag, when }, idx) => ({
      idx,
      version: "7",
      when,
      tag,
      breakpoints: true,
    }))
    const journal = { version: "7", dialect: "postgresql", entries }
    await writeFile(join(folder, "meta", "_journal.json"), JSON.stringify(journal))
    for (const { sql, tag } of migrations) await writeFile(join(folder, `${tag}.sql`), sql)
    if (rules !== undefined) await writeFile(join(folder, "rules.sql"), rules)
    return folder
  })

const fresh = TestDatabase.blankLayer

layer(fresh, { excludeTestServices: true })("migrating", (it) => {
  it.scoped("is refused in a database that cannot hold every letter", () =>
    Effect.gen(function* () {
      const { name, url } = yield* TestDatabase
      const database = yield* Database
      const latin = `${name}_latin`
      yield* Effect.acquireRelease(
        database.query("Test.create", (sql) =>
          sql.unsafe(
            `create database ${latin} encoding 'LATIN1' locale_provider libc locale 'C' template template0`,
          ),
        ),
        () => database.query("Test.drop", (sql) => sql.unsafe(`drop database ${latin}`)).pipe(Effect.orDie),
      )
      const error = yield* Effect.flip(migrate(yield* folderOf([first]))).pipe(
        Effect.provide(Database.layer(settingsFor(withDatabase(url, latin)))),
      )
      expect({ reason: error._tag === "DatabaseError" ? error.reason : "", message: error.message }).toEqual({
        reason: "Settings",
        message:
          "Database.migrate: the database has the encoding LATIN1, and Tieout needs UTF8: create another one, by create database NAME encoding 'UTF8' template template0.",
      })
    }),
  )

  const clean = Effect.flatMap(Database, (database) =>
    database.query("Test.clean", (sql) =>
      sql`drop schema if exists drizzle cascade; drop table if exists public.one, public.two, public.three`.simple(),
    ),
  )

  it.scoped("applies what is missing, says what that was, and then has nothing to do", () =>
    Effect.gen(function* () {
      yield* clean
      const one = yield* folderOf([first])
      const both = yield* folderOf([first, second])
      expect(yield* pendingMigrations(one)).toEqual(["0000_first"])
      expect(yield* migrate(one)).toEqual(["0000_first"])
      expect(yield* migrate(one)).toEqual([])
      expect(yield* pendingMigrations(both)).toEqual(["0001_second"])
      expect(yield* migrate(both)).toEqual(["0001_second"])
      expect(yield* pendingMigrations(both)).toEqual([])
    }),
  )

  it.scoped("is safe to run many times at once: one works, the others find it done", () =>
    Effect.gen(function* () {
      yield* clean
      const folder = yield* folderOf([first, second])
      const answers = yield* Effect.all(
        Array.from({ length: 6 }, () => migrate(folder)),
        { concurrency: 6 },
      )
      expect(answers.filter((applied) => applied.length > 0)).toEqual([["0000_first", "0001_second"]])
    }),
  )

  it.scoped("applies all or nothing, and says what is wrong", () =>
    Effect.gen(function* () {
      yield* clean
      const folder = yield* folderOf([first, second, broken])
      const error = yield* Effect.flip(migrate(folder))
      expect(error.message).toContain('type "no_such_type" does not exist')
      expect(yield* pendingMigrations(folder)).toEqual(["0000_first", "0001_second", "0002_broken"])
      // Whoever writes meanwhile must not find the tables without the rules.
      const unruly = yield* folderOf([first, second], "select nothing from nowhere;")
      expect((yield* Effect.flip(migrate(unruly))).message).toContain("nowhere")
      expect(yield* pendingMigrations(unruly)).toEqual(["0000_first", "0001_second", "rules"])
    }),
  )

  it.scoped("refuses a database that a newer version has migrated", () =>
    Effect.gen(function* () {
      yield* clean
      yield* migrate(yield* folderOf([first, second]))
      const error = yield* Effect.flip(migrate(yield* folderOf([first])))
      expect(error.reason).toBe("Settings")
      expect(error.message).toContain("newer version of Tieout")
    }),
  )

  it.scoped("refuses a database to which a newer version gave its rules, and leaves them", () =>
    Effect.gen(function* () {
      yield* clean
      const ours = yield* folderOf(
        [first],
        "create or replace function public.said() returns text language sql as $$ select 'ours' $$;",
      )
      yield* migrate(ours)
      const { execute } = yield* Database
      const theirs = (version: string) =>
        execute("Test.theirs", (sql) => sql`update drizzle.rules set hash = 'theirs', version = ${version}`)
      yield* theirs("0.10.0")
      expect((yield* Effect.flip(migrate(ours))).message).toContain("newer version of Tieout")
      // A release comes after its own candidates.
      for (const earlier of ["0.0.9", "0.1.0-rc.1"]) {
        yield* theirs(earlier)
        expect(yield* migrate(ours)).toEqual(["rules"])
      }
      expect(yield* migrate(ours)).toEqual([])
    }),
  )

  it.scoped("makes the rules again whenever they have changed, with or without a migration", () =>
    Effect.gen(function* () {
      yield* clean
      const said = (word: string) =>
        `create or replace function public.said() returns text language sql as $$ select '${word}' $$;`
      const old = yield* folderOf([first], said("old"))
      const fresh = yield* folderOf([first], said("new"))
      expect(yield* migrate(old)).toEqual(["0000_first", "rules"])
      expect(yield* migrate(old)).toEqual([])
      expect(yield* pendingMigrations(fresh)).toEqual(["rules"])
      expect(yield* migrate(fresh)).toEqual(["rules"])
      const { query } = yield* Database
      expect(yield* query("Test.said", (sql) => sql`select public.said()`)).toEqual([{ said: "new" }])
      const broken = yield* folderOf([first], `${said("broken")} select nothing from nowhere;`)
      expect((yield* Effect.flip(migrate(broken))).message).toContain("nowhere")
      expect(yield* query("Test.said", (sql) => sql`select public.said()`)).toEqual([{ said: "new" }])
      expect(yield* pendingMigrations(fresh)).toEqual([])
    }),
  )

  it.scoped(
    "replaces views and functions of another shape, and keeps objects of others that use a view",
    () =>
      Effect.gen(function* () {
        yield* clean
        const database = yield* Database
        const run = (text: string) => database.query("Test.run", (sql) => sql.unsafe(text).simple())
        const made = `create schema if not exists ledger;
        create or replace function ledger.times(many integer) returns integer language sql as 'select many';
        create or replace view ledger.seen as select ledger.times(1) as first, 2 as second;
        create or replace view ledger.upon as select first from ledger.seen;
        create or replace view ledger.kept as select 1 as a;`
        const otherwise = `create or replace function ledger.times(count bigint) returns bigint language sql as 'select count';
        create or replace view ledger.seen as select 2 as second, ledger.times(1) as first;
        create or replace view ledger.upon as select second from ledger.seen;
        create or replace view ledger.kept as select 1 as a;`
        yield* migrate(yield* folderOf([first], made))
        yield* run(
          "create schema if not exists theirs; create view theirs.report as select a from ledger.kept",
        )
        expect(yield* migrate(yield* folderOf([first], otherwise))).toEqual(["rules"])
        const [row] = yield* database.query(
          "Test.seen",
          (sql) => sql`select u.second, r.a from ledger.upon u, theirs.report r`,
        )
        expect(row).toEqual({ second: 2, a: 1 })
        const changed = otherwise.replace("select 1 as a", "select 1 as b")
        const refused = yield* Effect.flip(migrate(yield* folderOf([first], changed)))
        expect(refused.message).toContain("cannot change name of view column")
        yield* run("drop schema theirs cascade; drop schema ledger cascade")
      }),
  )

  it.scoped("refuses a database whose tables a development version made differently", () =>
    Effect.gen(function* () {
      yield* clean
      yield* migrate(yield* folderOf([first, second]))
      const squashed = {
        ...first,
        when: 3_000,
        sql: `${first.sql}\nalter table public.one add column more text;`,
      }
      const error = yield* Effect.flip(migrate(yield* folderOf([squashed])))
      expect(error.reason).toBe("Settings")
      expect(error.message).toContain("another development version")
    }),
  )

  it.scoped("has nothing to do where there are no migrations yet", () =>
    Effect.gen(function* () {
      yield* clean
      expect(yield* migrate("/no/such/folder")).toEqual([])
    }),
  )
})

it.scopedLive("a connection that is cut while the tables are made is an outage, and leaves nothing", () =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase
    const { host, path, port } = yield* parseDatabaseUrl(Redacted.make(url))
    const proxy = yield* listenOn(
      createServer((client) => {
        const upstream = path === undefined ? connect(port, host) : connect(path)
        const cut = () => {
          client.destroy()
          upstream.destroy()
        }
        client.on("data", (chunk) => {
          if (chunk.includes("create table public.one")) cut()
          else upstream.write(chunk)
        })
        upstream.on("data", (chunk) => client.write(chunk))
        for (const socket of [client, upstream]) socket.on("close", cut).on("error", cut)
      }),
    )
    const through = url.replace(/@[^/]*/, `@127.0.0.1:${proxy}`)
    const folder = yield* folderOf([first, second])
    const error = yield* Effect.flip(Effect.provide(migrate(folder), Database.layer(settingsFor(through))))
    expect(error.reason).toBe("Unreachable")
    expect(yield* Effect.provide(migrate(folder), Database.layer(settingsFor(url)))).toEqual([
      "0000_first",
      "0001_second",
    ])
  }).pipe(Effect.provide(TestDatabase.blank)),
)

layer(TestDatabase.layer)("the template of the tests", (it) => {
  it.effect("has every migration of this version", () =>
    Effect.gen(function* () {
      expect(yield* pendingMigrations()).toEqual([])
    }),
  )

  it.effect("accepts the rules again, as from a later version", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const rules = yield* Effect.promise(() => readFile("drizzle/rules.sql", "utf8"))
      yield* database.query("Test.rules", (sql) => sql.unsafe(`begin; ${rules}; commit`).simple())
      expect(yield* pendingMigrations()).toEqual([])
    }),
  )
})
