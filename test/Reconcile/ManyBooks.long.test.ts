/** What is asked of all books, or of all receivables, takes as much for each of them, however many there are. */
import { expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { describe } from "vitest"
import { allBooks, type Book } from "../../src/Book.ts"
import * as Money from "../../src/Common/Money.ts"
import { int4, nullable, numeric, uuid } from "../../src/Database/Columns.ts"
import { probing } from "../../src/Database/DatabaseConfig.ts"
import { Database } from "../../src/Database.ts"
import { accountStandings } from "../../src/Inquiry/AccountStandings.ts"
import type { Line } from "../../src/Ledger/JournalEntry.ts"
import { Accounts } from "../../src/Ledger/LedgerAccounts.ts"
import { connectedReceivables } from "../../src/Ledger/Receivables/PlannedReceivables.ts"
import { Quarantine } from "../../src/Mirror/Quarantine.ts"
import { Receivables } from "../../src/Mirror/ReceivableVersions.ts"
import { ReferenceItems } from "../../src/Mirror/ReferenceItems.ts"
import { unfound } from "../../src/Proof/EvidenceProof.ts"
import { clearingNets } from "../../src/Reconcile/Checks/ClearingNets.ts"
import { loanClearing } from "../../src/Reconcile/Checks/Credit/LoanClearing.ts"
import { missingResource } from "../../src/Reconcile/Checks/MissingResource.ts"
import { movementEntries } from "../../src/Reconcile/Checks/MovementEntries.ts"
import { streams } from "../../src/Reconcile/Checks/Streams.ts"
import { unknownStates } from "../../src/Reconcile/Checks/UnknownStates.ts"
import { type CheckQuery, record, recordedColumns } from "../../src/Reconcile/Findings.ts"
import { readStates } from "../../src/Reconcile/ReadStates.ts"
import { settingsScope } from "../../src/Reconcile/ReconcileScope.ts"
import { openCounts } from "../../src/Reconcile/Summary.ts"
import { bookTieOuts } from "../../src/Reconcile/TieOut.ts"
import { notReadBySync } from "../../src/Reconcile/Unread.ts"
import { Settings } from "../../src/Settings.ts"
import { Inbox } from "../../src/Webhook/Inbox.ts"
import { rowsTouched } from "../support/RowsTouched.ts"
import { sessionsOf } from "../support/SessionsOf.ts"
import { unruled } from "../support/unruled.ts"

const settings = Settings.from({
  variables: { TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, client]}}" },
})

type Ask = (books: ReadonlyArray<Book>) => Effect.Effect<unknown, unknown, Database | Settings>

/** What a check finds, of everything. */
const checking =
  ({ found }: CheckQuery): Ask =>
  (books) =>
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
        "Test.found",
        { count: int4 },
        (sql) => sql`select count(*)::integer as count from (${found(sql, scope)}) f`,
      )
    })

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

const questions: Readonly<Record<string, Ask>> = {
  "whether they tie out": () => bookTieOuts(null),
  "whether those that are named tie out": (books) => bookTieOuts(books.map(({ bookId }) => bookId)),
  "how far behind they are": () => readStates(null),
  "what the last sync did not read": notReadBySync,
  "what is open": openCounts,
  "how their accounts stand": (books) =>
    accountStandings(books, { newEntries: new Map(), partly: new Set() }),
  "which streams cannot be read": checking(streams),
}

const organization = unruled(`
  insert into mirror.books (connection, client_id, code, name) values ('default', null, 'ORG', 'Organization');
  insert into sync.runs (connection, command, state, ended_at, whole, summary)
  values ('default', 'sync', 'done', now(), true, '{"proved": true}')`)

/** By question. */
const touched = (asked: Readonly<Record<string, Ask>>) =>
  Effect.gen(function* () {
    const books = yield* allBooks(Option.none())
    const found = new Map<string, number>()
    for (const [question, ask] of Object.entries(asked)) found.set(question, yield* rowsTouched(ask(books)))
    return found
  })

const sessions = [
  ["in a session that plans freely", {}],
  ["in a session that only probes indexes", probing],
] as const

/** Twice as many things, made by `more`, are twice as many rows. */
const grows = <E, R>(
  asked: Readonly<Record<string, Ask>>,
  more: (from: number, to: number) => Effect.Effect<unknown, E, R>,
) =>
  Effect.gen(function* () {
    yield* organization
    yield* more(1, 300)
    const before = yield* touched(asked)
    yield* more(301, 600)
    const after = yield* touched(asked)
    for (const [question, rows] of before) {
      expect(rows, question).toBeGreaterThan(100)
      expect((after.get(question) ?? 0) / rows, question).toBeLessThan(2.6)
    }
  }).pipe(Effect.provide(settings))

