/** One thing in one book, and the queries that find it, one for each kind of identifier. */
import { int4, oneOf, type RowOf, text } from "../Database/Columns.ts"
import type { Database } from "../Database.ts"

const subjectColumns = {
  kind: oneOf(
    "account",
    "statement_entry",
    "deposit",
    "withdrawal",
    "conversion",
    "payout",
    "receivable",
    "client",
    "journal_entry",
    "base_entry",
    "finding",
    "quarantined",
    "batch",
    "archived_entry",
  ),
  bookId: int4,
  /** The book's code. */
  book: text,
  id: text,
}

export type Subject = RowOf<typeof subjectColumns>

/** The most candidates named for an ambiguous beginning of an identifier. */
export const candidatesNamed = 5

/** One more than are named shows that there are more. */
const mostFound = candidatesNamed + 1

/**
 * Found in the books, in an archive of them or, with the mark of the series, among the entries that only the base-currency
 * journal has.
 */
export const byNumber = (database: Database, code: string, period: string, number: number) =>
  database.rows(
    "Inquiry.byNumber",
    subjectColumns,
    (sql) => sql`
      select 'journal_entry' as kind, b.book_id as "bookId", b.code as book, n.entry_id::text as id
      from mirror.books b
      join ledger.journal_numbers n on n.book_id = b.book_id
      where b.code = ${code} and n.period = ${`${period}-01`}::text::date and n.number = ${number}
      union all
      select 'base_entry', b.book_id, b.code, to_char(v.period, 'YYYY-MM') || ' ' || v.number
      from mirror.books b
      join valuation.entries v on v.book_id = b.book_id and v.series = 'fx'
      where b.code || '-FX' = ${code} and v.period = ${`${period}-01`}::text::date and v.number = ${number}
      union all
      select 'archived_entry', b.book_id, b.code, to_char(p.period, 'YYYY-MM') || ' ' || ${number}::integer
      from mirror.books b
      join ledger.periods p on p.book_id = b.book_id and p.period = ${`${period}-01`}::text::date
        and p.last_number >= ${number}::integer
      where b.code = ${code} and ${number}::integer > 0
        and exists (select 1 from ledger.archived_months m where m.book_id = b.book_id and m.period = p.period)
        and not exists (
          select 1 from ledger.journal_numbers n
          where n.book_id = b.book_id and n.period = p.period and n.number = ${number}::integer)`,
  )

export const byBatch = (database: Database, code: string, batch: number) =>
  database.rows(
    "Inquiry.byBatch",
    subjectColumns,
    (sql) => sql`
      select 'batch' as kind, b.book_id as "bookId", b.code as book, x.batch::text as id
      from mirror.books b join export.batches x on x.book_id = b.book_id and x.batch = ${batch}
      where ${code} in (upper(b.code), mirror.upper_ascii(b.code))`,
  )

/** A bank statement's message: its batch and account. */
export const byMessage = (database: Database, from: string, to: string, batch: number) =>
  database.rows(
    "Inquiry.byMessage",
    subjectColumns,
    (sql) => sql`
      select 'batch' as kind, b.book_id as "bookId", b.code as book, x.batch || ' ' || a.account_id as id
      from mirror.books b
      join export.batches x on x.book_id = b.book_id and x.batch = ${batch} and 'camt.053' = any(x.formats)
      join mirror.accounts a on a.book_id = b.book_id and a.account_id between ${from}::uuid and ${to}::uuid
      limit ${mostFound}`,
  )

/** A bank statement: the newest batch that counts and has that day, and the account of the statement. */
export const byStatement = (database: Database, from: string, to: string, day: string) =>
  database.rows(
    "Inquiry.byStatement",
    subjectColumns,
    (sql) => sql`
      select 'batch' as kind, b.book_id as "bookId", b.code as book, x.batch || ' ' || a.account_id as id
      from mirror.books b
      join mirror.accounts a on a.book_id = b.book_id and a.account_id between ${from}::uuid and ${to}::uuid
      cross join lateral (
        select s.batch from export.standing_batches s
        where s.book_id = b.book_id and 'camt.053' = any(s.formats)
          and ${day}::text::date between coalesce(s.from_date, '-infinity') and coalesce(s.last_day, 'infinity')
        order by s.batch desc limit 1) x
      limit ${mostFound}`,
  )

export const byFinding = (database: Database, findingId: string) =>
  database.rows(
    "Inquiry.byFinding",
    subjectColumns,
    (sql) => sql`
      select 'finding' as kind, b.book_id as "bookId", b.code as book, f.finding_id::text as id
      from reconcile.findings f join mirror.books b on b.book_id = f.book_id
      where f.finding_id = ${findingId}::text::bigint`,
  )

export const byQuarantineNumber = (database: Database, quarantineId: string) =>
  database.rows(
    "Inquiry.byQuarantineNumber",
    subjectColumns,
    (sql) => sql`
      select 'quarantined' as kind, b.book_id as "bookId", b.code as book, q.quarantine_id::text as id
      from mirror.quarantine q join mirror.books b on b.book_id = q.book_id
      where q.quarantine_id = ${quarantineId}::text::bigint`,
  )

