/** Small books by plain SQL, under the database's rules; and the means to break those rules. */
import { randomUUID } from "node:crypto"
import { Effect, Layer } from "effect"
import type { PendingQuery } from "postgres"
import { type Book, organizationBook } from "../../src/Book.ts"
import type { Sql } from "../../src/Database/Client.ts"
import { Database } from "../../src/Database.ts"
import { Reconcile } from "../../src/Reconcile.ts"
import { Settings } from "../../src/Settings.ts"
import { negated } from "../Export/Books.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

/** The service on a database of the test file's own. */
export const services = Reconcile.Default.pipe(
  Layer.provideMerge(TestDatabase.layer),
  Layer.provideMerge(Settings.from({ variables: {} })),
)

export const query = <A extends object>(statement: (sql: Sql) => PendingQuery<A[]>) =>
  Effect.flatMap(Database, (database) => database.query("Test.books", statement))

/** The resource of a statement entry that belongs to a payout, which has no identifier. */
export const payout = { type: "PAYOUT", id: null }

export interface Account {
  readonly book: Book
  readonly id: string
  readonly currency: string
}

export type ResourceType = "DEPOSIT" | "WITHDRAWAL" | "CONVERSION"

export interface Named {
  readonly type: string
  readonly id: string | null
}

let connections = 0

/** A book of its own on a connection of its own. */
export const openBook = Effect.suspend(() => organizationBook(`test-${++connections}`))

export const startRun = (book: Book) =>
  Effect.map(
    query(
      (sql) => sql<Array<{ run_id: number }>>`
        insert into sync.runs (connection, command, state, ended_at, whole) values (${book.connection}, 'sync', 'done', now(), true)
        returning run_id`,
    ),
    ([run]) => run?.run_id ?? 0,
  )

/** A run that nobody overtakes. */
export const asRun = (runId: number) =>
  Effect.map(Database, (database) => ({
    runId,
    commit: <A, E, R>(effect: Effect.Effect<A, E, R>) => database.transaction(effect),
  }))

export const openAccount = (book: Book, currency = "USD") =>
  Effect.gen(function* () {
    const account: Account = { book, id: randomUUID(), currency }
    yield* query(
      (sql) => sql`
        insert into mirror.accounts (book_id, account_id, currency, payment_rails, status, balance, balance_read_at, raw, run_id)
        values (${book.bookId}, ${account.id}, ${currency}, 'SEPA', 'ACTIVE', 0, now(), '{}', 0)`,
    )
    return account
  })

export interface ResourceFields {
  readonly type: ResourceType
  readonly status?: string
  readonly amount: string
  readonly fee?: string
  readonly feeCurrency?: string
  readonly form?: "money" | "flat"
  readonly buy?: Account
  readonly buyAmount?: string
  readonly rate?: string
  readonly createdAt?: string
  readonly raw?: string
  readonly run?: number
}

export const putResource = (account: Account, fields: ResourceFields, id: string = randomUUID()) =>
  Effect.as(
    query((sql) => {
      const { book, currency } = account
      const status = fields.status ?? "COMPLETED"
      const final = ["COMPLETED", "CANCELED", "REJECTED"].includes(status)
      const feeCurrency = fields.fee === undefined ? null : (fields.feeCurrency ?? currency)
      return sql`
        insert into mirror.resources as r (book_id, resource_type, resource_id, status, final, form, account_id,
          account_rail, currency, amount, fee, fee_currency, buy_account_id, buy_account_rail, buy_currency, buy_amount,
          rate, counterparty, created_at, raw, changed_at, read_at, run_id)
        values (${book.bookId}, ${fields.type}, ${id}, ${status}, ${final}, ${fields.form ?? null}, ${account.id}, 'SEPA',
          ${currency}, ${fields.amount}, ${fields.fee ?? null}, ${feeCurrency}, ${fields.buy?.id ?? null},
          ${fields.buy === undefined ? null : "SEPA"}, ${fields.buy?.currency ?? null}, ${fields.buyAmount ?? null},
          ${fields.rate ?? null}, 'Jane Remitter', ${fields.createdAt ?? "2026-10-05T09:00:00Z"},
          ${fields.raw ?? '{"remitterName":"Jane Remitter"}'}::text::json, now(), now(), ${fields.run ?? 0})
        on conflict (book_id, resource_id, resource_type) do update set
          status = excluded.status, final = excluded.final, changed_at = now(), run_id = excluded.run_id`
    }),
    { type: fields.type, id } as const,
  )

