/** A represented client: what the service says of it, its book and its accounts. */
import { eq } from "drizzle-orm"
import { Effect } from "effect"
import { counted } from "../Common/Text.ts"
import { int4, nullable, type RowOf, text } from "../Database/Columns.ts"
import { accounts } from "../Database/Tables/Mirror.ts"
import { Database } from "../Database.ts"
import { instantText } from "../Reconcile/ReconcileScope.ts"
import { account } from "./ExplainAccount.ts"
import { factsIfKnown, runText, type Step } from "./Step.ts"

/** The most accounts listed. */
const shownAccounts = 20

const columns = {
  book_id: nullable(int4),
  book: nullable(text),
  name: nullable(text),
  code: nullable(text),
  status: nullable(text),
  raw: nullable(text),
  read_at: nullable(text),
  runId: nullable(int4),
  command: nullable(text),
  startedAt: nullable(text),
  accounts: int4,
  /** Why its accounts cannot be read, and since when. */
  detail: nullable(text),
  failing_since: nullable(text),
}

type Row = RowOf<typeof columns>

const stepOf = (id: string, row: Row): Step => ({
  title: `client ${id}`,
  facts: [
    ...factsIfKnown("name", row.name),
    ...factsIfKnown("code", row.code),
    ["status", row.status ?? "not known: the service's list does not show it"],
    ["book", row.book ?? "none yet: a client that may be read gets one"],
    ["accounts", counted(row.accounts, "account")],
    ...factsIfKnown(
      "not readable",
      row.detail === null ? null : `since ${row.failing_since ?? "then"}: ${row.detail}`,
    ),
    ...factsIfKnown("first read", row.read_at),
    ...factsIfKnown("read by", runText(row)),
    ...factsIfKnown("as sent", row.raw),
  ],
})

/** The organization's book, and the client's if it has one; `bookId` is any of their connection. */
export const clientBooks = Effect.fn("Explain.clientBooks")(function* (bookId: number, id: string) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Explain.clientBooks",
    { book_id: int4 },
    (sql) => sql`
      select c.book_id from mirror.books b
      join mirror.books c on c.connection = b.connection and (c.client_id is null or c.client_id = ${id})
      where b.book_id = ${bookId} order by c.client_id nulls first`,
  )
  return rows.map((row) => row.book_id)
})

/** `bookId` is any book of the client's connection. */
export const client = Effect.fn("Explain.client")(function* (bookId: number, id: string) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Explain.client",
    columns,
    (sql) => sql`
      select c.book_id, c.code as book, coalesce(i.label, c.name) as name, i.raw ->> 'code' as code,
        i.raw ->> 'status' as status, i.raw::text as raw, ${instantText(sql, sql`i.read_at`)} as read_at, i.run_id as "runId",
        r.command, ${instantText(sql, sql`r.started_at`)} as "startedAt",
        (select count(*)::integer from mirror.accounts a where a.book_id = c.book_id) as accounts,
        u.detail, ${instantText(sql, sql`u.failing_since`)} as failing_since
      from mirror.books b
      join mirror.books o on o.connection = b.connection and o.client_id is null
      left join mirror.books c on c.connection = b.connection and c.client_id = ${id}
      left join mirror.reference_items i on i.book_id = o.book_id and i.kind = 'client' and i.item_id = ${id}
        and i.current
      left join sync.runs r on r.run_id = i.run_id
      left join sync.stream_reads u on u.book_id = c.book_id and u.stream = 'accounts' and u.trouble is not null
      where b.book_id = ${bookId}`,
  )
  const [row] = rows
  if (row === undefined) return []
  const steps: Array<Step> = [stepOf(id, row)]
  const book = row.book_id
  if (book === null) return steps
  const shown = yield* database.orm("Explain.clientAccounts", (orm) =>
    orm
      .select({ accountId: accounts.accountId })
      .from(accounts)
      .where(eq(accounts.bookId, book))
      .orderBy(accounts.accountId)
      .limit(shownAccounts),
  )
  for (const { accountId } of shown) steps.push(...(yield* account(book, accountId)))
  return steps
})