/** A client by the service's code, or by the code of its book. */
export const byClientCode = (database: Database, code: string) =>
  database.rows(
    "Inquiry.byClientCode",
    subjectColumns,
    (sql) => sql`
      select 'client' as kind, coalesce(c.book_id, b.book_id) as "bookId", coalesce(c.code, b.code) as book,
        i.item_id as id
      from mirror.books b
      join mirror.reference_items i on i.book_id = b.book_id and i.kind = 'client' and i.current
        and ${code} in (upper(i.raw ->> 'code'), mirror.upper_ascii(i.raw ->> 'code'))
      left join mirror.books c on c.connection = b.connection and c.client_id = mirror.uuid_or_null(i.item_id)
      where b.client_id is null
      union
      select 'client', b.book_id, b.code, b.client_id::text from mirror.books b
      where b.client_id is not null and b.code = ${code}
      order by 3, 4 limit ${mostFound}`,
  )

/** By the index of `mirror.resources` for hashes; a hash may belong to a deposit in one book and a withdrawal in another. */
export const byTransactionHash = (database: Database, hash: string) =>
  database.rows(
    "Inquiry.byTransactionHash",
    subjectColumns,
    (sql) => sql`
      select mirror.lower_ascii(r.resource_type) as kind, b.book_id as "bookId", b.code as book, r.resource_id::text as id
      from mirror.resources r join mirror.books b on b.book_id = r.book_id
      where r.transaction_hash is not null and lower(r.transaction_hash) = lower(${hash}::text)
      order by 3, 4 limit ${mostFound}`,
  )

/** Probes each book, since every key begins with the book. Also finds a resource that is only named by entries; of a type that is not known, the entries. */
export const byUuid = (database: Database, from: string, to: string) =>
  database.rows(
    "Inquiry.byUuid",
    subjectColumns,
    (sql) => sql`
      select f.kind, b.book_id as "bookId", b.code as book, f.id::text as id
      from mirror.books b
      cross join lateral (
        (select 'account' as kind, a.account_id as id from mirror.accounts a
         where a.book_id = b.book_id and a.account_id between ${from}::uuid and ${to}::uuid order by 2 limit ${mostFound})
        union all
        (select 'statement_entry', e.entry_id from mirror.statement_entries e
         where e.book_id = b.book_id and e.entry_id between ${from}::uuid and ${to}::uuid order by 2 limit ${mostFound})
        union all
        (select mirror.lower_ascii(r.resource_type), r.resource_id from mirror.resources r
         where r.book_id = b.book_id and r.resource_id between ${from}::uuid and ${to}::uuid order by 2 limit ${mostFound})
        union all
        (select mirror.lower_ascii(m.resource_type), m.resource_id from mirror.missing_resources m
         where m.book_id = b.book_id and m.resource_id between ${from}::uuid and ${to}::uuid
           and not exists (select 1 from mirror.resources r where r.book_id = m.book_id
             and r.resource_id = m.resource_id and r.resource_type = m.resource_type)
         order by 2 limit ${mostFound})
        union all
        (select mirror.lower_ascii(z.resource_type), z.resource_id from mirror.archived_resources z
         where z.book_id = b.book_id and z.resource_id between ${from}::uuid and ${to}::uuid
           and not exists (select 1 from mirror.resources r where r.book_id = z.book_id
             and r.resource_id = z.resource_id and r.resource_type = z.resource_type)
         order by 2 limit ${mostFound})
        union all
        (select distinct 'payout', p.related_id from mirror.statement_entries p
         where p.book_id = b.book_id and p.related_type = 'PAYOUT'
           and p.related_id between ${from}::uuid and ${to}::uuid order by 2 limit ${mostFound})
        union all
        (select 'statement_entry', u.entry_id from mirror.statement_entries u
         where u.book_id = b.book_id and u.related_id between ${from}::uuid and ${to}::uuid
           and coalesce(u.related_type, '') not in ('DEPOSIT', 'WITHDRAWAL', 'CONVERSION', 'PAYOUT')
         order by 2 limit ${mostFound})
        union all
        (select 'receivable', v.receivable_id from mirror.receivables v
         where v.book_id = b.book_id and v.receivable_id between ${from}::uuid and ${to}::uuid and v.current
         order by 2 limit ${mostFound})
        union all
        (select 'client', b.client_id where b.client_id between ${from}::uuid and ${to}::uuid)
        union all
        (select 'client', mirror.uuid_or_null(i.item_id) from mirror.reference_items i
         where b.client_id is null and i.book_id = b.book_id and i.kind = 'client' and i.current
           and mirror.uuid_or_null(i.item_id) between ${from}::uuid and ${to}::uuid
           and not exists (select 1 from mirror.books c where c.connection = b.connection
             and c.client_id = mirror.uuid_or_null(i.item_id))
         order by 2 limit ${mostFound})) f
      order by b.code, f.kind, f.id limit ${mostFound}`,
  )
