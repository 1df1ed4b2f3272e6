/** From an identifier to what is stored under it. */
import { Effect } from "effect"
import { Database } from "../Database.ts"
import { NothingFound } from "./NothingFound.ts"
import type { Reference } from "./Reference.ts"

/** One thing in one book. */
export interface Subject {
  readonly kind:
    | "account"
    | "statement_entry"
    | "deposit"
    | "withdrawal"
    | "conversion"
    | "journal_entry"
    | "finding"
  readonly bookId: number
  /** The book's code. */
  readonly book: string
  readonly id: string
}

/** Candidates that are named when the beginning of an identifier fits several. */
const named = 5

const byNumber = Effect.fn("Explain.byNumber")(function* (code: string, period: string, number: number) {
  const database = yield* Database
  return yield* database.query(
    "Explain.byNumber",
    (sql) => sql<Array<Subject>>`
      select 'journal_entry' as kind, b.book_id as "bookId", b.code as book, n.entry_id::text as id
      from mirror.books b
      join ledger.journal_numbers n on n.book_id = b.book_id
      where b.code = ${code} and n.period = ${`${period}-01`}::text::date and n.number = ${number}`,
  )
})

const byFinding = Effect.fn("Explain.byFinding")(function* (findingId: string) {
  const database = yield* Database
  return yield* database.query(
    "Explain.byFinding",
    (sql) => sql<Array<Subject>>`
      select 'finding' as kind, b.book_id as "bookId", b.code as book, f.finding_id::text as id
      from reconcile.findings f join mirror.books b on b.book_id = f.book_id
      where f.finding_id = ${findingId}::text::bigint`,
  )
})

/** Every key leads with its book, so that each book is probed; a resource that is only named is found as well. */
const byUuid = Effect.fn("Explain.byUuid")(function* (from: string, to: string) {
  const database = yield* Database
  const most = named + 1
  return yield* database.query(
    "Explain.byUuid",
    (sql) => sql<Array<Subject>>`
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
         order by 2 limit ${most})) f
      order by b.code, f.kind, f.id limit ${most}`,
  )
})

const wordOf = ({ book, id, kind }: Subject): string => `${kind.replace("_", " ")} ${id} of ${book}`

const lookUp = (reference: Reference) => {
  switch (reference.kind) {
    case "number":
      return byNumber(reference.code, reference.period, reference.number)
    case "finding":
      return byFinding(reference.findingId)
    case "uuid":
      return byUuid(reference.from, reference.to)
  }
}

/** Several things may bear one whole identifier: then all of them are meant. */
export const subjectsOf = Effect.fn("Explain.subjectsOf")(function* (
  id: string,
  references: ReadonlyArray<Reference>,
) {
  const found: Array<Subject> = []
  for (const reference of references) found.push(...(yield* lookUp(reference)))
  if (found.length === 0) return yield* new NothingFound({ reason: "Unknown", id, candidates: [] })
  if (new Set(found.map((subject) => subject.id)).size > 1) {
    const candidates = [...found.slice(0, named).map(wordOf), ...(found.length > named ? ["more"] : [])]
    return yield* new NothingFound({ reason: "Ambiguous", id, candidates })
  }
  return found
})
