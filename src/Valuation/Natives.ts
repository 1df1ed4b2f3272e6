/** Reads the native books for a valuation: a book's accounts, and a month's entries in order. */
import { Effect, Stream } from "effect"
import { parse } from "../Common/MinorUnits.ts"
import { bool, int2, int4, nullable, text } from "../Database/Columns.ts"
import { plainArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import { recordedBy } from "../Ledger/AsOf.ts"
import { HeldRole } from "../Settings/Accounting.ts"
import type { NativeAccount, NativeEntry } from "./Base.ts"

const heldRoles: ReadonlySet<string> = new Set(HeldRole.literals)

export type Nature = Pick<NativeAccount, "held" | "monetary">

/**
 * Whether an account is held and monetary. A chart or a posting rule may book a movement as expense, income or equity, which an
 * exchange rate does not revalue. The name decides for an account that a rule or a person named: it is an asset or a liability
 * only if its name begins with that word.
 */
export const natureOf = (
  role: string,
  name: string,
  isRule: boolean,
  monetaryRoles: ReadonlyArray<string>,
): Nature => {
  const root = name.split(":")[0]
  const isNamed = isRule || role === "other"
  if (isNamed) {
    const held = root === "Assets" || root === "Liabilities"
    return { held, monetary: held }
  }
  const isKept = role === "cash" || role === "conversions_in_transit"
  const isFlow = root === "Income" || root === "Expenses" || root === "Equity"
  const held = heldRoles.has(role) && (isKept || !isFlow)
  return { held, monetary: held && monetaryRoles.includes(role) }
}

const accountColumns = {
  account_id: int4,
  role: text,
  currency: text,
  scale: int2,
  name: text,
  is_rule: bool,
  since: nullable(text),
}

/** In an order that does not depend on when the accounts were created. */
export const nativeAccounts = Effect.fn("Valuation.nativeAccounts")(function* (
  bookId: number,
  monetaryRoles: ReadonlyArray<string>,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Valuation.nativeAccounts",
    accountColumns,
    (sql) => sql`
      select a.account_id, a.role, a.currency, c.scale, a.name, a.rule_code <> '' as is_rule,
        to_char(t.since, 'YYYY-MM') as since
      from ledger.accounts a join ledger.currencies c on c.code = a.currency
      left join lateral (
        select min(b.period) as since from ledger.balances b
        where b.book_id = a.book_id and b.account_id = a.account_id) t on true
      where a.book_id = ${bookId}
      order by a.code collate "C", a.name collate "C", a.currency collate "C", a.role collate "C",
        a.partner_account_id, a.rule_code collate "C"`,
  )
  return rows.map(
    ({ account_id: accountId, currency, is_rule: isRule, name, role, scale, since }): NativeAccount => ({
      accountId,
      role,
      currency,
      scale,
      ...natureOf(role, name, isRule, monetaryRoles),
      since,
    }),
  )
})

const entryColumns = {
  entry_id: text,
  number: int4,
  date: text,
  kind: text,
  partner: nullable(text),
  resource_id: nullable(text),
  lines: text,
}

const linesOf = (text: string, accounts: ReadonlyMap<number, NativeAccount>): NativeEntry["lines"] => {
  const parts = text.split(" ")
  return parts.flatMap((id, at) => {
    if (at % 2 === 1) return []
    const account = accounts.get(Number(id))
    const amount = parts[at + 1]
    if (account === undefined || amount === undefined)
      throw new Error(`postings that cannot be read: ${text}`)
    return [{ account, minor: parse(amount, account.scale) }]
  })
}

/** Entries per chunk. */
const chunkSize = 1000

/** The numbers of a month's entries in the order of valuation: by day, then in the order of their statements. */
const orderedNumbers = Effect.fn("Valuation.orderedNumbers")(function* (
  bookId: number,
  firstDay: string,
  through: number,
  asOf: string | null,
) {
  const database = yield* Database
  const [row] = yield* database.rows(
    "Valuation.orderedNumbers",
    { numbers: nullable(text) },
    (sql) => sql`
      select string_agg(e.number::text, ',' order by e.effective_date, e.partner_account_id, e.position, e.sequence,
        e.correction, e.source_type, e.source_id) as numbers
      from ledger.journal e
      where e.book_id = ${bookId} and e.period = ${firstDay}::text::date and e.number <= ${through}
        ${recordedBy(sql, asOf)}`,
  )
  return (row?.numbers ?? "").split(",").filter((number) => number !== "")
})

const readChunk = Effect.fn("Valuation.readChunk")(function* (
  bookId: number,
  firstDay: string,
  numbers: ReadonlyArray<string>,
  accounts: ReadonlyMap<number, NativeAccount>,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Valuation.readChunk",
    entryColumns,
    (sql) => sql`
      select e.entry_id::text as entry_id, e.number, e.effective_date::text as date, e.kind,
        e.partner_account_id::text as partner, e.resource_id, e.lines
      from unnest(${plainArray(sql, numbers)}) with ordinality as w (number, place)
      join ledger.journal e
        on e.book_id = ${bookId} and e.period = ${firstDay}::text::date and e.number = w.number::integer
      order by w.place`,
  )
  return rows.map(
    ({ date, entry_id: entryId, kind, lines, number, partner, resource_id: resourceId }): NativeEntry => ({
      entryId,
      number,
      date,
      kind,
      partnerAccountId: partner,
      resourceId,
      lines: linesOf(lines, accounts),
    }),
  )
})

/**
 * The entries up to a journal number (with `asOf`, only those recorded by then), a chunk at a time; between two chunks the
 * connection is free to write.
 */
export const nativeEntries = (
  bookId: number,
  firstDay: string,
  through: number,
  accounts: ReadonlyArray<NativeAccount>,
  asOf: string | null,
) => {
  const byId = new Map(accounts.map((account) => [account.accountId, account]))
  return Stream.fromIterableEffect(orderedNumbers(bookId, firstDay, through, asOf)).pipe(
    Stream.grouped(chunkSize),
    Stream.mapEffect((numbers) => readChunk(bookId, firstDay, [...numbers], byId)),
  )
}
