/** The scope of a reconciliation, as conditions in SQL. */
import { createHash } from "node:crypto"
import type { PendingQuery, Row } from "postgres"
import type { Sql } from "../Database/Client.ts"
import { textArray } from "../Database/TextArray.ts"
import type { FlatWithdrawalFee } from "../Ledger/Conversions/Leg.ts"
import type { Method } from "../Settings/Accounting.ts"
import type { Settings } from "../Settings.ts"
import { type CheckName, checks } from "./Check.ts"

/** A part of an SQL statement. */
export type Fragment = PendingQuery<Row[]>

export interface Scope {
  readonly books: ReadonlyArray<number>
  /** Only what later runs changed; null: everything. The subjects of open findings are always in scope. */
  readonly sinceRun: number | null
  /** Everything of this month (`2026-10`, in the book's time zone) instead of what changed. */
  readonly period: string | null
  /** `--full`: also the checks that are too expensive for every run. */
  readonly full: boolean
  readonly flatWithdrawalFee: FlatWithdrawalFee
  /** Whether receivables are the organization's (the lender's view) or stand in the clients' books. */
  readonly lends: boolean
  /** The setting: whether a receivable's `repaymentAmount` is what is still due. */
  readonly repaymentAmount: "outstanding" | "original"
  /** The valuation method of the base-currency journal, and overrides by book code. */
  readonly methods: {
    readonly general: Method
    readonly books: Readonly<Record<string, { readonly method: Method }>>
  }
  /** The codes of the accounts that rules name for returns. */
  readonly returnCodes: ReadonlyArray<string>
  /** Days that an item may be in transit before it blocks a close. */
  readonly transitDays: number
  /** By currency, the amount up to which an open item is immaterial. */
  readonly materiality: Readonly<Record<string, string>>
  /** The month (`2026-10`) that is about to be closed: if it is over, every stream must have been read after it. */
  readonly closing: string | null
  /** The surfaces of the settings, by connection. */
  readonly surfaces: ReadonlyArray<{ readonly connection: string; readonly surface: string }>
  /** The run that opens and closes findings, where there is one. */
  readonly runId: number | null
  /** Ages are those at the book's last reconciliation instead of now: nobody could have found what has grown old since. */
  readonly asReconciled?: boolean
}

/** The time at which something in a book is so many days old. */
export const agedAt = (sql: Sql, { asReconciled = false }: Scope, book: Fragment): Fragment =>
  asReconciled
    ? sql`(select p.reconciled_at from reconcile.progress p where p.book_id = ${book})`
    : sql`now()`

/** The surfaces of all connections in the settings. */
export const surfacesIn = ({ connections }: Pick<Settings, "connections">): Scope["surfaces"] =>
  Object.entries(connections).flatMap(([connection, { surfaces }]) =>
    surfaces.map((surface) => ({ connection, surface })),
  )

/** Accounts of rules that are meant for returns: debits of deposits, credits of withdrawals. */
const returnCodes = (rules: Settings["rules"]): ReadonlyArray<string> =>
  rules.flatMap(({ account, match: { direction, type } }) =>
    (direction === "DEBIT" && type !== "WITHDRAWAL") || (direction === "CREDIT" && type !== "DEPOSIT")
      ? [account.code]
      : [],
  )

/** The part of a scope that follows from the settings. */
export const settingsScope = (settings: Settings) => ({
  flatWithdrawalFee: settings.accounting.flatWithdrawalFee,
  lends: settings.accounting.receivables.view === "lender",
  repaymentAmount: settings.accounting.receivables.repaymentAmount,
  transitDays: settings.reconcile.transitDays,
  materiality: settings.reconcile.materiality,
  returnCodes: returnCodes(settings.rules),
  methods: { general: settings.accounting.valuation.method, books: settings.accounting.valuation.books },
  closing: null,
  surfaces: surfacesIn(settings),
})

/**
 * A digest of the settings that findings depend on, without those of streams: every run looks at the evidence of these. A check that a
 * new version brings counts as a change as well, since it has looked at nothing of what is there.
 */
export const settingsDigest = ({
  closing: _,
  surfaces: __,
  lends: ___,
  ...scope
}: ReturnType<typeof settingsScope>): string =>
  createHash("sha256")
    .update(JSON.stringify({ ...scope, checks: checks.map(({ name }) => name) }))
    .digest("hex")

/** Whether the scope is everything: limited neither to changes nor to a month. */
export const isEverything = ({ period, sinceRun }: Scope): boolean => sinceRun === null && period === null

/**
 * The right side of a condition on a book's identifier: a plain value for one book, for several an array that the planner can
 * see. With an array that it had to compute first, it would look into the partitions of all books.
 */
export const inBooks = (sql: Sql, { books }: Pick<Scope, "books">): Fragment => {
  const [book, ...others] = books
  return book !== undefined && others.length === 0
    ? sql`${book}::integer`
    : sql`any (${`{${books.join(",")}}`}::integer[])`
}

/** Whether a point in time belongs to the scope's month, in the time zone of the book. */
const inPeriod = (sql: Sql, { period }: Scope, book: Fragment, at: Fragment): Fragment => {
  if (period === null) return sql`true`
  const first = sql`(${`${period}-01`}::text::timestamp)`
  const next = sql`(${first} + interval '1 month')`
  // The time zone only matters within a day of the month's ends in UTC; elsewhere no row has to look up its book.
  return sql`(${at} >= ${first} at time zone 'UTC' - interval '1 day'
    and ${at} < ${next} at time zone 'UTC' + interval '1 day'
    and (${at} >= ${first} at time zone 'UTC' + interval '1 day'
      and ${at} < ${next} at time zone 'UTC' - interval '1 day'
    or date_trunc('month', ledger.day_of(${at},
      (select l.time_zone from ledger.locks l where l.book_id = ${book}))::timestamp) = ${first}))`
}