describe("of twice as many books, the server goes through twice as many rows to say", () => {
  it.scoped.each(sessions)("%s", ([, session]) =>
    grows(questions, clients).pipe(Effect.provide(sessionsOf(session))),
  )
})

/** Of a lender: each has more principal disbursed than due, a share of cash, and an amount that waits. */
const receivables = (from: number, to: number, statistics = "analyze") =>
  unruled(`
    drop table if exists news;
    create temporary table news as
    select b.book_id, md5('r' || n)::uuid as id, 'tx' || n as unit
    from mirror.books b, generate_series(${from}, ${to}) n where b.client_id is null;
    insert into ledger.locks (book_id, time_zone) select book_id, 'UTC' from mirror.books on conflict do nothing;
    insert into mirror.receivables (book_id, receivable_id, version, current, client_id, status, currency, payment_rails, issue_date,
      initial_principal, current_principal, repayment_amount, raw, served_at, read_at, posted, run_id)
    select book_id, id, 1, true, md5('c')::uuid, 'ACTIVE', 'EUR', 'SEPA', now(), 100, 100, 105, '{}', now(), now(), true, 1 from news;
    insert into ledger.receivable_dues (book_id, receivable_id, currency, side, lent, lent_waiting, repaid, repaid_waiting, taken_back,
      taken, open, owed, policy, since)
    select book_id, id, 'EUR', 1, 100, 40, 0, 0, 0, 0, true, true, '', now() from news;
    insert into ledger.receivable_shares (book_id, receivable_id, unit, currency, purpose, amount, rest, entries)
    select book_id, id, unit, 'EUR', 'disbursement', -60, false, '{}' from news;
    insert into ledger.receivable_waits (book_id, receivable_id, purpose, version, sequence, currency, amount, side, occurred_at, tx_ids, whole)
    select book_id, id, 'disbursement', 1, 1, 'EUR', 40, 1, now(), '{}', false from news;
    ${statistics}`)

describe("of twice as many receivables, the server goes through twice as many rows to say", () => {
  const asked: Readonly<Record<string, Ask>> = {
    "whether their book ties out": (books) => bookTieOuts(books.map(({ bookId }) => bookId)),
    "which stand in loan clearing": checking(loanClearing),
    "in which states they are": checking(unknownStates),
  }
  it.scoped.each(sessions)("%s", ([, session]) =>
    grows(asked, receivables).pipe(Effect.provide(sessionsOf(session))),
  )
})

describe("of twice as many books whose events wait, the server goes through twice as many rows", () => {
  /** Clients' books with ten events each that were handed out. */
  const waiting = (from: number, to: number) =>
    Effect.zipRight(
      clients(from, to),
      unruled(`
        insert into webhook.inbox (connection, event_id, digest, type, body, key_id, algorithm, state)
        select 'default', b.book_id || '-' || n, '\\x00', 'x', '\\x7b7d', 'k', 'ES256', 'waiting'
        from mirror.books b, generate_series(1, 10) n where b.client_id is not null on conflict do nothing;
        insert into sync.book_events (connection, event_id, digest, book_id)
        select i.connection, i.event_id, i.digest, split_part(i.event_id, '-', 1)::integer
        from webhook.inbox i on conflict do nothing;
        update webhook.inbox set next_try_at = now() - interval '1 minute';
        analyze webhook.inbox, sync.book_events, mirror.books`),
    )
  const takes: Ask = (books) =>
    Effect.gen(function* () {
      const { take } = yield* Inbox
      for (const { bookId } of books) yield* take("default", 5_000, undefined, bookId)
    }).pipe(Effect.provide(Layer.fresh(Inbox.Default)))
  it.scoped.each(sessions)("to take those of each book, %s", ([, session]) =>
    grows({ "which events are due": takes }, waiting).pipe(Effect.provide(sessionsOf(session))),
  )
})