const counterRoles: Readonly<Record<string, string>> = {
  DEPOSIT: "deposits_clearing",
  WITHDRAWAL: "withdrawals_clearing",
  CONVERSION: "conversions_in_transit",
  PAYOUT: "payouts_clearing",
}

export interface EntryFields {
  readonly type: "CREDIT" | "DEBIT"
  readonly amount: string
  readonly of?: Named
  /** Instead of the role that goes with the resource's type. */
  readonly against?: string
  /** What the journal calls it. */
  readonly kind?: string
  readonly occurredAt?: string
  readonly run?: number
  /** The balance before the first entry of the account. */
  readonly opening?: string
}

const ledgerAccount = (account: Account, role: string) =>
  Effect.map(
    query(
      (sql) => sql<Array<{ account_id: number }>>`
        insert into ledger.accounts (book_id, role, currency, partner_account_id, code, name)
        values (${account.book.bookId}, ${role}, ${account.currency}, ${role === "cash" ? account.id : null},
          ${`${role}:${account.currency}`}, ${role})
        on conflict (book_id, role, currency, partner_account_id, rule_code) do update set code = excluded.code
        returning account_id`,
    ),
    ([row]) => row?.account_id ?? 0,
  )

/** A two-line journal entry: debits `amount` to one account and credits the other. Gives its id. */
export const post = (
  account: Account,
  source: {
    readonly type: string
    readonly id: string
    readonly kind: string
    readonly sequence?: number
    readonly run?: number
    readonly of?: Named
    readonly occurredAt?: string
  },
  lines: ReadonlyArray<readonly [role: string, amount: string]>,
) =>
  Effect.gen(function* () {
    const database = yield* Database
    const ids: Array<number> = []
    for (const [role] of lines) ids.push(yield* ledgerAccount(account, role))
    const at = source.occurredAt ?? "2026-10-06T10:00:00Z"
    const posted = yield* database.query(
      "Test.post",
      (sql) => sql<Array<{ entry_id: bigint }>>`
        with id as (select nextval('ledger.journal_entry_block') as entry_id),
        header as (
          insert into ledger.journal_entries (book_id, entry_id, source_type, source_id, kind, sequence, effective_date,
            occurred_at, line_count, partner_account_id, position, resource_type, resource_id, description, run_id)
          select ${account.book.bookId}, id.entry_id, ${source.type}, ${source.id}, ${source.kind}, ${source.sequence ?? 0},
            (${at}::timestamptz at time zone 'UTC')::date, ${at}, ${lines.length}, ${account.id},
            (select position from mirror.statement_entries where book_id = ${account.book.bookId} and entry_id = ${source.id}),
            ${source.of?.type ?? null}, ${source.of?.id ?? null}, ${source.kind}, ${source.run ?? 0}
          from id),
        written as (
          insert into ledger.postings (book_id, entry_id, line_number, account_id, currency, amount)
          select ${account.book.bookId}, id.entry_id, l.line, l.account_id::integer, ${account.currency}, l.amount::numeric
          from id, unnest(${ids.map(String)}::text[], ${lines.map(([, amount]) => amount)}::text[])
            with ordinality as l (account_id, amount, line))
        select entry_id from id`,
    )
    return posted[0]?.entry_id ?? 0n
  })

