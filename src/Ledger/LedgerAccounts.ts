/** Ledger accounts, made when the first line needs them. Their ids are kept in memory for the length of a run. */
import { Effect } from "effect"
import { isIn } from "../Book/ByBook.ts"
import type { Book } from "../Book.ts"
import { traced } from "../Common/Effects/Traced.ts"
import { counted } from "../Common/Text.ts"
import type { Sql } from "../Database/Client.ts"
import { int4, nullable, text, uuid } from "../Database/Columns.ts"
import { columnsOf } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import type { Commit } from "../Run/Lease.ts"
import { Settings } from "../Settings.ts"
import type { Line } from "./JournalEntry.ts"
import { templateOf, templatesOf } from "./LedgerChart.ts"

const keyOfAccount = (
  bookId: number,
  role: string,
  currency: string,
  partnerAccountId: string | null,
  ruleCode: string,
): string => `${bookId}|${role}|${currency}|${partnerAccountId ?? ""}|${ruleCode}`

const keyOf = (bookId: number, { currency, partnerAccountId, role, rule }: Line): string =>
  keyOfAccount(bookId, role, currency, partnerAccountId, rule?.code ?? "")

const inOrder = (wanted: ReadonlyMap<string, Line>): ReadonlyArray<Line> =>
  [...wanted].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line)

/** The id of a ledger account within its book. */
export type AccountId = number

const noAccounts: ReadonlyMap<string, AccountId> = new Map()

const accountColumns = {
  account_id: int4,
  role: text,
  currency: text,
  partner_account_id: nullable(uuid),
  rule_code: text,
}