/** All of one payment, which each names by another of its names: its identifier, its entry's, its hash. */
const paidTogether = (from: number, to: number) =>
  unruled(`
    drop table if exists news;
    create temporary table news as
    select b.book_id, n, md5('r' || n)::uuid as id,
      case n % 3 when 0 then md5('paid')::uuid::text when 1 then md5('entry')::uuid::text else 'hash' end as tx_id
    from mirror.books b, generate_series(${from}, ${to}) n where b.client_id is null;
    insert into mirror.statement_entries (book_id, run_id, position, occurred_at, account_id, entry_id, type, amount, currency,
      balance_after, related_type, related_id)
    select book_id, 1, 1, now(), md5('a')::uuid, md5('entry')::uuid, 'CREDIT', 1, 'EUR', 1, 'DEPOSIT', md5('paid')::uuid
    from news limit 1 on conflict do nothing;
    insert into mirror.resources (book_id, run_id, resource_type, resource_id, account_id, account_rail, status, final, currency, amount,
      created_at, changed_at, read_at, transaction_hash, raw)
    select book_id, 1, 'DEPOSIT', md5('paid')::uuid, md5('a')::uuid, 'SEPA', 'COMPLETED', true, 'EUR', 1, now(), now(), now(), 'HASH', '{}'
    from news limit 1
    on conflict do nothing;
    insert into mirror.receivable_transactions (book_id, receivable_id, version, purpose, tx_id, tx_timestamp, sought)
    select book_id, id, 1, 'repayment', tx_id, now(), true from news;
    analyze`)

describe("of twice as many receivables that one payment settles, the server goes through twice as many rows to say", () => {
  const asked: Readonly<Record<string, Ask>> = {
    "which are booked together": ([book]) =>
      book === undefined
        ? Effect.void
        : Effect.gen(function* () {
            const database = yield* Database
            const ids = yield* database.rows(
              "Test.receivables",
              { id: uuid },
              (sql) => sql`select receivable_id as id from mirror.receivable_transactions order by 1`,
            )
            const connected = yield* connectedReceivables(
              book,
              ids.slice(0, 1).map(({ id }) => id),
            )
            expect(connected).toHaveLength(ids.length)
          }),
  }
  it.scoped.each(sessions)("%s", ([, session]) =>
    grows(asked, paidTogether).pipe(Effect.provide(sessionsOf(session))),
  )
})

/** Deposits that the service shows in a form that cannot be understood, and an entry of each; statistics as a reconciliation makes them. */
const malformed = (from: number, to: number) =>
  unruled(`
    drop table if exists news;
    create temporary table news as
    select b.book_id, n, md5('d' || n)::uuid as id
    from mirror.books b, generate_series(${from}, ${to}) n where b.client_id is null;
    insert into ledger.locks (book_id, time_zone) select book_id, 'UTC' from mirror.books on conflict do nothing;
    insert into mirror.statement_entries (book_id, run_id, position, occurred_at, account_id, entry_id, type, amount, currency,
      balance_after, related_type, related_id)
    select book_id, 1, n, now(), md5('a')::uuid, md5('e' || n)::uuid, 'CREDIT', 1, 'EUR', n, 'DEPOSIT', id from news;
    insert into mirror.missing_resources (book_id, resource_type, resource_id) select book_id, 'DEPOSIT', id from news;
    insert into mirror.quarantine (book_id, stream, item_id, raw, reason, path, digest, run_id)
    select book_id, 'deposits', id, '{}', 'is missing', '$.createdAt', md5(id::text), 1 from news;
    analyze mirror.statement_entries`)

describe("of twice as many rows in quarantine, the server goes through twice as many rows to say", () => {
  it.scoped.each(sessions)("which movements are not known, %s", ([, session]) =>
    grows({ "which movements are not known": checking(missingResource) }, malformed).pipe(
      Effect.provide(sessionsOf(session)),
    ),
  )
})

/** Deposits that are complete and have no entry, since those in the statement cannot be understood; and as many later entries. */
const unmatched = (from: number, to: number) =>
  unruled(`
    drop table if exists news;
    create temporary table news as
    select b.book_id, n, md5('u' || n)::uuid as id, timestamptz '2026-10-01' + n * interval '1 minute' as at
    from mirror.books b, generate_series(${from}, ${to}) n where b.client_id is null;
    insert into ledger.locks (book_id, time_zone) select book_id, 'UTC' from mirror.books on conflict do nothing;
    insert into mirror.accounts (book_id, account_id, currency, payment_rails, status, balance, balance_read_at, raw,
      last_balance, tail_read_at, run_id)
    select book_id, md5('a')::uuid, 'EUR', 'SEPA', 'ACTIVE', 0, now(), '{}', 0, now(), 1 from news limit 1 on conflict do nothing;
    insert into mirror.statement_entries (book_id, run_id, position, occurred_at, account_id, entry_id, type, amount, currency,
      balance_after)
    select book_id, 1, n, at + interval '1 day', md5('a')::uuid, md5('e' || n)::uuid, 'CREDIT', 1, 'EUR', n + 5 from news;
    insert into mirror.resources (book_id, run_id, resource_type, resource_id, account_id, account_rail, status, final, currency, amount,
      created_at, completed_at, changed_at, read_at, raw)
    select book_id, 1, 'DEPOSIT', id, md5('a')::uuid, 'SEPA', 'COMPLETED', true, 'EUR', 7, at + interval '1 day 30 seconds', at + interval '2 days',
      now(), now(), '{}' from news;
    analyze mirror.statement_entries, mirror.resources, mirror.accounts`)

