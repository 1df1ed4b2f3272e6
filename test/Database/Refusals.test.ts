/** Statements in plain SQL that are refused even to the owner of the database: the evidence of a close cannot be changed. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Database } from "../../src/Database.ts"
import { openBook, postMonths } from "../Export/Books.ts"
import { closeBalances, closePeriod, closeRow, reopenPeriod, reopenRow, stateOf } from "../support/Closing.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const run = (...statements: ReadonlyArray<string>) =>
  Effect.flatMap(Database, (database) =>
    database.query("Test.run", (sql) => sql.unsafe(statements.join(";\n"))),
  ).pipe(
    Effect.as("taken"),
    Effect.catchAll(({ sqlstate }) => Effect.succeed(sqlstate)),
  )

let books = 0

/** A book with entries of September and October 2026 that have their numbers. */
const book = Effect.gen(function* () {
  books += 1
  const id = yield* openBook(`REFUSES${books}`, `33333333-0000-4000-8000-${String(books).padStart(12, "0")}`)
  yield* postMonths(id)
  return id
})

const usersOf = (table: string, id: number) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Test.usersOf",
      (sql) => sql<Array<{ own: boolean }>>`
        select database_user = session_user as own from ${sql(`ledger.${table}`)} where book_id = ${id}`,
    ),
  )

