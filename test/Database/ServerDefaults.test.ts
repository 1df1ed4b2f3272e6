/** What a server or a database sets by default changes nothing of what our statements mean, and nothing of what we read. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { bool, bytes, int4, text } from "../../src/Database/Columns.ts"
import { refuseReadOnly, refuseUnguarded } from "../../src/Database/MayWrite.ts"
import { textArray } from "../../src/Database/TextArray.ts"
import { Database } from "../../src/Database.ts"
import { settingsFor } from "../support/DatabaseAddress.ts"
import { hasPgbouncer, pgbouncer } from "../support/Pgbouncer.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const oddities = [
  "default_transaction_isolation = 'repeatable read'",
  "bytea_output = 'escape'",
  "array_nulls = off",
  "standard_conforming_strings = off",
  "TimeZone = 'America/New_York'",
  "DateStyle = 'German, DMY'",
  "IntervalStyle = 'sql_standard'",
  "quote_all_identifiers = on",
  "extra_float_digits = -3",
  "transform_null_equals = on",
  "search_path = ledger, mirror, public",
]

const columns = {
  level: text,
  path: text,
  bytes,
  nulls: bool,
  backslash: text,
  at: text,
  span: text,
  name: text,
  float: text,
  unknown: bool,
}

const seen = Effect.gen(function* () {
  const database = yield* Database
  const row = database.row(
    "Test.seen",
    columns,
    (sql) => sql`
      select current_setting('transaction_isolation') as level, current_setting('search_path') as path,
        '\\x00ff41'::bytea as bytes,
        (${textArray(sql, ["a", null])})[2] is null as nulls, 'a\\b' as backslash,
        timestamptz '2026-02-28 23:59:59+02'::text as at, interval '1 day 2 hours'::text as span,
        quote_ident('name') as name, (0.1::float8 + 0.2::float8)::text as float, (1 = null) is null as unknown`,
  )
  return [yield* row, yield* database.transaction(row)]
})

const asEver = {
  level: "read committed",
  path: "pg_catalog",
  bytes: Buffer.from([0, 255, 65]),
  nulls: true,
  backslash: "a\\b",
  at: "2026-02-28 21:59:59+00",
  span: "1 day 02:00:00",
  name: "name",
  float: "0.30000000000000004",
  unknown: true,
}

const odd = Effect.gen(function* () {
  const { name, url } = yield* TestDatabase
  const database = yield* Database
  for (const set of oddities) {
    yield* database.execute("Test.odd", (sql) => sql.unsafe(`alter database ${name} set ${set}`))
  }
  return { name, url }
})

/** A transaction such as an export's, which reads a snapshot for longer than the database lets any last. */
const reading = Effect.gen(function* () {
  const database = yield* Database
  const slowly = database.row(
    "Test.slowly",
    { slept: text },
    (sql) => sql`select pg_sleep(0.3)::text as slept`,
  )
  return yield* Effect.zipRight(slowly, slowly).pipe((both) =>
    database.transaction(both, { isolation: "repeatable read" }),
  )
})

const bounded = Effect.gen(function* () {
  const { name } = yield* TestDatabase
  const database = yield* Database
  const { knows } = yield* database.row(
    "Test.knows",
    { knows: bool },
    (sql) => sql`select current_setting('transaction_timeout', true) is not null as knows`,
  )
  // Known since Postgres 17.
  if (knows)
    yield* database.execute("Test.bounded", (sql) =>
      sql.unsafe(`alter database ${name} set transaction_timeout = '200ms'`),
    )
  return knows
})

/** Functions and operators of somebody else, which fit our statements better than the server's own. */
const planted = `
  create function public.format(text, text) returns text language sql as $$ select 'planted' $$;
  create function public.less(numeric, integer) returns numeric language sql as $$ select 0.0 $$;
  create operator public.- (leftarg = numeric, rightarg = integer, function = public.less)`