describe("of twice as many movements without an entry, the server goes through twice as many rows to say", () => {
  it.scoped.each(sessions)("which have other entries than they should, %s", ([, session]) =>
    grows({ "which have other entries": checking(movementEntries) }, unmatched).pipe(
      Effect.provide(sessionsOf(session)),
    ),
  )
})

describe("of twice as many movements that wait for the next sync, the server goes through twice as many rows", () => {
  const proves: Ask = (books) =>
    Effect.gen(function* () {
      const database = yield* Database
      const scope = {
        ...settingsScope(yield* Settings),
        ...{ books: books.map(({ bookId }) => bookId), sinceRun: null, period: null, full: true, runId: 1 },
      }
      yield* database.row("Test.record", recordedColumns, (sql) => record(sql, scope, movementEntries))
    })
  const waiting = (from: number, to: number) =>
    Effect.zipRight(
      unmatched(from, to),
      // They became complete after the end of the statement was read, and have waited since the last sync.
      unruled(`
        update mirror.accounts set tail_read_at = now() - interval '1 day';
        insert into reconcile.deferred (book_id, resource_id, resource_type)
        select book_id, resource_id, resource_type from mirror.resources on conflict do nothing`),
    )
  it.scoped.each(sessions)("to prove them once more, %s", ([, session]) =>
    grows({ "which still wait": proves }, waiting).pipe(Effect.provide(sessionsOf(session))),
  )
})

/** Withdrawals of the organization that were refused and sent back; beside it, books of clients with an entry each. */
const refused = (from: number, to: number) =>
  unruled(`
    insert into mirror.books (connection, client_id, code, name)
    select 'default', md5('small' || n)::uuid, 'S' || n, 'Client' from generate_series(1, 2000) n on conflict do nothing;
    insert into ledger.locks (book_id, time_zone) select book_id, 'UTC' from mirror.books on conflict do nothing;
    insert into ledger.accounts (book_id, role, currency, partner_account_id, code, name)
    select b.book_id, r.role, 'EUR', r.partner::uuid, r.role, r.role from mirror.books b
    cross join (values ('cash', md5('a')), ('withdrawals_clearing', null)) r (role, partner) on conflict do nothing;
    drop table if exists news;
    create temporary table news as
    select b.book_id, e.n, e.side, md5('w' || e.n)::uuid as id, md5(b.book_id || '-' || e.n || '-' || e.side)::uuid as entry,
      (b.book_id::bigint << 32) + 2 * e.n + e.side as number
    from mirror.books b cross join lateral (
      select n, side from generate_series(${from}, case when b.client_id is null then ${to} else ${from} end) n
      cross join generate_series(0, case when b.client_id is null then 1 else 0 end) side
      where b.client_id is null or ${from} = 1) e;
    insert into mirror.statement_entries (book_id, run_id, position, occurred_at, account_id, entry_id, type, amount, currency,
      balance_after, related_type, related_id)
    select book_id, 1, 2 * n + side, now(), md5('a')::uuid, entry, case side when 0 then 'DEBIT' else 'CREDIT' end, 1, 'EUR', 1, 'WITHDRAWAL', id
    from news;
    insert into mirror.resources (book_id, run_id, resource_type, resource_id, account_id, account_rail, status, final, currency, amount,
      created_at, completed_at, changed_at, read_at, raw)
    select book_id, 1, 'WITHDRAWAL', id, md5('a')::uuid, 'SEPA', 'REJECTED', true, 'EUR', 1, now(), now(), now(), now(), '{}'
    from news where side = 0;
    insert into ledger.journal_entries (book_id, entry_id, occurred_at, effective_date, run_id, line_count, source_type, source_id, kind,
      partner_account_id, resource_type, resource_id, description)
    select book_id, number, now(), current_date, 1, 2, 'statement_entry', entry, 'withdrawal', md5('a')::uuid, 'WITHDRAWAL', id, ''
    from news;
    insert into ledger.postings (book_id, account_id, entry_id, line_number, currency, amount)
    select n.book_id, a.account_id, n.number, case a.role when 'cash' then 1 else 2 end, 'EUR',
      case when (a.role = 'cash') = (n.side = 0) then -1 else 1 end
    from news n join ledger.accounts a on a.book_id = n.book_id;
    analyze mirror.statement_entries, mirror.resources, mirror.books, ledger.accounts, ledger.journal_entries, ledger.postings`)