layer(TestDatabase.layer, { excludeTestServices: true })("the database refuses", (it) => {
  it.effect("a change of a book's code, connection or client once it has numbers, but not of its name", () =>
    Effect.gen(function* () {
      const id = yield* book
      for (const change of ["code = 'ELSE'", "connection = 'else'", "client_id = null"]) {
        expect(yield* run(`update mirror.books set ${change} where book_id = ${id}`), change).toBe("TO004")
      }
      expect(yield* run(`update mirror.books set name = 'Else' where book_id = ${id}`)).toBe("taken")
      const fresh = yield* openBook("FRESH", "33333333-0000-4000-8000-0000000000ff")
      expect(yield* run(`update mirror.books set code = 'FRESHER' where book_id = ${fresh}`)).toBe("taken")
      const older = `update mirror.books set created_at = now() - interval '1 day' where book_id = ${fresh}`
      expect(yield* run(older)).toBe("TO004")
      expect(yield* run(`delete from mirror.books where book_id = ${fresh}`)).toBe("TO004")
    }),
  )

  it.effect("a close that was not made by closing", () =>
    Effect.gen(function* () {
      const id = yield* book
      const month = "2026-09"
      const closed = stateOf(id, month, "closed")
      expect(yield* run(closed), "the state alone").toBe("TO011")
      expect(yield* run(closeRow(id, month)), "the row alone").toBe("TO011")
      expect(yield* run(closed, closeRow(id, month)), "without its balances").toBe("TO011")
      const cent = `insert into ledger.close_balances select ${id}, 1, account_id, code, name, currency, debit, credit,
        balance + case when account_id = (select min(account_id) from ledger.accounts where book_id = ${id}) then 0.01 else 0 end
        from ledger.balances_at(${id}, '${month}-01')`
      expect(yield* run(closed, closeRow(id, month), cent), "a cent off").toBe("TO011")
      const hashed = closeRow(id, month, "'no hash'")
      expect(yield* run(closed, hashed, closeBalances(id, month)), "no hash").toBe("TO011")
      const fewer = closeRow(id, month).replace("p.last_number", "p.last_number - 1")
      expect(yield* run(closed, fewer, closeBalances(id, month)), "an entry too few").toBe("TO011")
      const turned = closeBalances(id, month).replace(
        "b.*",
        "account_id, code, name, currency, debit + 1, credit + 1, balance",
      )
      expect(yield* run(closed, closeRow(id, month), turned), "a turnover that leaves the balance").toBe(
        "TO011",
      )
      const columns = (row: string, names: string, values: string) =>
        row
          .replace("who, accepted", `who, accepted, ${names}`)
          .replace("'test', '[]'", `'test', '[]', ${values}`)
      const backdated = columns(closeRow(id, month), "at", "now() - interval '1 day'")
      expect(yield* run(closed, backdated, closeBalances(id, month)), "at another time").toBe("TO011")
      const elsewhere = columns(closeRow(id, month), "transaction", "'3'")
      expect(yield* run(closed, elsewhere, closeBalances(id, month)), "of another transaction").toBe("TO011")
      const ahead = closeRow(id, month).replace("max(c.sequence), 0) + 1", "max(c.sequence), 0) + 2")
      expect(yield* run(closed, ahead, closeBalances(id, month)), "with a close left out").toBe("TO011")
      const followed = closeRow(id, month, undefined, "repeat('a', 64)")
      expect(yield* run(closed, followed, closeBalances(id, month)), "after another close").toBe("TO011")
      const empty = `insert into ledger.periods (book_id, period, status) values (${id}, '2026-08-01', 'closed')`
      expect(yield* run(empty), "a month without entries").toBe("TO011")
      const looked = [closed, closeRow(id, month), closeBalances(id, month), "set constraints all immediate"]
      const another = `insert into ledger.close_balances values (${id}, 1, 0, '1', 'Cash', 'USD', 0, 0, 1000)`
      expect(yield* run(...looked, another), "another balance once it was looked at").toBe("TO011")
      const posing = columns(closeRow(id, month), "database_user", "'somebody'")
      expect(yield* run(closed, posing, closeBalances(id, month))).toBe("taken")
      expect(yield* usersOf("closes", id), "whose session it is says the database").toEqual([{ own: true }])
      expect(yield* run(closeRow(id, month), closeBalances(id, month)), "a second time").toBe("TO011")
      const more = `insert into ledger.close_balances values (${id}, 1, 0, '1', 'Cash', 'USD', 0, 0, 0)`
      expect(yield* run(more), "another balance afterwards").toBe("TO011")
    }),
  )

  it.effect("an approval of a close with another hash, or of one that was reopened", () =>
    Effect.gen(function* () {
      const id = yield* book
      const month = "2026-09"
      const approval = (hash: string) =>
        `insert into ledger.close_approvals (book_id, sequence, close_hash, name, os_user, two_persons)
         values (${id}, 1, ${hash}, 'Bea', 'bea', false)`
      const own = `(select hash from ledger.closes where book_id = ${id} and sequence = 1)`
      expect(yield* run(closePeriod(id, month))).toBe("taken")
      expect(yield* run(approval("repeat('f', 64)"))).toBe("TO011")
      expect(yield* run(reopenPeriod(id, month))).toBe("taken")
      expect(yield* run(approval(own))).toBe("TO011")
      expect(yield* run(closePeriod(id, month))).toBe("taken")
      expect(yield* run(approval(own))).toBe("TO011")
      expect(yield* run(approval(own).replace(", 1, (", ", 3, ("))).toBe("TO011")
      const standing = approval(own.replace("sequence = 1", "sequence = 3")).replace(", 1, (", ", 3, (")
      const signed = (names: string, values: string) =>
        run(standing.replace("two_persons)", `two_persons, ${names})`).replace("false)", `false, ${values})`))
      expect(yield* signed("at", "now() - interval '1 day'")).toBe("TO011")
      expect(yield* signed("database_user", "'somebody'")).toBe("taken")
      expect(yield* usersOf("close_approvals", id)).toEqual([{ own: true }])
    }),
  )

  it.effect("reopening and closing a month without the row of its close", () =>
    Effect.gen(function* () {
      const id = yield* book
      const month = "2026-09"
      expect(yield* run(closePeriod(id, month))).toBe("taken")
      expect(yield* run(stateOf(id, month, "open"))).toBe("TO011")
      expect(yield* run(reopenRow(id, month))).toBe("TO011")
      expect(yield* run(stateOf(id, month, "open"), stateOf(id, month, "closed"))).toBe("TO011")
      const again = [stateOf(id, "2026-10", "open"), stateOf(id, "2026-10", "closed")]
      expect(yield* run(closePeriod(id, "2026-10"), ...again), "with one row for three changes").toBe("TO011")
      expect(yield* run(closeBalances(id, month))).not.toBe("taken")
      expect(yield* run(closeRow(id, month))).toBe("TO011")
      expect(yield* run(reopenPeriod(id, month))).toBe("taken")
      expect(yield* run(closePeriod(id, month))).toBe("taken")
    }),
  )

  it.effect(
    "a month that opens behind the last closed one, a book that begins closed, and lines of a month that is not valued",
    () =>
      Effect.gen(function* () {
        const id = yield* book
        expect(yield* run(closePeriod(id, "2026-09"))).toBe("taken")
        const behind = `insert into ledger.periods (book_id, period) values (${id}, '2026-08-01')`
        expect(yield* run(behind)).toBe("TO005")
        const begun = `insert into ledger.locks (book_id, closed_through) values (${id}, '2026-08-01')`
        expect(yield* run(begun)).toBe("TO008")
        const valued = `insert into valuation.entries (book_id, period, series, number, effective_date, line_count, kind, description)
        values (${id}, '2026-09-01', 'fx', 1, '2026-09-30', 2, 'revaluation', 'by hand')`
        expect(yield* run(valued)).toBe("TO004")
      }),
  )

  it.effect("other decimals for a used currency, or its removal", () =>
    Effect.gen(function* () {
      yield* book
      expect(yield* run("update ledger.currencies set scale = 3 where code = 'USD'")).toBe("TO004")
      expect(yield* run("update ledger.currencies set code = 'USDX' where code = 'USD'")).toBe("TO004")
      expect(yield* run("delete from ledger.currencies where code = 'USD'")).toBe("TO004")
      expect(yield* run("truncate ledger.currencies cascade")).toBe("TO004")
      const listed = `insert into mirror.accounts (book_id, account_id, currency, payment_rails, status, balance, balance_read_at, raw, run_id)
        values (1, gen_random_uuid(), 'ZWG', 'SWIFT', 'ACTIVE', 0, now(), '{}', 1)`
      const scale = "update ledger.currencies set scale = 3 where code = 'ZWG'"
      expect(yield* run(listed, scale), "of an account that has no entries").toBe("TO004")
      expect(yield* run("delete from ledger.currencies where code = 'ZWG'")).toBe("taken")
    }),
  )

  it.effect.each([
    "mirror.books",
    "mirror.accounts",
    "mirror.statement_entries",
    "mirror.statement_entry_versions",
    "mirror.resources",
    "mirror.resource_versions",
    "mirror.receivables",
    "mirror.receivable_transactions",
    "mirror.reference_items",
    "mirror.quarantine",
    "mirror.contradictions",
    "reconcile.findings",
    "reconcile.progress",
    "sync.runs",
    "sync.leases",
    "sync.checkpoints",
    "sync.page_boundaries",
    "sync.stream_reads",
    "valuation.accounts",
  ])("%s to be deleted from or emptied", (table) =>
    Effect.gen(function* () {
      yield* book
      const entry = table === "mirror.statement_entries" ? " where not held" : ""
      expect(yield* run(`delete from ${table}${entry}`)).toBe("TO004")
      expect(yield* run(`truncate ${table} cascade`)).toBe("TO004")
    }),
  )

  it.effect.each(["mirror.missing_resources", "reconcile.deferred", "webhook.inbox"])(
    "%s to be emptied",
    (table) =>
      Effect.gen(function* () {
        expect(yield* run(`truncate ${table}`)).toBe("TO004")
      }),
  )

  // These rules are of whole statements: they hold though no row is found.
  it.effect("any statement against what never changes, or is kept by the books themselves", () =>
    Effect.gen(function* () {
      const refused = Effect.fnUntraced(function* (table: string, ...statements: ReadonlyArray<string>) {
        for (const statement of statements)
          expect([statement, yield* run(statement)]).toEqual([statement, "TO004"])
        expect([table, yield* run(`truncate ${table} cascade`)]).toEqual([table, "TO004"])
      })
      const [added, changed, removed] = [
        (table: string) => `insert into ${table} select * from ${table} where false`,
        (table: string, column = "book_id") => `update ${table} set ${column} = ${column} where false`,
        (table: string) => `delete from ${table} where false`,
      ]
      for (const table of [
        "ledger.closes",
        "ledger.close_balances",
        "ledger.close_approvals",
        "export.batches",
        "export.batch_states",
        "export.batch_files",
        "export.account_mappings",
        "valuation.settings",
        "valuation.entries",
        "valuation.postings",
      ])
        yield* refused(table, changed(table), removed(table))
      for (const table of ["valuation.rates", "valuation.rate_imports"])
        yield* refused(table, changed(table, "version"), removed(table))
      for (const table of [
        "ledger.balances",
        "ledger.transit",
        "ledger.unnumbered",
        "ledger.archives",
        "ledger.archived_months",
        "ledger.archived_turnover",
        "ledger.archived_sources",
        "mirror.archived_resources",
        "export.archived_totals",
      ])
        yield* refused(table, added(table), changed(table), removed(table))
      for (const table of ["ledger.accounts", "ledger.periods", "ledger.locks", "valuation.months"])
        yield* refused(table)
    }),
  )

  it.effect("the removal of a resource that is still missing, and of an event that is not done", () =>
    Effect.gen(function* () {
      expect(
        yield* run(
          `insert into mirror.missing_resources (book_id, resource_type, resource_id)
           values (1, 'DEPOSIT', '99999999-0000-4000-8000-000000000001')`,
          "delete from mirror.missing_resources",
        ),
      ).toBe("TO004")
      const event = (state: string) =>
        run(
          `insert into webhook.inbox (connection, event_id, digest, body, key_id, algorithm, state)
           values ('c', '${state}', '', '', 'k', 'a', '${state}')`,
          "delete from webhook.inbox",
        )
      for (const state of ["waiting", "failed", "dead", "poison"]) expect(yield* event(state)).toBe("TO004")
      expect(yield* event("done")).toBe("taken")
      const old = (state: string) =>
        run(
          `insert into webhook.inbox (connection, event_id, digest, body, key_id, algorithm, state, received_at)
           values ('c', '${state}', '', '', 'k', 'a', '${state}', now() - interval '31 days')`,
          "delete from webhook.inbox",
        )
      for (const state of ["waiting", "failed"]) expect(yield* old(state)).toBe("TO004")
      for (const state of ["dead", "poison"]) expect(yield* old(state)).toBe("taken")
    }),
  )

  it.effect("another subject for a finding, or its reopening", () =>
    Effect.gen(function* () {
      const finding = `insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence)
        values (1, 'cash-balance', 'blocking', 'account', 'a', 'm', '{}')`
      expect(yield* run(finding)).toBe("taken")
      for (const change of [
        "book_id = 2",
        "check_name = 'adjustment'",
        "subject_id = 'b'",
        "opened_at = now() + interval '1 day'",
      ]) {
        expect(yield* run(`update reconcile.findings set ${change}`), change).toBe("TO004")
      }
      expect(yield* run("update reconcile.findings set message = 'more', seen_at = now()")).toBe("taken")
      expect(yield* run("update reconcile.findings set closed_at = now()")).toBe("taken")
      expect(yield* run("update reconcile.findings set closed_at = null")).toBe("TO004")
    }),
  )

  it.effect("to undo a reconciliation", () =>
    Effect.gen(function* () {
      const id = yield* book
      const through = `insert into reconcile.progress (book_id, through_run) values (${id}, 5)`
      expect(yield* run(through), "before it was read").toBe("TO004")
      expect(
        yield* run(
          `insert into sync.runs (connection, command) select 'c', 'sync' from generate_series(1, 6)`,
          through,
        ),
      ).toBe("taken")
      expect(yield* run(`update reconcile.progress set through_run = 4 where book_id = ${id}`)).toBe("TO004")
      expect(yield* run(`update reconcile.progress set through_run = 6 where book_id = ${id}`)).toBe("taken")
      const beyond = `update reconcile.progress set through_run = 1000000 where book_id = ${id}`
      expect(yield* run(beyond), "what was never read").toBe("TO004")
    }),
  )

  it.effect("to take back what was read, or to date it otherwise", () =>
    Effect.gen(function* () {
      const id = yield* book
      const thing = "'99999999-0000-4000-8000-000000000004'"
      const resource = `insert into mirror.resources (book_id, resource_type, resource_id, status, final, form, account_id, account_rail,
          currency, amount, version, raw, created_at, changed_at, read_at, run_id)
        values (${id}, 'DEPOSIT', ${thing}, 'PENDING', false, 'money', ${thing}, 'SWIFT', 'USD', 1, 5, '{}', now(), now(), now(), 1)`
      const missing = `insert into mirror.missing_resources (book_id, resource_type, resource_id, tries)
        values (${id}, 'DEPOSIT', ${thing}, 5)`
      const quarantined = `insert into mirror.quarantine (book_id, stream, raw, reason, path, digest, run_id)
        values (${id}, 's', '{}', 'because', '$', repeat('0', 64), 1)`
      const lease = `insert into sync.leases (connection, epoch, run_id) values ('lease${id}', 5, 1)`
      const begun = `insert into sync.runs (connection, command) values ('run${id}', 'sync')`
      const event = `insert into webhook.inbox (connection, event_id, digest, body, key_id, algorithm, state, conflict)
        values ('event${id}', 'e', '', '', 'k', 'a', 'waiting', true)`
      const found = `insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence)
        values (${id}, 'cash-balance', 'blocking', 'account', 'a', 'm', '{}')`
      const posted = `insert into mirror.receivables (book_id, receivable_id, version, current, client_id, status, currency, payment_rails,
          issue_date, initial_principal, current_principal, repayment_amount, raw, served_at, read_at, posted, run_id)
        values (${id}, ${thing}, 1, true, ${thing}, 'ACTIVE', 'USD', 'SWIFT', now(), 1, 1, 1, '{}', now(), now(), true, 1)`
      const read = `${begun}; insert into sync.stream_reads (book_id, stream, began_at, ended_at, run_id)
        select ${id}, 'deposits', now(), now(), max(run_id) from sync.runs`
      const kept = `insert into reconcile.progress (book_id, through_run) values (${id}, 0)`
      const cases: ReadonlyArray<readonly [row: string, table: string, changes: ReadonlyArray<string>]> = [
        [
          resource,
          "mirror.resources",
          [
            "version = 4",
            "version = 7",
            "run_id = 2",
            "changed_at = read_at - interval '1 day'",
            `raw = '{"a":1}'`,
          ],
        ],
        [missing, "mirror.missing_resources", ["tries = 4"]],
        [quarantined, "mirror.quarantine", ["resolved_at = now() - interval '1 day'"]],
        [
          lease,
          "sync.leases",
          ["epoch = 5", "epoch = 7", "epoch = 6, taken_at = now() + interval '1 day'", "epoch = 4"],
        ],
        [begun, "sync.runs", ["state = 'done', ended_at = now() - interval '1 day'", "command = 'backfill'"]],
        [event, "webhook.inbox", ["conflict = false", "state = 'poison'", "body = 'b'"]],
        [
          found,
          "reconcile.findings",
          [
            "message = 'more', seen_at = now() - interval '1 day'",
            "closed_run = 1, seen_at = now()",
            "closed_at = now() + interval '1 day'",
            "closed_at = now(), severity = 'warning'",
          ],
        ],
        [posted, "mirror.receivables", ["posted = false"]],
        [
          read,
          "sync.stream_reads",
          [
            "ended_at = null",
            "began_at = null",
            "began_at = began_at - interval '1 hour'",
            "ended_at = ended_at + interval '1 hour'",
            "run_id = 0",
          ],
        ],
        [kept, "reconcile.progress", ["through_batch = -1", "through_batch = 4711"]],
      ]
      const ofConnection = new Set(["sync.leases", "sync.runs", "webhook.inbox"])
      for (const [row, table, changes] of cases)
        for (const change of changes) {
          const mine = ofConnection.has(table) ? `connection like '%${id}'` : `book_id = ${id}`
          expect([table, change, yield* run(row, `update ${table} set ${change} where ${mine}`)]).toEqual([
            table,
            change,
            "TO004",
          ])
        }
    }),
  )

  it.effect("another content for a version that was read, and the return of a superseded one", () =>
    Effect.gen(function* () {
      const id = yield* book
      expect(
        yield* run(`insert into mirror.reference_items (book_id, kind, item_id, version, current, raw, read_at, run_id)
          values (${id}, 'pair', 'p', 1, true, '{}', now(), 1)`),
      ).toBe("taken")
      const change = (what: string) => run(`update mirror.reference_items set ${what} where book_id = ${id}`)
      expect(yield* change("raw = '{\"a\":1}'")).toBe("TO004")
      expect(yield* change("current = false")).toBe("taken")
      expect(yield* change("current = true")).toBe("TO004")
    }),
  )

  it.effect("any change of a posted statement entry but the resource that it did not name", () =>
    Effect.gen(function* () {
      const id = yield* book
      const one = `where book_id = ${id} and (account_id, position) = (
        select account_id, position from mirror.statement_entries where book_id = ${id} and related_id is null
        order by account_id, position limit 1)`
      const change = (what: string) => run(`update mirror.statement_entries set ${what} ${one}`)
      const named = "related_type = 'DEPOSIT', related_id = '99999999-0000-4000-8000-000000000002'"
      expect(yield* change(`${named}, amount = amount + 1`)).toBe("TO004")
      expect(yield* change("extra = '{}'")).toBe("TO004")
      expect(yield* change(`${named}, run_id = 0`)).toBe("TO004")
      for (const other of [
        "related_type = 'WITHDRAWAL'",
        "related_id = '99999999-0000-4000-8000-000000000003'",
      ])
        expect(
          yield* run(`update mirror.statement_entries set ${named} ${one};
          update mirror.statement_entries set ${other} where book_id = ${id} and related_id is not null`),
          other,
        ).toBe("TO004")
      expect(yield* change(named)).toBe("taken")
    }),
  )

  it.effect(
    "code of a session's own among what calls its rules, and types that shadow those of Postgres",
    () =>
      Effect.gen(function* () {
        const id = yield* book
        yield* run(closePeriod(id, "2026-09"))
        const temporary = [
          "create temp table code (text text)",
          `create function pg_temp.run() returns trigger language plpgsql as
          'begin execute new.text; return null; end'`,
          "create trigger run after insert on code for each row execute function pg_temp.run()",
        ]
        const within = (statement: string) => run(...temporary, `insert into code values ($$${statement}$$)`)
        const anonymous = (statement: string) =>
          run(`do $do$ begin
          /*
          PL/pgSQL function sync.forget_runs(interval,interval,integer) line 4 at SQL statement
          */ ${statement}; end $do$`)
        yield* run(
          `insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence)
         values (${id}, 'adjustment', 'warning', 'statement_entry', 'x', 'm', '{}')`,
        )
        for (const statement of [
          `update ledger.locks set closed_through = null where book_id = ${id}`,
          `update ledger.balances set debit = debit + 1 where book_id = ${id}`,
          `update ledger.periods set last_number = 7 where book_id = ${id}`,
          `delete from reconcile.findings where book_id = ${id}`,
          "delete from sync.page_boundaries",
          "delete from sync.runs",
        ]) {
          expect(yield* within(statement), statement).toMatch(/^TO00[46]$/)
          expect(yield* anonymous(statement), statement).toMatch(/^TO00[46]$/)
          expect(yield* run("set local tieout.forgetting = 'on'", statement), statement).toMatch(/^TO00[46]$/)
        }
        // A type with the name of one of Postgres' own, and a cast that names every column.
        const shadows = [
          "create type pg_temp.text as enum ('related_type', 'related_id', 'extra', 'run_id')",
          `create function pg_temp.all_columns(pg_temp.text[]) returns pg_catalog.text[] language sql as
          $$ select array_agg(attname::pg_catalog.text) from pg_attribute where attrelid = 'mirror.statement_entries'::regclass $$`,
          "create cast (pg_temp.text[] as pg_catalog.text[]) with function pg_temp.all_columns(pg_temp.text[]) as implicit",
        ]
        const changed = `update mirror.statement_entries set amount = amount + 1 where book_id = ${id}`
        expect(yield* run(...shadows, changed)).toBe("TO004")
        const unfixed = yield* Effect.flatMap(Database, (database) =>
          database.query(
            "Test.unfixed",
            (sql) => sql`
            select p.oid::regprocedure::text as name from pg_proc p join pg_language l on l.oid = p.prolang
            where l.lanname = 'plpgsql' and p.pronamespace::regnamespace::text !~ '^(pg_|public|jobs|drizzle|information)'
              and not coalesce(array_to_string(p.proconfig, ' ') ~ 'search_path', false)`,
          ),
        )
        expect(unfixed).toEqual([])
      }),
  )
})
