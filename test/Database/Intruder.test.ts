/** Statements of somebody who knows the rules and looks for a way around them, with no more than plain SQL. */
import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { Database } from "../../src/Database.ts"
import { someoneWaits } from "../Close/LockWait.ts"
import { openBook, partner, post, postMonths } from "../Export/Books.ts"
import { rows } from "../Sync/Runs.ts"
import { closePeriod } from "../support/Closing.ts"
import { as, roles } from "../support/Roles.ts"
import { refusal } from "../support/statement.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

/** In one transaction. */
const tried = (...statements: ReadonlyArray<string>) => refusal(statements.join(";\n"))

/** A book with entries of September and October 2026 that have their numbers, of which September is closed. */
const closedBook = Effect.gen(function* () {
  const id = yield* openBook("INTRUDER")
  yield* postMonths(id)
  yield* rows(closePeriod(id, "2026-09"))
  return id
})

const november = {
  ...{ date: "2026-11-02", kind: "deposit", partner: partner.usd, cash: "1.00", description: "Deposit" },
  lines: [
    ["cash", "", "USD", "1.00"],
    ["deposits_clearing", "", "USD", "-1.00"],
  ],
} as const

/** Triggers of our functions on tables that say what their maker likes. */
const borrowed = (
  id: number,
): ReadonlyArray<readonly [what: string, ...statements: ReadonlyArray<string>]> => [
  [
    "an entry that waits for its number is forgotten",
    "create temp table queue (book_id integer, entry_id bigint) on commit drop",
    `create trigger borrowed after insert on queue referencing new table as new_numbers
     for each statement execute function ledger.take_from_unnumbered()`,
    `insert into queue select book_id, entry_id from ledger.unnumbered where book_id = ${id}`,
  ],
  [
    "a closed month takes entries again",
    "create temp table months (book_id integer, period date, status text, last_number integer, closed_at timestamptz) on commit drop",
    "create trigger borrowed before update on months for each row execute function ledger.check_period()",
    `insert into months values (${id}, '2026-09-01', 'closed', 0, null)`,
    "update months set status = 'open'",
  ],
  [
    "balances count every line twice",
    "create temp table lines (like ledger.postings) on commit drop",
    `create trigger borrowed after insert on lines referencing new table as new_postings
     for each statement execute function ledger.check_postings()`,
    `insert into lines select * from ledger.postings where book_id = ${id}`,
  ],
  [
    "an entry waits for a second number",
    `create temp table entries on commit drop as select * from ledger.journal_entries where false`,
    `create trigger borrowed after insert on entries referencing new table as new_entries
     for each statement execute function ledger.check_entries()`,
    `insert into entries select * from ledger.journal_entries where book_id = ${id} and period = '2026-10-01'`,
  ],
  [
    "a number is left out",
    "create temp table numbers (like ledger.journal_numbers) on commit drop",
    `create trigger borrowed after insert on numbers referencing new table as new_numbers
     for each statement execute function ledger.check_numbers()`,
    "set local tieout.numbering = '1'",
    `insert into numbers select u.book_id, u.entry_id, '2026-11-01', 1, 1 from ledger.unnumbered u where book_id = ${id}`,
  ],
]