/** The next entry of a statement: mirrored, posted, and what the account's balances follow. Gives its identifier. */
export const addEntry = (account: Account, fields: EntryFields) =>
  Effect.gen(function* () {
    const id = randomUUID()
    const signed = fields.type === "CREDIT" ? fields.amount : negated(fields.amount)
    const at = fields.occurredAt ?? "2026-10-06T10:00:00Z"
    const opening = fields.opening ?? "0"
    yield* query(
      (sql) => sql`
        with head as (
          update mirror.accounts a set entries = a.entries + 1, last_entry_id = ${id}, last_occurred_at = ${at},
            last_balance = coalesce(a.last_balance, ${opening}::text::numeric) + ${signed}::text::numeric,
            balance = a.balance + ${opening}::text::numeric + ${signed}::text::numeric
          where a.book_id = ${account.book.bookId} and a.account_id = ${account.id}
          returning a.entries, a.last_balance)
        insert into mirror.statement_entries (book_id, account_id, position, entry_id, type, amount, currency,
          balance_after, related_type, related_id, occurred_at, run_id)
        select ${account.book.bookId}, ${account.id}, head.entries, ${id}, ${fields.type}, ${fields.amount},
          ${account.currency}, head.last_balance, ${fields.of?.type ?? null}, ${fields.of?.id ?? null}, ${at},
          ${fields.run ?? 0}
        from head`,
    )
    const source = {
      id,
      run: fields.run ?? 0,
      occurredAt: at,
      ...(fields.of === undefined ? {} : { of: fields.of }),
    }
    if (opening !== "0") {
      yield* post(account, { ...source, type: "opening", id: account.id, kind: "opening_balance" }, [
        ["cash", opening],
        ["opening_balance", negated(opening)],
      ])
    }
    const against = fields.against ?? counterRoles[fields.of?.type ?? ""] ?? "suspense"
    yield* post(account, { ...source, type: "statement_entry", kind: fields.kind ?? "movement" }, [
      ["cash", signed],
      [against, negated(signed)],
    ])
    return id
  })

/** All statements of the book are read to their end, after everything that is known so far. */
export const readTails = (book: Book) =>
  query(
    (sql) => sql`
      update mirror.accounts set tail_read_at = clock_timestamp(), balance_read_at = clock_timestamp()
      where book_id = ${book.bookId}`,
  )

/** Runs statements that the database's rules would refuse. */
export const mischief = (statement: (sql: Sql) => PendingQuery<object[]>) =>
  Effect.flatMap(Database, (database) =>
    database.transaction(
      Effect.zipRight(
        database.query("Test.mischief", (sql) => sql`set local session_replication_role = replica`),
        database.query("Test.mischief", statement),
      ),
    ),
  )

export interface Found {
  readonly check_name: string
  readonly severity: string
  readonly subject_type: string
  readonly subject_id: string
  readonly message: string
}

/** What is open in the book, without looking again. */
export const open = (book: Book) =>
  Effect.map(
    query(
      (sql) => sql<Array<Found>>`
        select check_name, severity, subject_type, subject_id, message from reconcile.findings
        where book_id = ${book.bookId} and closed_at is null order by check_name, subject_id`,
    ),
    (found) => found.map((row) => ({ ...row })),
  )

/** Reconciles what changed, as a run that has read all tails; gives what is open. */
export const reconciled = (book: Book, full = false) =>
  Effect.gen(function* () {
    const reconcile = yield* Reconcile
    yield* readTails(book)
    const runId = yield* startRun(book)
    yield* reconcile.afterRun([book], { ...(yield* asRun(runId)), full })
    return yield* open(book)
  })

export const evidenceOf = (book: Book) =>
  Effect.map(
    query(
      (sql) => sql<Array<{ evidence: unknown }>>`
        select evidence from reconcile.findings where book_id = ${book.bookId} and closed_at is null
        order by check_name, subject_id`,
    ),
    (found) => found.map(({ evidence }) => evidence),
  )