describe("of twice as many refused movements of one book among many small ones, the server goes through twice as many rows to say", () => {
  it.scoped.each(sessions)("which net to zero, %s", ([, session]) =>
    grows({ "which net to zero": checking(clearingNets) }, refused).pipe(Effect.provide(sessionsOf(session))),
  )
})

describe("of twice as many open findings, the server goes through twice as many rows", () => {
  const waiting = (from: number, to: number) =>
    Effect.zipRight(
      receivables(from, to, ""),
      unruled(`
        update ledger.receivable_waits set occurred_at = now() - interval '40 days';
        insert into reconcile.progress (book_id, through_run, reconciled_at) select book_id, 1, now() from mirror.books
        on conflict do nothing;
        insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence, opened_run)
        select book_id, 'loan-in-transit', 'warning', 'receivable', id || ' disbursement 1', '', '{}', 1 from news`),
    )

  it.scoped("to prove that each is known, also where there are no statistics", () =>
    Effect.gen(function* () {
      yield* organization
      yield* waiting(1, 300)
      const proof = rowsTouched(unfound(), "Proof.unfound.loan-in-transit")
      const rows = yield* proof
      expect(rows).toBeGreaterThan(100)
      yield* waiting(301, 600)
      expect((yield* proof) / rows).toBeLessThan(2.6)
    }).pipe(Effect.provide(Layer.merge(settings, sessionsOf({})))),
  )
})

describe("of twice as many accounts, the server goes through twice as many rows", () => {
  const cash = (of: number): Line => ({
    ...{
      role: "cash",
      currency: "EUR",
      partnerAccountId: `00000000-0000-4000-8000-${String(of).padStart(12, "0")}`,
    },
    amount: Money.fromTrusted("1"),
    rule: null,
  })

  it.scoped.each(sessions)("to make one after the other, %s", ([, session]) =>
    Effect.gen(function* () {
      yield* organization
      yield* clients(1, 1)
      const [one, other] = yield* allBooks(Option.none())
      if (one === undefined || other === undefined) throw new Error("there are two books")
      const made = (book: Book, count: number) =>
        Effect.gen(function* () {
          const { transaction } = yield* Database
          const { idsOf } = yield* Accounts
          for (let at = 0; at < count; at++) yield* idsOf(book, [cash(at)], transaction)
        }).pipe(Effect.provide(Layer.fresh(Accounts.Default)))
      const rows = yield* rowsTouched(made(one, 100))
      expect((yield* rowsTouched(made(other, 200))) / rows).toBeLessThan(2.6)
    }).pipe(Effect.provide(Layer.merge(settings, sessionsOf(session)))),
  )
})

describe("what a receivable's cash left in loan clearing", () => {
  it.scoped.each(sessions)("is looked up once for all that is said of it, %s", ([, session]) =>
    Effect.gen(function* () {
      yield* organization
      yield* receivables(1, 300)
      // To look for what others have of the cash finds one row, its own. Looked up for each sum, they were 26 rows of each.
      yield* unruled("update ledger.receivable_shares set rest = true; analyze ledger.receivable_shares")
      const clearing = Effect.flatMap(Database, (database) =>
        database.rows(
          "Test.clearing",
          { paid: nullable(numeric) },
          (sql) => sql`select sum(lent_paid + repaid_paid) as paid from reconcile.receivable_clearing`,
        ),
      )
      const rows = yield* rowsTouched(clearing)
      expect(rows).toBeGreaterThan(300)
      expect(rows).toBeLessThan(300 * 20)
    }).pipe(Effect.provide(sessionsOf(session))),
  )
})

/** How many rows the indexes of a table have returned in this transaction. */
const returned = (table: string) =>
  Effect.flatMap(Database, (database) =>
    Effect.map(
      database.row(
        "Test.returned",
        { read: int4 },
        (sql) => sql`
          select sum(pg_stat_get_xact_tuples_returned(indexrelid))::integer as read
          from pg_index where indrelid = ${table}::text::regclass`,
      ),
      ({ read }) => read,
    ),
  )