layer(TestDatabase.blankLayer, { excludeTestServices: true })("a database with defaults of its own", (it) => {
  it.scoped("is not written to where it switches off the triggers that guard the books", () =>
    Effect.gen(function* () {
      const { name, url } = yield* TestDatabase
      const database = yield* Database
      const set = (to: string) =>
        database.execute("Test.set", (sql) =>
          sql.unsafe(`alter database ${name} ${to.replace("$", "session_replication_role")}`),
        )
      const asked = Effect.provide(refuseUnguarded("Test.guarded"), Database.layer(settingsFor(url)))
      yield* set("set $ = local")
      yield* asked
      yield* set("set $ = replica")
      expect((yield* Effect.flip(asked)).message).toBe(
        "Test.guarded: the rules that guard the books are off: the database, the role or the server has session_replication_role=replica. " +
          "Take it back there; tieout verify --database says by which statement.",
      )
      yield* set("reset $")
      yield* asked
    }),
  )

  it.scoped("has what it likes in its schema public: our statements mean the server's own", () =>
    Effect.gen(function* () {
      const database = yield* Database
      yield* database.query("Test.planted", (sql) => sql.unsafe(planted).simple())
      const said = database.row(
        "Test.said",
        { text, left: text },
        (sql) => sql`select format('%s', 'own'::text) as text, (3.50::numeric - 1)::text as left`,
      )
      expect([yield* said, yield* database.transaction(said)]).toEqual([
        { text: "own", left: "2.50" },
        { text: "own", left: "2.50" },
      ])
    }),
  )

  it.scoped("gives our sessions what every other one gives them", () =>
    Effect.gen(function* () {
      const { url } = yield* odd
      const found = yield* Effect.provide(seen, Database.layer(settingsFor(url)))
      expect(found).toEqual([asEver, asEver])
    }),
  )

  it.scoped.skipIf(!hasPgbouncer)("does so behind a pooler as well", () =>
    Effect.gen(function* () {
      const { name } = yield* odd
      const url = yield* pgbouncer(name, "transaction")
      const found = yield* Effect.provide(seen, Database.layer(settingsFor(url)))
      expect(found).toEqual([asEver, asEver])
    }),
  )

  it.scoped("dates a day as the zone does that its book names", () =>
    Effect.gen(function* () {
      const { name, url } = yield* TestDatabase
      const before = yield* Database
      yield* before.execute("Test.odd", (sql) =>
        sql.unsafe(`alter database ${name} set timezone_abbreviations = 'Australia'`),
      )
      const dated = Effect.flatMap(Database, (database) =>
        database.row(
          "Test.dated",
          { local: text },
          (sql) => sql`select (timestamptz '2026-10-01 03:00:00+00' at time zone 'EST')::text as local`,
        ),
      )
      expect(yield* Effect.provide(dated, Database.layer(settingsFor(url)))).toEqual({
        local: "2026-09-30 22:00:00",
      })
    }),
  )

  it.scoped("lets a transaction last as long as its work, unless DATABASE_URL says how long", () =>
    Effect.gen(function* () {
      const knows = yield* bounded
      const { name, url } = yield* TestDatabase
      const within = (address: string) => Effect.provide(reading, Database.layer(settingsFor(address)))
      expect(yield* within(url)).toEqual({ slept: "" })
      if (hasPgbouncer) expect(yield* within(yield* pgbouncer(name, "transaction"))).toEqual({ slept: "" })
      const asked = yield* Effect.flip(within(`${url}?transaction_timeout=100ms`))
      expect(asked).toMatchObject({ reason: knows ? "Unreachable" : "Settings" })
    }),
  )

  it.scoped("ends no session of the pool that waits for its next statement", () =>
    Effect.gen(function* () {
      const { name, url } = yield* TestDatabase
      const before = yield* Database
      yield* before.execute("Test.idle", (sql) =>
        sql.unsafe(`alter database ${name} set idle_session_timeout = '100ms'`),
      )
      yield* Effect.gen(function* () {
        const database = yield* Database
        const pid = database.row("Test.pid", { pid: int4 }, (sql) => sql`select pg_backend_pid() as pid`)
        const first = yield* pid
        yield* Effect.promise(() => new Promise((resume) => setTimeout(resume, 500)))
        expect(yield* pid).toEqual(first)
      }).pipe(Effect.provide(Database.layer(settingsFor(url))))
    }),
  )
})

layer(TestDatabase.layer)("a database whose transactions only read by default", (it) => {
  it.effect("is refused with the name of the setting: server and role may be the right ones", () =>
    Effect.gen(function* () {
      const { name, url } = yield* TestDatabase
      const { query } = yield* Database
      yield* query("Test.set", (sql) =>
        sql.unsafe(`alter database ${name} set default_transaction_read_only = on`),
      )
      const writing = Effect.flatMap(Database, (later) =>
        later.query("Test.write", (sql) => sql`create table public.only_reads ()`),
      )
      for (const refused of [refuseReadOnly("Test.refused"), writing]) {
        const { message } = yield* Effect.flip(Effect.provide(refused, Database.layer(settingsFor(url))))
        expect(message).toContain("that role or the server has default_transaction_read_only=on")
      }
    }),
  )
})