export class Accounts extends Effect.Service<Accounts>()("tieout/Ledger/Accounts", {
  effect: Effect.gen(function* () {
    const database = yield* Database
    const settings = yield* Settings
    /** By book and key. A run begins without: by then the database may be a restored one, which has given an id to another account. */
    const known = new Map<number, Map<string, AccountId>>()
    /** Books whose accounts are called as the settings say: to look at all of them for each that is made would take their square. */
    const named = new Set<number>()

    const templates = templatesOf(settings.chart, settings.rules)

    /** The accounts of books that are called otherwise than the settings say: `book_id`, `account_id`, `code`, `name`. */
    const misnamed = (sql: Sql, bookIds: ReadonlyArray<number>) => sql`
      select a.book_id, a.account_id, n.code, n.name
      from json_to_recordset(${templates}::text::json) as t (role text, rule_code text, code text, name text)
      join ledger.accounts a on a.rule_code = t.rule_code and (a.role = t.role or t.role is null)
        and a.book_id ${isIn(sql, bookIds)}
      join mirror.books b on b.book_id = a.book_id
      left join mirror.accounts m on m.book_id = a.book_id and m.account_id = a.partner_account_id
      cross join lateral (
        select ledger.filled(t.code, a.currency, a.partner_account_id, m.payment_rails, b.code) as code,
          ledger.filled(t.name, a.currency, a.partner_account_id, m.payment_rails, b.code) as name) n
      where (a.code, a.name) is distinct from (n.code, n.name)`

    /** Part of the caller's transaction. */
    const rename = Effect.fn("Ledger.Accounts.rename")(function* (bookIds: ReadonlyArray<number>) {
      const rows = yield* database.rows(
        "Ledger.Accounts.rename",
        { account_id: int4 },
        (sql) => sql`
          with given as materialized (${misnamed(sql, bookIds)}),
          held as materialized (
            select a.book_id, a.account_id from ledger.accounts a join given g using (book_id, account_id)
            order by a.book_id, a.account_id for no key update of a)
          update ledger.accounts a set code = g.code, name = g.name
          from given g join held h using (book_id, account_id)
          where a.book_id = g.book_id and a.account_id = g.account_id returning a.account_id`,
      )
      if (rows.length > 0) {
        yield* Effect.logInfo(
          `${counted(rows.length, "ledger account")} got the code and name that the chart and the rules give now; closed months, too, show them so. Batches and closes keep the former ones.`,
        )
      }
    })

    /**
     * Gives the accounts of books the codes and names that the settings have now: all of them at once, so that no account has the name
     * of an older chart beside one of a newer. Writes in a transaction of `commit`, and only where there is something to change. Each
     * run begins with it, and remembers no account of an earlier one.
     */
    const follow = Effect.fn("Ledger.Accounts.follow")(function* (
      books: ReadonlyArray<Book>,
      commit: Commit,
    ) {
      const ids = books.map(({ bookId }) => bookId)
      const found = yield* database.rows(
        "Ledger.Accounts.follow",
        { book_id: int4 },
        (sql) => sql`select distinct n.book_id from (${misnamed(sql, ids)}) n order by 1`,
      )
      if (found.length > 0) yield* commit(rename(found.map(({ book_id: id }) => id)))
      for (const id of ids) {
        named.add(id)
        known.delete(id)
      }
    })

    /**
     * Makes the accounts of lines, each wanted once, and returns their ids by `keyOf`. In the order of their keys, so that two
     * transactions that make the same accounts cannot deadlock.
     */
    const create = Effect.fn("Ledger.Accounts.create")(function* (book: Book, wanted: ReadonlyArray<Line>) {
      const called = wanted.map((line) => ({ line, ...templateOf(settings.chart, line) }))
      const rows = yield* database.rows("Ledger.Accounts.create", accountColumns, (sql) => {
        const { text } = columnsOf(sql, called)
        return sql`
          insert into ledger.accounts (book_id, role, currency, partner_account_id, rule_code, code, name)
          select b.book_id, t.role, t.currency, t.partner_account_id, t.rule_code,
            ledger.filled(t.code, t.currency, t.partner_account_id, m.payment_rails, b.code),
            ledger.filled(t.name, t.currency, t.partner_account_id, m.payment_rails, b.code)
          from unnest(${text(({ line }) => line.role)}, ${text(({ line }) => line.currency)},
            ${text(({ line }) => line.partnerAccountId)}::uuid[], ${text(({ line }) => line.rule?.code ?? "")},
            ${text(({ code }) => code)}, ${text(({ name }) => name)})
            with ordinality as t (role, currency, partner_account_id, rule_code, code, name, place)
          join mirror.books b on b.book_id = ${book.bookId}
          left join mirror.accounts m on m.book_id = b.book_id and m.account_id = t.partner_account_id
          order by t.place
          on conflict (book_id, role, currency, partner_account_id, rule_code)
          do update set code = excluded.code, name = excluded.name
          returning account_id, role, currency, partner_account_id, rule_code`
      })
      if (!named.has(book.bookId)) yield* rename([book.bookId])
      return new Map(
        rows.map((row) => [
          keyOfAccount(book.bookId, row.role, row.currency, row.partner_account_id, row.rule_code),
          row.account_id,
        ]),
      )
    })

    /** The key of each line, the remembered accounts, and lines of those that are not, one of each. */
    const lookUp = (book: Book, lines: ReadonlyArray<Line>) => {
      const remembered = known.get(book.bookId)
      const wanted = new Map<string, Line>()
      const found = new Map<string, AccountId>()
      const keys = lines.map((line) => {
        const key = keyOf(book.bookId, line)
        const id = remembered?.get(key)
        if (id !== undefined) found.set(key, id)
        else if (!wanted.has(key)) wanted.set(key, line)
        return key
      })
      return { keys, found, wanted: inOrder(wanted) }
    }

    /** The accounts of these keys, of those that were remembered and those that were made. */
    const ofKeys = (
      keys: ReadonlyArray<string>,
      found: ReadonlyMap<string, AccountId>,
      made: ReadonlyMap<string, AccountId>,
    ) =>
      Effect.sync(() =>
        keys.map((key) => {
          const id = found.get(key) ?? made.get(key)
          if (id !== undefined) return id
          throw new Error(`the ledger account ${key} could not be created`)
        }),
      )

    /**
     * The accounts of lines, in their order. Outside any page's transaction, so that remembered ids stay valid; missing
     * accounts are made in a transaction of `commit`.
     */
    const idsOf = traced("Ledger.Accounts.idsOf")(function* (
      book: Book,
      lines: ReadonlyArray<Line>,
      commit: Commit,
    ) {
      const { found, keys, wanted } = lookUp(book, lines)
      if (wanted.length === 0) return yield* ofKeys(keys, found, noAccounts)
      const made = yield* commit(create(book, wanted))
      const remembered = known.get(book.bookId) ?? new Map<string, AccountId>()
      known.set(book.bookId, remembered)
      for (const [key, id] of made) remembered.set(key, id)
      named.add(book.bookId)
      return yield* ofKeys(keys, found, made)
    })

    /** The same within a transaction, whose accounts may yet be rolled back and so are not remembered. No line may be cash. */
    const idsWithin = Effect.fn("Ledger.Accounts.idsWithin")(function* (
      book: Book,
      lines: ReadonlyArray<Line>,
    ) {
      const { found, keys, wanted } = lookUp(book, lines)
      return yield* ofKeys(keys, found, wanted.length === 0 ? noAccounts : yield* create(book, wanted))
    })

    /** What the accounts of lines are called in a book, as `CODE NAME`, whether or not they are there yet. No line may be cash. */
    const namesOf = Effect.fn("Ledger.Accounts.namesOf")(function* (book: Book, lines: ReadonlyArray<Line>) {
      const wanted = new Map(lines.map((line) => [keyOf(book.bookId, line), line]))
      const called = [...wanted].map(([key, line]) => ({ key, line, ...templateOf(settings.chart, line) }))
      const rows = yield* database.rows("Ledger.Accounts.namesOf", { key: text, name: text }, (sql) => {
        const { text } = columnsOf(sql, called)
        return sql`
          select t.key, concat_ws(' ', ledger.filled(t.code, t.currency, null, null, ${book.code}),
            ledger.filled(t.name, t.currency, null, null, ${book.code})) as name
          from unnest(${text(({ key }) => key)}, ${text(({ line }) => line.currency)}, ${text(({ code }) => code)},
            ${text(({ name }) => name)}) as t (key, currency, code, name)`
      })
      const names = new Map(rows.map(({ key, name }) => [key, name]))
      return (line: Line): string => names.get(keyOf(book.bookId, line)) ?? line.role
    })

    return { idsOf, idsWithin, follow, namesOf }
  }),
}) {}
