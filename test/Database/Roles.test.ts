import { expect, it } from "@effect/vitest"
import { Effect, Either, Option } from "effect"
import { DatabaseError } from "../../src/Database/DatabaseError.ts"
import { migrate } from "../../src/Database/Migrate.ts"
import { administratorSql, rolesSql } from "../../src/Database/RoleStatements.ts"
import { administerRoles, applyRoles } from "../../src/Database/Roles.ts"
import { Database } from "../../src/Database.ts"
import { resolveAsOf } from "../../src/Ledger/AsOf.ts"
import { credit, partnership } from "../Sync/Partnership.ts"
import { journal, rows, sync } from "../Sync/Runs.ts"
import { settingsFor } from "../support/DatabaseAddress.ts"
import { program } from "../support/Program.ts"
import { as, roles } from "../support/Roles.ts"
import { refusal } from "../support/statement.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

it.scopedLive("the runtime role syncs and proves, and changes no table, trigger, rule or role", () =>
  Effect.gen(function* () {
    const { held, service } = yield* partnership()
    held.statement = [credit(1, "5.00", "5.00")]
    held.balance = "5.00"
    const { runtime } = yield* roles
    const report = yield* sync(service.url).pipe(as(runtime))
    expect([report.counters.entries, report.blockingFindings]).toEqual([1, 0])
    expect((yield* journal).length).toBeGreaterThan(0)
    const refusals = yield* Effect.forEach(
      [
        "alter table ledger.postings disable trigger all",
        "drop trigger identity_kept on mirror.accounts",
        "create table ledger.mine (a int)",
        "truncate ledger.postings",
        "create or replace function ledger.day_of(a timestamptz, b text) returns date language sql as 'select null::date'",
        "set session_replication_role = replica",
        "create role intruder",
        "delete from drizzle.rules",
      ],
      refusal,
    ).pipe(as(runtime))
    expect(refusals).toEqual(refusals.map(() => "42501"))
    const patience = yield* rows("select current_setting('lock_timeout') as text").pipe(as(runtime))
    expect(patience).toEqual([{ text: "1min" }])
  }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
)

it.scopedLive(
  "the runtime role makes statistics of what it read, also where no right allows it (before Postgres 17)",
  () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership()
      held.statement = Array.from({ length: 300 }, (_, at) => credit(at + 1, "1.00", `${at + 1}.00`))
      held.balance = "300.00"
      const { runtime } = yield* roles
      yield* rows(`do $$ begin
        if current_setting('server_version_num')::integer >= 170000 then
          revoke maintain on all tables in schema ledger, mirror, sync from ${runtime};
        end if;
      end $$`)
      yield* sync(service.url).pipe(as(runtime))
      const known = yield* rows(`
      select count(*)::integer as tables from pg_class c
      where c.oid in ('mirror.statement_entries'::regclass, 'ledger.postings'::regclass, 'ledger.journal_entries'::regclass)
        and c.reltuples >= 250`)
      expect(known).toEqual([{ tables: 3 }])
      // Of nobody else's tables.
      const others = ["pg_catalog.pg_authid", "drizzle.rules"].map(
        (name) => `select ledger.make_statistics(array['${name}'])`,
      )
      expect(yield* Effect.forEach(others, refusal).pipe(as(runtime))).toEqual(["42501", "42501"])
    }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
)

