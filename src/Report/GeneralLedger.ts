/**
 * `gl-detail.csv`: per account its opening, every posting of the month with the balance after it, and its closing. It is as
 * long as the journal, so it is streamed from the database to the file.
 */
import { Effect, Stream } from "effect"
import { parse, print } from "../Common/MinorUnits.ts"
import type { Sql } from "../Database/Client.ts"
import { int2, int4, nullable, type RowOf, text, uuid } from "../Database/Columns.ts"
import { plainArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import type { BookAccounts } from "../Export/Source/Accounts.ts"
import { exactly } from "../Export/Source/Balances.ts"
import { journalNumber } from "../Format/Entry.ts"
import type { AccountBalance } from "./ReportBalances.ts"
import { entriesOfMonth, type ReportScope } from "./ReportScope.ts"
import type { Row } from "./Sheet.ts"

export const generalLedgerSheet = {
  name: "gl-detail.csv",
  columns: {
    account_code: "text",
    account_name: "text",
    account_role: "text",
    currency: "text",
    line: "text",
    effective_date: "text",
    journal_number: "text",
    line_number: "figure",
    kind: "text",
    description: "text",
    external_reference: "text",
    counterparty: "text",
    resource_type: "text",
    resource_id: "text",
    late_for: "text",
    debit: "figure",
    credit: "figure",
    balance: "figure",
  },
} as const

type DetailRow = Row<typeof generalLedgerSheet.columns>

const postingColumns = {
  /** The account's index among the balances. */
  place: int4,
  number: nullable(int4),
  line_number: int2,
  effective_date: text,
  kind: text,
  description: text,
  external_reference: nullable(text),
  counterparty: nullable(text),
  resource_type: nullable(text),
  resource_id: nullable(uuid),
  late_for: nullable(text),
  amount: text,
}

type PostingRow = RowOf<typeof postingColumns>

const nothing = {
  effective_date: null,
  journal_number: null,
  line_number: null,
  kind: null,
  description: null,
  external_reference: null,
  counterparty: null,
  resource_type: null,
  resource_id: null,
  late_for: null,
  debit: null,
  credit: null,
  balance: null,
}

const headOf = ({ account }: AccountBalance) => ({
  account_code: account.code,
  account_name: account.name,
  account_role: account.role,
  currency: account.currency,
})

const postings = (sql: Sql, scope: ReportScope, accounts: BookAccounts, balances: Places) => {
  const ids = [...accounts.byKey].map(([id, account]) => [id, String(balances.get(account) ?? 0)])
  return sql`
    select o.place::integer as place, n.number, p.line_number, j.effective_date::text as effective_date, j.kind,
      j.description, j.external_reference, j.counterparty, j.resource_type, j.resource_id,
      to_char(j.late_for, 'YYYY-MM') as late_for, p.amount::text as amount
    from ${entriesOfMonth(sql, scope)}
    join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
    join unnest(${plainArray(
      sql,
      ids.map(([id = ""]) => id),
    )}, ${plainArray(
      sql,
      ids.map(([, place = ""]) => place),
    )}) as o (id, place) on o.id::integer = p.account_id
    order by o.place::integer, j.effective_date, n.number nulls last, j.entry_id, p.line_number`
}

type Places = ReadonlyMap<AccountBalance["account"], number>

/** Walks the accounts in order as postings arrive; an account without postings still gets its opening and closing. */
const walk = (scope: ReportScope, balances: ReadonlyArray<AccountBalance>) => {
  let at = -1
  let running = 0n

  const closing = (): ReadonlyArray<DetailRow> => {
    const held = balances[at]
    if (held === undefined) return []
    if (running !== held.closing) throw new Error(`the postings of ${held.account.code} are not its turnover`)
    const money = (minor: bigint) => print(minor, held.account.scale)
    // Without sums, which a column's own sum in a spreadsheet would count twice.
    return [{ ...headOf(held), ...nothing, balance: money(held.closing), line: "closing" }]
  }
  /** Ends the accounts before `place` and begins that one. */
  const advance = (place: number): ReadonlyArray<DetailRow> => {
    const rows: Array<DetailRow> = []
    while (at < place) {
      rows.push(...closing())
      at += 1
      const next = balances[at]
      if (next === undefined) break
      running = next.opening
      rows.push({ ...headOf(next), ...nothing, line: "opening", balance: print(running, next.account.scale) })
    }
    return rows
  }
  const posting = (row: PostingRow): ReadonlyArray<DetailRow> => {
    const before = advance(row.place)
    const held = balances[at]
    if (held === undefined) return before
    const { scale } = held.account
    const minor = parse(row.amount, scale)
    running += minor
    return [
      ...before,
      {
        ...headOf(held),
        line: "posting",
        effective_date: row.effective_date,
        journal_number: row.number === null ? null : journalNumber(scope.book.code, scope.period, row.number),
        line_number: String(row.line_number),
        kind: row.kind,
        description: row.description,
        external_reference: row.external_reference,
        counterparty: row.counterparty,
        resource_type: row.resource_type,
        resource_id: row.resource_id,
        late_for: row.late_for,
        debit: minor > 0n ? print(minor, scale) : null,
        credit: minor > 0n ? null : print(-minor, scale),
        balance: print(running, scale),
      },
    ]
  }
  return { posting, rest: () => advance(balances.length) }
}

/** The rows in the order of the trial balance; uses the caller's snapshot until the stream ends. */
export const generalLedgerRows = (
  scope: ReportScope,
  accounts: BookAccounts,
  balances: ReadonlyArray<AccountBalance>,
) =>
  Stream.unwrap(
    Effect.map(Database, (database) => {
      const places: Places = new Map(balances.map(({ account }, place) => [account, place]))
      const walking = walk(scope, balances)
      return database
        .rowStream("Report.generalLedger", postingColumns, (sql) => postings(sql, scope, accounts, places))
        .pipe(
          Stream.chunks,
          Stream.mapEffect((chunk) => exactly(() => [...chunk].flatMap((row) => walking.posting(row)))),
          Stream.concat(Stream.suspend(() => Stream.make(walking.rest()))),
        )
    }),
  )