it.scopedLive("no trigger function of ours runs on another table, whoever made it", () =>
  Effect.gen(function* () {
    const id = yield* closedBook
    yield* post(id, november)
    const { runtime } = yield* roles
    for (const [what, ...statements] of borrowed(id)) {
      expect([what, yield* tried(...statements)]).toEqual([what, "TO004"])
      expect([what, yield* tried(...statements).pipe(as(runtime))]).toEqual([what, "42501"])
    }
    const unlocked = yield* rows(`
      select p.oid::regprocedure::text as text from pg_proc p
      where p.prorettype = 'trigger'::regtype and p.pronamespace::regnamespace::text !~ '^(pg_|public|jobs|information)'
        and has_function_privilege('${runtime}', p.oid, 'execute')`)
    expect(unlocked).toEqual([])
  }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
)

/** Names that read like a function of ours on the stack of calls. */
const named = (name: string, work: string): ReadonlyArray<string> => [
  `create function pg_temp."\n${name}("() returns integer language sql as '${work}; select 1'`,
  `select pg_temp."\n${name}("()`,
]

it.scopedLive("the runtime role forgets nothing but by the functions that keep the terms", () =>
  Effect.gen(function* () {
    const id = yield* closedBook
    const { auditor, runtime } = yield* roles
    yield* rows(`insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence)
      values (${id}, 'adjustment', 'blocking', 'statement_entry', 'x', 'm', '{}')`)
    yield* rows(`insert into sync.runs (connection, command) values ('default', 'sync')`)
    for (const table of ["reconcile.findings", "sync.runs", "sync.page_boundaries"])
      for (const name of ["sync.forget_runs", "sync.forget_boundaries", "reconcile.forget_findings"]) {
        const removal = named(name, `delete from ${table}`)
        expect([table, yield* tried(...removal).pipe(as(runtime))]).toEqual([table, "TO004"])
        // A function of its own that is gone from the catalogue before it removes anything, and a statement that names ours.
        const gone = named(name, `drop function pg_temp."\n${name}("(); delete from ${table}`)
        expect([table, yield* tried(...gone).pipe(as(runtime))]).toEqual([table, "TO004"])
        const spoken = [
          `create function pg_temp.removal() returns integer language sql as 'delete from ${table}; select 1'`,
          `select query_to_xml(e'select /*\\n${name}( */ U&"pg\\\\005ftemp".removal()', true, true, '')`,
        ]
        expect([table, yield* tried(...spoken).pipe(as(runtime))]).toEqual([table, "TO004"])
      }
    const forgetting = [
      "select sync.forget_runs('30 days', '1 day', 10)",
      "select sync.forget_boundaries('30 days', 10)",
      "select reconcile.forget_findings('90 days', 10)",
    ]
    for (const statement of forgetting) {
      expect(yield* refusal(statement).pipe(as(runtime)), statement).toBe("accepted")
      // As the owner of the tables, who may: the auditor may not.
      const written = tried("set transaction read write", statement)
      expect(yield* written.pipe(as(auditor)), statement).toBe("42501")
    }
  }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
)

it.scopedLive("a transaction that does not see what was committed meanwhile changes no state of a book", () =>
  Effect.gen(function* () {
    const id = yield* closedBook
    const database = yield* Database
    const another = yield* openBook("LATER", "33333333-0000-4000-8000-000000000001")
    yield* rows("insert into ledger.currencies values ('ZZZ', 2)")
    const meanwhile = [
      // An entry without a number, in the month that closes.
      post(id, { ...november, date: "2026-10-20" }),
      // The first entry of a book without a time zone.
      post(another, november),
      Effect.zipRight(post(another, november), rows(`select ledger.assign_numbers(array[${another}])`)),
      rows(
        `insert into ledger.accounts (book_id, role, currency, code, name) values (${another}, 'fees', 'ZZZ', '1', 'x')`,
      ),
    ]
    const stale = [
      [closePeriod(id, "2026-10"), "TO008"],
      [`update ledger.locks set time_zone = 'Asia/Tokyo' where book_id = ${another}`, "TO004"],
      [`update mirror.books set code = 'ELSE' where book_id = ${another}`, "TO004"],
      ["update ledger.currencies set scale = 3 where code = 'ZZZ'", "TO004"],
    ] as const
    for (const [at, [statement, code]] of stale.entries()) {
      const began = yield* Deferred.make<void>()
      const changed = yield* Deferred.make<void>()
      const old = yield* Effect.fork(
        database
          .transaction(
            Effect.gen(function* () {
              yield* rows("select 1")
              yield* Deferred.succeed(began, undefined)
              yield* Deferred.await(changed)
              yield* database.query("Test.stale", (sql) => sql.unsafe(statement))
            }),
            { isolation: "repeatable read" },
          )
          .pipe(Effect.match({ onFailure: ({ sqlstate }) => sqlstate, onSuccess: () => "accepted" })),
      )
      yield* Deferred.await(began)
      yield* meanwhile[at] ?? Effect.void
      yield* Deferred.succeed(changed, undefined)
      expect([statement, yield* Fiber.join(old)]).toEqual([statement, code])
    }
  }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
)

it.scopedLive("no month opens before one that is being closed meanwhile", () =>
  Effect.gen(function* () {
    const id = yield* openBook("INTRUDER")
    yield* postMonths(id)
    const database = yield* Database
    const closed = yield* Deferred.make<void>()
    const waited = yield* Deferred.make<void>()
    const closing = yield* Effect.fork(
      database.transaction(
        Effect.gen(function* () {
          yield* rows(closePeriod(id, "2026-09"))
          yield* Deferred.succeed(closed, undefined)
          yield* Deferred.await(waited)
        }),
      ),
    )
    yield* Deferred.await(closed)
    const opening = yield* Effect.fork(
      refusal(`insert into ledger.periods (book_id, period) values (${id}, '2026-08-01')`),
    )
    yield* someoneWaits
    yield* Deferred.succeed(waited, undefined)
    yield* Fiber.join(closing)
    expect(yield* Fiber.join(opening)).toBe("TO005")
  }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
)