it.scopedLive("the runtime role never migrates: it says who does", () =>
  Effect.gen(function* () {
    const { runtime } = yield* roles
    expect(yield* migrate().pipe(as(runtime))).toEqual([])
    yield* rows("delete from drizzle.rules")
    const refused = yield* Effect.either(migrate().pipe(as(runtime)))
    const error = Option.getOrThrow(Either.getLeft(refused))
    expect(error).toBeInstanceOf(DatabaseError)
    expect(error).toMatchObject({ reason: "Settings" })
    expect(error.message).toContain("the database lacks rules, and test_runtime_")
    expect(yield* migrate()).toEqual(["rules"])
    expect(yield* migrate().pipe(as(runtime))).toEqual([])
    // It does not write into the record of migrations either, which was just made again.
    const record = ["__drizzle_migrations", "objects", "rules"].map((name) => `delete from drizzle.${name}`)
    expect(yield* Effect.forEach(record, refusal).pipe(as(runtime))).toEqual(record.map(() => "42501"))
  }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
)

it.scopedLive("where the runtime role lacks a right, the error names it and who can grant it", () =>
  Effect.gen(function* () {
    const { auditor, runtime } = yield* roles
    yield* rows(`revoke insert on mirror.books from ${runtime}`)
    const writing = Effect.flatMap(Database, ({ query }) =>
      query("Book.open", (sql) => sql.unsafe("insert into mirror.books default values")),
    )
    const error = yield* Effect.flip(writing.pipe(as(runtime)))
    expect(error).toMatchObject({ reason: "Settings", sqlstate: "42501" })
    expect(error.message).toBe(
      "Book.open: the role that DATABASE_URL names lacks a right: permission denied for table books [42501]. To write it must be " +
        "tieout_runtime or a member of it. Where it is, run tieout migrate --roles as the owner of the tables, who gives the right anew.",
    )
    yield* applyRoles({ auditor, runtime })
    expect(yield* Effect.flip(writing.pipe(as(runtime)))).toMatchObject({ reason: "Refused" })
  }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
)

it.scopedLive("the auditor's role reads everything and writes nothing", () =>
  Effect.gen(function* () {
    const { auditor } = yield* roles
    const found = yield* Effect.forEach(
      [
        "select * from ledger.journal_lines",
        "select * from reconcile.open_findings",
        "insert into reconcile.progress default values",
        // Locks the table until the transaction ends: syncs and reconciliations, which do the same, would wait.
        "select ledger.make_statistics(array['mirror.accounts'])",
      ],
      refusal,
    ).pipe(as(auditor))
    expect(found).toEqual(["accepted", "accepted", "25006", "42501"])
    expect(
      yield* refusal("begin; set transaction read write; delete from mirror.books; commit").pipe(as(auditor)),
    ).not.toBe("accepted")
  }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
)

it.scopedLive("a role from which a policy hides rows reads no part of the books for the whole", () =>
  Effect.gen(function* () {
    const { auditor } = yield* roles
    yield* rows("alter table mirror.books enable row level security")
    const counted = Effect.flatMap(Database, ({ query }) =>
      query("Test.books", (sql) => sql.unsafe("select count(*) from mirror.books")),
    )
    const error = yield* Effect.flip(counted.pipe(as(auditor)))
    expect(error).toMatchObject({ reason: "Settings", sqlstate: "42501" })
    expect(error.message).toBe(
      'Test.books: query would be affected by row-level security policy for table "books" [42501]. Row security would hide rows ' +
        "from this role, and books that are read in part look whole: as the owner, `alter table … disable row level security` " +
        "(tieout verify --database names the tables), or give the role bypassrls. Where it is meant to see a part, add " +
        "?row_security=on to DATABASE_URL.",
    )
    // Who owns the tables is bound by no policy.
    yield* counted
    yield* counted.pipe(as(auditor, "?row_security=on"))
  }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
)

it.scopedLive(
  "once an administrator has said so, the auditor's role holds none of our locks, and fills no disk by functions",
  () =>
    Effect.gen(function* () {
      const { auditor, runtime } = yield* roles
      const harms = [
        "select pg_try_advisory_xact_lock(hashtextextended('tieout sync default', 0))",
        "select pg_advisory_lock(1)",
        "select pg_advisory_lock_shared(1, 2)",
        "select pg_try_advisory_lock(1, 2)",
        "select pg_try_advisory_xact_lock_shared(1)",
        "select lo_create(0)",
        "select lo_creat(-1)",
        "select lo_from_bytea(0, 'x')",
        "select pg_logical_emit_message(false, 'x', 'x')",
      ]
      const tried = Effect.forEach(harms, refusal).pipe(as(auditor))
      expect(yield* tried).not.toContain("42501")
      expect(yield* administerRoles({ auditor, runtime }).pipe(as(runtime))).toBe(false)
      expect(yield* administerRoles({ auditor, runtime })).toBe(true)
      expect(yield* tried).toEqual(harms.map(() => "42501"))
      // The owner and the runtime role need advisory locks: the owner has them anyway, the runtime role by a grant.
      const locked = Effect.scoped(
        Effect.flatMap(Database, ({ tryLock }) => Effect.as(tryLock("test"), "held")),
      )
      expect([yield* locked, yield* locked.pipe(as(runtime))]).toEqual(["held", "held"])
      const acl = yield* rows(
        "select proacl::text as text from pg_proc where oid = 'pg_try_advisory_lock(bigint)'::regprocedure",
      )
      const owner = yield* rows(
        "select nspowner::regrole::text as text from pg_namespace where nspname = 'ledger'",
      )
      expect(acl[0]?.text).toContain(`${owner[0]?.text}=X/`)
      expect(acl[0]?.text).not.toMatch(/[{,]=X/)
    }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
)

it.scopedLive(
  "what an administrator runs with psql calls no function of somebody else's in the schema public",
  () =>
    Effect.gen(function* () {
      const names = yield* roles
      for (const type of ["name", "regprocedure, name", "regprocedure", "name, text, text"])
        yield* rows(`create or replace function public.format(text, ${type}) returns text language plpgsql as $$
        begin raise exception 'planted'; end $$`)
      // As a session of psql's has it.
      for (const script of [rolesSql(names), administratorSql(names)])
        expect(yield* refusal(`begin; set local search_path = public;\n${script}\ncommit`)).toBe("accepted")
    }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
)

it.scopedLive("a role that an administrator made with greater rights loses them", () =>
  Effect.gen(function* () {
    const { auditor, runtime } = yield* roles
    yield* rows(`alter role ${runtime} superuser createrole`)
    yield* rows(`alter role ${auditor} bypassrls createdb replication`)
    yield* applyRoles({ auditor, runtime })
    const mighty = yield* rows(
      `select rolname::text as text from pg_roles where rolname in ('${runtime}', '${auditor}')
         and (rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls)`,
    )
    expect(mighty).toEqual([])
  }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
)

it.scopedLive(
  "once an administrator has said so, no role writes the values of rows into the server's log",
  () =>
    Effect.gen(function* () {
      const { auditor, runtime } = yield* roles
      yield* administerRoles({ auditor, runtime })
      const quiet = rows(
        `select current_setting('log_parameter_max_length') || ' ' || current_setting('log_min_error_statement') || ' '
          || coalesce(current_setting('auto_explain.log_min_duration', true), 'not said') as text`,
      )
      for (const role of [runtime, auditor])
        expect(yield* quiet.pipe(as(role))).toEqual([{ text: "0 panic -1" }])
      // The owner of the tables, who restores backups, in a new session.
      const { url } = yield* TestDatabase
      expect(yield* Effect.provide(quiet, Database.layer(settingsFor(url)))).toEqual([{ text: "0 panic -1" }])
    }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
)

it.scopedLive("a transaction of another role counts as one that may still record something for a time", () =>
  Effect.gen(function* () {
    const { auditor } = yield* roles
    const { transaction } = yield* Database
    const then = Effect.flatMap(rows("select now()::text as text"), ([row]) =>
      resolveAsOf({ kind: "moment", text: String(row?.text) }, 0, "UTC").pipe(as(auditor)),
    )
    const busy = yield* Effect.flip(transaction(then))
    expect(busy).toMatchObject({ _tag: "AsOfError", reason: "Busy" })
    // Only a superuser sees when that transaction began.
    expect(busy.message).toContain("pg_read_all_stats")
    yield* rows(`grant pg_read_all_stats to ${auditor}`)
    yield* Effect.sleep("5 millis")
    const earlier = yield* rows("select (now() - interval '1 millisecond')::text as text")
    const found = resolveAsOf({ kind: "moment", text: String(earlier[0]?.text) }, 0, "UTC").pipe(as(auditor))
    expect(yield* transaction(found)).toMatch(/Z$/)
  }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
)

it.scopedLive("what tieout migrate --roles prints is a script, which an administrator runs as it is", () =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase
    const { run } = yield* program
    const { code, out } = yield* run(["migrate", "--roles"], { DATABASE_URL: url })
    expect(code).toBe(0)
    expect(out).toMatch(/^-- .+ is up to date\.$/m)
    expect(yield* refusal(out)).toBe("accepted")
  }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
)

it.scopedLive("where an administrator made the roles, the owner is told what is in the way", () =>
  Effect.gen(function* () {
    const { name } = yield* TestDatabase
    const owner = `owner_of_${name}`
    yield* Effect.acquireRelease(rows(`create role ${owner} login createrole password 'of-this-test'`), () =>
      rows(`reassign owned by ${owner} to current_user; drop owned by ${owner}; drop role ${owner}`).pipe(
        Effect.ignore,
      ),
    )
    yield* rows(`alter database ${name} owner to ${owner}`)
    yield* migrate().pipe(as(owner))
    const { auditor, runtime } = yield* roles
    yield* rows(`alter role ${runtime} createdb`)
    const error = yield* Effect.flip(applyRoles({ auditor, runtime }).pipe(as(owner)))
    const [before = "", after] = error.message.split("\nand then this as the owner of the tables")
    expect(after).toContain(`alter role "${auditor}" set`)
    const first = before.slice(before.indexOf("\n"))
    expect(first).toContain(`alter role ${runtime} nosuperuser`)
    yield* rows(first)
    yield* applyRoles({ auditor, runtime }).pipe(as(owner))
  }).pipe(Effect.scoped, Effect.provide(TestDatabase.blankLayer)),
)