/** By a plan that the server makes without looking at what it is asked for. */
const generic = sessionsOf({ ...probing, plan_cache_mode: "force_generic_plan" })

describe("of a list with thousands of items, those of a page are looked up one by one:", () => {
  const ids = Array.from({ length: 50 }, (_, at) => `00000000-0000-4000-8000-0000000000${10 + at}`)

  it.scoped("clients", () =>
    Effect.gen(function* () {
      const database = yield* Database
      yield* organization
      const [book] = yield* allBooks(Option.none())
      if (book === undefined) throw new Error("there is no book")
      const items = yield* ReferenceItems.made
      const page = ids.map((id) => ({ id, label: Option.none<string>(), raw: '{"status":"ACTIVE"}' }))
      yield* items.put(book, 1, "client", "2026-11-01T00:00:00Z", page)
      yield* unruled(`
        insert into mirror.reference_items (book_id, kind, item_id, version, current, raw, read_at, run_id)
        select ${book.bookId}, 'client', 'other-' || n, 1, true, '{"status":"ACTIVE"}', now(), 1 from generate_series(1, 3000) n`)
      const rows = yield* database.transaction(
        Effect.gen(function* () {
          yield* items.put(book, 1, "client", "2026-11-02T00:00:00Z", page)
          expect(yield* items.news(book, "client", page)).toEqual([])
          return yield* returned("mirror.reference_items")
        }),
      )
      expect(rows).toBeGreaterThan(0)
      expect(rows).toBeLessThanOrEqual(4 * page.length)
    }).pipe(Effect.provide(generic)),
  )

  it.scoped("receivables", () =>
    Effect.gen(function* () {
      const database = yield* Database
      yield* organization
      const [book] = yield* allBooks(Option.none())
      if (book === undefined) throw new Error("there is no book")
      const versions = yield* Receivables.made
      const times = { servedAt: "2026-11-02T00:00:00Z", readAt: "2026-11-02T00:00:00Z" }
      const hundred = Money.fromTrusted("100")
      const page = ids.map((id) => ({
        bookId: book.bookId,
        receivable: {
          ...{ id, clientId: id, currency: "EUR", status: "ACTIVE", paymentRails: "SEPA", raw: "{}" },
          issueDate: "2026-10-01T00:00:00Z",
          ...{ initialPrincipal: hundred, currentPrincipal: hundred, repaymentAmount: hundred },
          paymentTransaction: Option.none(),
          disbursedTransaction: Option.some({ txId: `tx ${id}`, txTimestamp: "2026-10-01T00:00:00Z" }),
          repaymentTransactions: [],
        },
      }))
      expect(yield* versions.put(book, 1, times, page)).toBe(page.length)
      // The plans that were made for few stay.
      yield* receivables(1, 3000, "")
      const rows = yield* database.transaction(
        Effect.gen(function* () {
          expect(yield* versions.put(book, 1, times, page)).toBe(0)
          return yield* returned("mirror.receivables")
        }),
      )
      expect(rows).toBeGreaterThan(0)
      expect(rows).toBeLessThanOrEqual(4 * page.length)
    }).pipe(Effect.provide(generic)),
  )
})

describe("of thousands of rows in quarantine, those of a page are settled by going through them once,", () => {
  const page = Array.from({ length: 50 }, (_, at) => ({ stream: "deposits", id: `item-${at}` }))
  const rows = 2_000

  it.scoped.each([
    ["by the plan of these", sessionsOf(probing)],
    ["by any plan", generic],
  ] as const)("%s", ([, session]) =>
    Effect.gen(function* () {
      yield* organization
      const [book] = yield* allBooks(Option.none())
      if (book === undefined) throw new Error("there is no book")
      yield* unruled(`
        insert into mirror.quarantine (book_id, stream, item_id, raw, reason, path, digest, run_id)
        select ${book.bookId}, 'deposits', 'item-' || n, '{}', 'is missing', '$', n, 1 from generate_series(1, ${rows}) n`)
      const settled = Effect.flatMap(Quarantine.made, ({ resolveEach }) => resolveEach(book, page))
      expect(yield* rowsTouched(settled, "Mirror.Quarantine.resolveEach")).toBeLessThanOrEqual(4 * rows)
      expect(yield* (yield* Quarantine.made).open(book)).toHaveLength(rows - page.length + 1)
    }).pipe(Effect.provide(session)),
  )
})
