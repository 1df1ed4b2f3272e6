/** What is asked of all books at once takes as much for each of them, however many there are. */
import { expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { describe } from "vitest"
import { allBooks, type Book } from "../../src/Book.ts"
import { int4 } from "../../src/Database/Columns.ts"
import { probing } from "../../src/Database/DatabaseConfig.ts"
import { Database } from "../../src/Database.ts"
import { accountStandings } from "../../src/Inquiry/AccountStandings.ts"
import { ReferenceItems } from "../../src/Mirror/ReferenceItems.ts"
import { streams } from "../../src/Reconcile/Checks/Streams.ts"
import { readStates } from "../../src/Reconcile/ReadStates.ts"
import { settingsScope } from "../../src/Reconcile/ReconcileScope.ts"
import { openCounts } from "../../src/Reconcile/Summary.ts"
import { bookTieOuts } from "../../src/Reconcile/TieOut.ts"
import { notReadBySync } from "../../src/Reconcile/Unread.ts"
import { Settings } from "../../src/Settings.ts"
import { settingsFor } from "../support/DatabaseAddress.ts"
import { rowsTouched } from "../support/RowsTouched.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"

const settings = Settings.from({
  variables: { TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, client]}}" },
})

/** The database over sessions with settings of their own. */
const over = (session: Readonly<Record<string, string>>) =>
  Layer.unwrapEffect(
    Effect.map(TestDatabase, ({ url }) => Layer.fresh(Database.layer({ ...settingsFor(url), session }))),
  ).pipe(Layer.provideMerge(TestDatabase.migrated))

/**
 * Clients with a book, an account and a list that were read by the last sync; every third has a finding. The organization's book knows
 * them.
 */
const clients = (from: number, to: number) =>
  unruled(`
    insert into mirror.books (connection, client_id, code, name)
    select 'default', md5(n::text)::uuid, 'C' || n, 'Client' from generate_series(${from}, ${to}) n;
    insert into ledger.locks (book_id, time_zone)
    select book_id, 'UTC' from mirror.books on conflict do nothing;
    insert into mirror.reference_items (book_id, kind, item_id, version, current, raw, read_at, run_id)
    select o.book_id, 'client', md5(n::text)::uuid::text, 1, true, '{"status":"ACTIVE"}', now(), 1
    from mirror.books o, generate_series(${from}, ${to}) n where o.client_id is null;
    insert into mirror.accounts (book_id, account_id, currency, payment_rails, status, balance, balance_read_at, raw,
      last_balance, tail_read_at, run_id)
    select book_id, md5('a' || book_id)::uuid, 'EUR', 'SEPA', 'ACTIVE', 0, now(), '{}', 0, now(), 1
    from mirror.books on conflict do nothing;
    insert into sync.stream_reads (book_id, stream, began_at, ended_at, run_id)
    select book_id, s, now(), now(), 1
    from mirror.books b, unnest(array['accounts', 'statement:' || md5('a' || book_id)::uuid]) s on conflict do nothing;
    insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence, opened_run)
    select book_id, 'zero-entry', 'warning', 'statement_entry', md5('f' || book_id)::uuid::text, 'Nothing moves.', '{}', 1
    from mirror.books b where book_id % 3 = 0 and not exists (select from reconcile.findings f where f.book_id = b.book_id);
    analyze`)

const questions: Readonly<
  Record<string, (books: ReadonlyArray<Book>) => Effect.Effect<unknown, unknown, Database | Settings>>
> = {
  "whether they tie out": () => bookTieOuts(null),
  "whether those that are named tie out": (books) => bookTieOuts(books.map(({ bookId }) => bookId)),
  "how far behind they are": () => readStates(null),
  "what the last sync did not read": notReadBySync,
  "what is open": openCounts,
  "how their accounts stand": (books) => accountStandings(books, new Map()),
  "which streams cannot be read": (books) =>
    Effect.gen(function* () {
      const database = yield* Database
      const scope = {
        ...settingsScope(yield* Settings),
        ...{
          books: books.map(({ bookId }) => bookId),
          sinceRun: null,
          period: null,
          full: true,
          runId: null,
        },
      }
      return yield* database.row(
        "Test.streams",
        { count: int4 },
        (sql) => sql`select count(*)::integer as count from (${streams.found(sql, scope)}) f`,
      )
    }),
}

const organization = unruled(`
  insert into mirror.books (connection, client_id, code, name) values ('default', null, 'ORG', 'Organization');
  insert into sync.runs (connection, command, state, ended_at, whole, summary)
  values ('default', 'sync', 'done', now(), true, '{"proved": true}')`)

/** By question. */
const touched = Effect.gen(function* () {
  const books = yield* allBooks(Option.none())
  const found = new Map<string, number>()
  for (const [question, ask] of Object.entries(questions)) found.set(question, yield* rowsTouched(ask(books)))
  return found
})

describe("of twice as many books, the server goes through twice as many rows to say", () => {
  it.scoped.each([
    ["in a session that plans freely", {}],
    ["in a session that only probes indexes", probing],
  ] as const)("%s", ([, session]) =>
    Effect.gen(function* () {
      yield* organization
      yield* clients(1, 300)
      const before = yield* touched
      yield* clients(301, 600)
      const after = yield* touched
      for (const [question, rows] of before) {
        expect(rows, question).toBeGreaterThan(100)
        expect((after.get(question) ?? 0) / rows, question).toBeLessThan(2.6)
      }
    }).pipe(Effect.provide(settings), Effect.provide(over(session))),
  )
})

describe("the clients of a list", () => {
  it.scoped("are looked up one by one, also by a plan that was made before there were many", () =>
    Effect.gen(function* () {
      const database = yield* Database
      yield* organization
      const [book] = yield* allBooks(Option.none())
      if (book === undefined) throw new Error("there is no book")
      const items = yield* ReferenceItems.made
      const page = Array.from({ length: 50 }, (_, at) => ({
        id: `client-${at}`,
        label: Option.none<string>(),
        raw: '{"status":"ACTIVE"}',
      }))
      yield* items.put(book, 1, "client", "2026-11-01T00:00:00Z", page)
      yield* unruled(`
        insert into mirror.reference_items (book_id, kind, item_id, version, current, raw, read_at, run_id)
        select ${book.bookId}, 'client', 'other-' || n, 1, true, '{"status":"ACTIVE"}', now(), 1 from generate_series(1, 3000) n`)
      const read = Effect.map(
        database.row(
          "Test.read",
          { read: int4 },
          (sql) => sql`
            select sum(pg_stat_get_xact_tuples_returned(indexrelid))::integer as read
            from pg_index where indrelid = 'mirror.reference_items'::regclass`,
        ),
        ({ read: rows }) => rows,
      )
      const rows = yield* database.transaction(
        Effect.gen(function* () {
          yield* items.put(book, 1, "client", "2026-11-02T00:00:00Z", page)
          expect(yield* items.news(book, "client", page)).toEqual([])
          return yield* read
        }),
      )
      expect(rows).toBeGreaterThan(0)
      expect(rows).toBeLessThanOrEqual(4 * page.length)
    }).pipe(Effect.provide(over({ ...probing, plan_cache_mode: "force_generic_plan" }))),
  )
})
