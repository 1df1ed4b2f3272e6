/** Finds what an identifier stands for in the database. */
import { Effect, Option } from "effect"
import { allBooks } from "../Book.ts"
import { isShortOf } from "../Common/ShortCode.ts"
import { int4, oneOf, type RowOf, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { NothingFound } from "./NothingFound.ts"
import type { Reference } from "./Reference.ts"

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

/** One thing in one book. */
export type Subject = RowOf<typeof subjectColumns>

/** The most candidates named for an ambiguous beginning of an identifier. */
const candidatesNamed = 5

/** In the books or in an archive of them, or, after the mark of the series, in what only the base-currency journal has. */
const byNumber = Effect.fn("Explain.byNumber")(function* (code: string, period: string, number: number) {
  const database = yield* Database
  return yield* database.rows(
    "Explain.byNumber",
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
})

const byBatch = Effect.fn("Explain.byBatch")(function* (code: string, batch: number) {
  const database = yield* Database
  return yield* database.rows(
    "Explain.byBatch",
    subjectColumns,
    (sql) => sql`
      select 'batch' as kind, b.book_id as "bookId", b.code as book, x.batch::text as id
      from mirror.books b join export.batches x on x.book_id = b.book_id and x.batch = ${batch}
      where upper(b.code) = ${code}`,
  )
})

/** A bank statement's message: its batch, and the account that it is of. */
const byMessage = Effect.fn("Explain.byMessage")(function* (from: string, to: string, batch: number) {
  const database = yield* Database
  return yield* database.rows(
    "Explain.byMessage",
    subjectColumns,
    (sql) => sql`
      select 'batch' as kind, b.book_id as "bookId", b.code as book, x.batch || ' ' || a.account_id as id
      from mirror.books b
      join export.batches x on x.book_id = b.book_id and x.batch = ${batch}
      join mirror.accounts a on a.book_id = b.book_id and a.account_id between ${from}::uuid and ${to}::uuid
      limit ${candidatesNamed + 1}`,
  )
})

/** A bank statement: the newest batch with that day that counts, and the account that it is of. */
const byStatement = Effect.fn("Explain.byStatement")(function* (from: string, to: string, day: string) {
  const database = yield* Database
  return yield* database.rows(
    "Explain.byStatement",
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
      limit ${candidatesNamed + 1}`,
  )
})

/** A shortened number may be one of several books'. */
const byShortNumber = Effect.fn("Explain.byShortNumber")(function* (
  beginning: string,
  period: string,
  number: number,
) {
  const books = yield* allBooks(Option.none())
  const codes = books.flatMap(({ code }) => [code, `${code}-FX`]).filter((code) => isShortOf(code, beginning))
  return (yield* Effect.forEach(codes, (code) => byNumber(code, period, number))).flat()
})

const byFinding = Effect.fn("Explain.byFinding")(function* (findingId: string) {
  const database = yield* Database
  return yield* database.rows(
    "Explain.byFinding",
    subjectColumns,
    (sql) => sql`
      select 'finding' as kind, b.book_id as "bookId", b.code as book, f.finding_id::text as id
      from reconcile.findings f join mirror.books b on b.book_id = f.book_id
      where f.finding_id = ${findingId}::text::bigint`,
  )
})

const byQuarantineNumber = Effect.fn("Explain.byQuarantineNumber")(function* (quarantineId: string) {
  const database = yield* Database
  return yield* database.rows(
    "Explain.byQuarantineNumber",
    subjectColumns,
    (sql) => sql`
      select 'quarantined' as kind, b.book_id as "bookId", b.code as book, q.quarantine_id::text as id
      from mirror.quarantine q join mirror.books b on b.book_id = q.book_id
      where q.quarantine_id = ${quarantineId}::text::bigint`,
  )
})

/** A client by the service's code, or by the code of its book. */
const byClientCode = Effect.fn("Explain.byClientCode")(function* (code: string) {
  const database = yield* Database
  return yield* database.rows(
    "Explain.byClientCode",
    subjectColumns,
    (sql) => sql`
      select 'client' as kind, coalesce(c.book_id, b.book_id) as "bookId", coalesce(c.code, b.code) as book,
        i.item_id as id
      from mirror.books b
      join mirror.reference_items i on i.book_id = b.book_id and i.kind = 'client' and i.current
        and upper(i.raw ->> 'code') = ${code}
      left join mirror.books c on c.connection = b.connection and c.client_id = mirror.uuid_or_null(i.item_id)
      where b.client_id is null
      union
      select 'client', b.book_id, b.code, b.client_id::text from mirror.books b
      where b.client_id is not null and b.code = ${code}
      order by 3, 4 limit ${candidatesNamed + 1}`,
  )
})

/** By the index that `mirror.resources` has for it; a hash may be of a deposit in one book and of a withdrawal in another. */
const byTransactionHash = Effect.fn("Explain.byTransactionHash")(function* (hash: string) {
  const database = yield* Database
  return yield* database.rows(
    "Explain.byTransactionHash",
    subjectColumns,
    (sql) => sql`
      select lower(r.resource_type) as kind, b.book_id as "bookId", b.code as book, r.resource_id::text as id
      from mirror.resources r join mirror.books b on b.book_id = r.book_id
      where r.transaction_hash is not null and lower(r.transaction_hash) = lower(${hash}::text)
      order by 3, 4 limit ${candidatesNamed + 1}`,
  )
})

/** Probes each book, since every key leads with its book; also finds a resource that entries only name. */
const byUuid = Effect.fn("Explain.byUuid")(function* (from: string, to: string) {
  const database = yield* Database
  const most = candidatesNamed + 1
  return yield* database.rows(
    "Explain.byUuid",
    subjectColumns,
    (sql) => sql`
      select f.kind, b.book_id as "bookId", b.code as book, f.id::text as id
      from mirror.books b
      cross join lateral (
        (select 'account' as kind, a.account_id as id from mirror.accounts a
         where a.book_id = b.book_id and a.account_id between ${from}::uuid and ${to}::uuid order by 2 limit ${most})
        union all
        (select 'statement_entry', e.entry_id from mirror.statement_entries e
         where e.book_id = b.book_id and e.entry_id between ${from}::uuid and ${to}::uuid order by 2 limit ${most})
        union all
        (select lower(r.resource_type), r.resource_id from mirror.resources r
         where r.book_id = b.book_id and r.resource_id between ${from}::uuid and ${to}::uuid order by 2 limit ${most})
        union all
        (select lower(m.resource_type), m.resource_id from mirror.missing_resources m
         where m.book_id = b.book_id and m.resource_id between ${from}::uuid and ${to}::uuid
           and not exists (select 1 from mirror.resources r where r.book_id = m.book_id
             and r.resource_id = m.resource_id and r.resource_type = m.resource_type)
         order by 2 limit ${most})
        union all
        (select lower(z.resource_type), z.resource_id from mirror.archived_resources z
         where z.book_id = b.book_id and z.resource_id between ${from}::uuid and ${to}::uuid
           and not exists (select 1 from mirror.resources r where r.book_id = z.book_id
             and r.resource_id = z.resource_id and r.resource_type = z.resource_type)
         order by 2 limit ${most})
        union all
        (select distinct 'payout', p.related_id from mirror.statement_entries p
         where p.book_id = b.book_id and p.related_type = 'PAYOUT'
           and p.related_id between ${from}::uuid and ${to}::uuid order by 2 limit ${most})
        union all
        (select 'receivable', v.receivable_id from mirror.receivables v
         where v.book_id = b.book_id and v.receivable_id between ${from}::uuid and ${to}::uuid and v.current
         order by 2 limit ${most})
        union all
        (select 'client', b.client_id where b.client_id between ${from}::uuid and ${to}::uuid)
        union all
        (select 'client', mirror.uuid_or_null(i.item_id) from mirror.reference_items i
         where b.client_id is null and i.book_id = b.book_id and i.kind = 'client' and i.current
           and mirror.uuid_or_null(i.item_id) between ${from}::uuid and ${to}::uuid
           and not exists (select 1 from mirror.books c where c.connection = b.connection
             and c.client_id = mirror.uuid_or_null(i.item_id))
         order by 2 limit ${most})) f
      order by b.code, f.kind, f.id limit ${most}`,
  )
})

const wordOf = ({ book, id, kind }: Subject): string => `${kind.replace("_", " ")} ${id} of ${book}`

const lookUp = (reference: Reference) => {
  switch (reference.kind) {
    case "number":
      // A file may have the book's code in other letters.
      return byNumber(reference.code, reference.period, reference.number).pipe(
        Effect.flatMap((found) =>
          found.length > 0
            ? Effect.succeed(found)
            : byShortNumber(reference.code, reference.period, reference.number),
        ),
      )
    case "short":
      return byShortNumber(reference.beginning, reference.period, reference.number)
    case "finding":
      return byFinding(reference.findingId)
    case "quarantined":
      return byQuarantineNumber(reference.quarantineId)
    case "batch":
      return byBatch(reference.code, reference.batch)
    case "message":
      return byMessage(reference.from, reference.to, reference.batch)
    case "statement":
      return byStatement(reference.from, reference.to, reference.day)
    case "uuid":
      return byUuid(reference.from, reference.to)
  }
}

/** Several subjects may share one full identifier: then it stands for all of them. */
export const subjectsOf = Effect.fn("Explain.subjectsOf")(function* (
  id: string,
  references: ReadonlyArray<Reference>,
) {
  const found: Array<Subject> = []
  for (const reference of references) found.push(...(yield* lookUp(reference)))
  const given = id.trim()
  if (given !== "") {
    found.push(...(yield* byClientCode(given.toUpperCase())), ...(yield* byTransactionHash(given)))
  }
  if (found.length === 0) return yield* new NothingFound({ reason: "Unknown", id, candidates: [] })
  if (new Set(found.map((subject) => subject.id)).size > 1) {
    const candidates = [
      ...found.slice(0, candidatesNamed).map(wordOf),
      ...(found.length > candidatesNamed ? ["more"] : []),
    ]
    return yield* new NothingFound({ reason: "Ambiguous", id, candidates })
  }
  return found
})