/** Condition on a statement entry `e`, held or not: of the books, and changed or of the month. */
export const entriesInScope = (sql: Sql, scope: Scope): Fragment => sql`
  e.book_id = ${inBooks(sql, scope)}
  ${scope.sinceRun === null ? sql`` : sql`and e.run_id > ${scope.sinceRun}`}
  and ${inPeriod(sql, scope, sql`e.book_id`, sql`e.occurred_at`)}`

/**
 * Whether a month is about to be closed that the point in time lies in or before. What waits for the next run must not wait then:
 * the month would be closed, and the finding would come after it.
 */
export const isClosing = (sql: Sql, { closing }: Scope, book: Fragment, at: Fragment): Fragment =>
  closing === null
    ? sql`false`
    : sql`ledger.day_of(${at}, (select l.time_zone from ledger.locks l where l.book_id = ${book}))
        < (${`${closing}-01`}::text::date + interval '1 month')`

/** Book, subject and evidence of the open findings of these checks. */
export const openSubjects = (
  sql: Sql,
  scope: Pick<Scope, "books">,
  ...checks: ReadonlyArray<CheckName>
): Fragment => sql`
  select f.book_id, f.subject_type, f.subject_id, f.evidence from reconcile.open_findings f
  where f.book_id = ${inBooks(sql, scope)} and f.check_name = any (${textArray(sql, checks)})`

/**
 * The keys of resources of the books that changed, that an entry which changed or whose amount was moved names, that are
 * deferred, or that are subjects of open findings of these checks; for a scope that is not everything.
 */
const resourceKeys = (sql: Sql, scope: Scope, ...checks: ReadonlyArray<CheckName>): Fragment => {
  const books = inBooks(sql, scope)
  const changed =
    scope.sinceRun === null
      ? inPeriod(sql, scope, sql`c.book_id`, sql`c.created_at`)
      : sql`c.run_id > ${scope.sinceRun}`
  return sql`
    select c.book_id, c.resource_id, c.resource_type from mirror.resources c
    where c.book_id = ${books} and ${changed}
    union
    select e.book_id, e.related_id, e.related_type from mirror.statement_entries e
    where ${entriesInScope(sql, scope)} and e.related_id is not null
    ${
      scope.sinceRun === null
        ? sql``
        : sql`union
    select e.book_id, e.related_id, e.related_type from ledger.journal_entries j
    join mirror.statement_entries e on e.book_id = j.book_id and e.entry_id = j.source_id
    where j.book_id = ${books} and j.run_id > ${scope.sinceRun} and j.sequence > 0 and e.related_id is not null`
    }
    union
    select d.book_id, d.resource_id, d.resource_type from reconcile.deferred d where d.book_id = ${books}
    union
    select o.book_id, o.subject_id::uuid, mirror.upper_ascii(o.subject_type) from (${openSubjects(sql, scope, ...checks)}) o`
}

/**
 * Condition on a resource `r` of the books: it is in scope. Name every check that the query finds: a finding whose subject it does
 * not look at would be closed.
 */
export const resourcesInScope = (sql: Sql, scope: Scope, ...checks: ReadonlyArray<CheckName>): Fragment =>
  isEverything(scope)
    ? sql`r.book_id = ${inBooks(sql, scope)}`
    : sql`(r.book_id, r.resource_id, r.resource_type) in (${resourceKeys(sql, scope, ...checks)})`

/**
 * The resources in scope as a table `r`, each looked up by its key: for a check that expects next to none of them, which the server
 * would look for in the whole history.
 */
export const eachResourceInScope = (sql: Sql, scope: Scope, ...checks: ReadonlyArray<CheckName>): Fragment =>
  isEverything(scope)
    ? sql`(select * from mirror.resources x where x.book_id = ${inBooks(sql, scope)}) r`
    : sql`(${resourceKeys(sql, scope, ...checks)}) k (book_id, resource_id, resource_type)
      cross join lateral (
        select * from mirror.resources x
        where x.book_id = ${inBooks(sql, scope)} and x.book_id = k.book_id and x.resource_id = k.resource_id
          and x.resource_type = k.resource_type offset 0) r`

/** An amount as text at its currency's scale; excess decimals, which no amount should have, are shown. */
export const amountText = (sql: Sql, amount: Fragment, currency: Fragment): Fragment => sql`
  round(${amount}, greatest(scale(trim_scale(${amount})),
    coalesce((select y.scale::integer from ledger.currencies y where y.code = ${currency}), 0)))::text`

/** The amount with its currency: `12.50 EUR`. */
export const sumText = (sql: Sql, amount: Fragment, currency: Fragment): Fragment =>
  sql`${amountText(sql, amount, currency)} || ' ' || ${currency}`

/** A point in time as ISO 8601 text in UTC. */
export const instantText = (sql: Sql, at: Fragment): Fragment =>
  sql`to_char(${at} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`

/** Accounts whose statement has a gap: entries held back, or a row in quarantine. A missing entry may be behind the gap. */
export const brokenAccounts = (sql: Sql, scope: Scope): Fragment => sql`
  select q.book_id, substr(q.stream, length('statement:') + 1) as account_id from mirror.open_quarantine q
  where q.book_id = ${inBooks(sql, scope)} and q.stream like 'statement:%'
  union
  select a.book_id, a.account_id::text from mirror.accounts a
  -- The limit keeps this a look at the end of each statement; as a join it would be planned as a scan of all entries.
  cross join lateral (
    select 1 from mirror.statement_entries h
    where h.book_id = a.book_id and h.account_id = a.account_id and h.position > a.entries and h.held limit 1) held
  where a.book_id = ${inBooks(sql, scope)}`
