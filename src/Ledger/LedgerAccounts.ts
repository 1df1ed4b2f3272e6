/** Ledger accounts, made when the first line needs them. Their ids are kept in memory for the length of a run. */
import { Effect } from "effect"
import type { Book } from "../Book.ts"
import { traced } from "../Common/Traced.ts"
import { int4, nullable, text, uuid } from "../Database/Columns.ts"
import { columnsOf, textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import type { Commit } from "../Run/Lease.ts"
import { Settings } from "../Settings.ts"
import type { Line } from "./JournalEntry.ts"
import { codeAndName, shortAccount } from "./LedgerChart.ts"

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
    const known = new Map<string, AccountId>()

    /** The payment rails of the service's accounts that cash lines are of. */
    const railsOf = Effect.fn("Ledger.Accounts.railsOf")(function* (book: Book, wanted: ReadonlyArray<Line>) {
      const ids = wanted.flatMap(({ partnerAccountId }) => partnerAccountId ?? [])
      if (ids.length === 0) return new Map<string, string>()
      const rows = yield* database.rows(
        "Ledger.Accounts.railsOf",
        { account_id: uuid, payment_rails: text },
        (sql) => sql`
          select account_id, payment_rails from mirror.accounts
          where book_id = ${book.bookId} and account_id = any (${textArray(sql, ids)}::uuid[])`,
      )
      return new Map(rows.map((row) => [row.account_id, row.payment_rails]))
    })

    /**
     * Makes the accounts of lines, each wanted once, and returns their ids by `keyOf`. In the order of their keys, so that two
     * transactions that make the same accounts cannot deadlock.
     */
    const create = Effect.fn("Ledger.Accounts.create")(function* (book: Book, wanted: ReadonlyArray<Line>) {
      const rails = yield* railsOf(book, wanted)
      const named = wanted.map((line) => ({
        line,
        ...codeAndName(settings.chart, line, {
          client: book.code,
          account: line.partnerAccountId === null ? "" : shortAccount(line.partnerAccountId),
          rail: rails.get(line.partnerAccountId ?? "") ?? "",
        }),
      }))
      const rows = yield* database.rows("Ledger.Accounts.create", accountColumns, (sql) => {
        const { text } = columnsOf(sql, named)
        return sql`
          insert into ledger.accounts (book_id, role, currency, partner_account_id, rule_code, code, name)
          select ${book.bookId}, t.role, t.currency, t.partner_account_id::uuid, t.rule_code, t.code, t.name
          from unnest(${text(({ line }) => line.role)}, ${text(({ line }) => line.currency)},
            ${text(({ line }) => line.partnerAccountId)}, ${text(({ line }) => line.rule?.code ?? "")},
            ${text(({ code }) => code)}, ${text(({ name }) => name)})
            with ordinality as t (role, currency, partner_account_id, rule_code, code, name, place)
          order by t.place
          on conflict (book_id, role, currency, partner_account_id, rule_code)
          do update set code = excluded.code, name = excluded.name
          returning account_id, role, currency, partner_account_id, rule_code`
      })
      return new Map(
        rows.map((row) => [
          keyOfAccount(book.bookId, row.role, row.currency, row.partner_account_id, row.rule_code),
          row.account_id,
        ]),
      )
    })

    /** The account of each line, by key, and lines of accounts that are not remembered, one of each. */
    const lookUp = (book: Book, lines: ReadonlyArray<Line>) => {
      const wanted = new Map<string, Line>()
      const keys = lines.map((line) => {
        const key = keyOf(book.bookId, line)
        if (!known.has(key) && !wanted.has(key)) wanted.set(key, line)
        return key
      })
      return { keys, wanted: inOrder(wanted) }
    }

    /** The accounts of these keys, of those that are remembered and those that were made. */
    const ofKeys = (keys: ReadonlyArray<string>, made: ReadonlyMap<string, AccountId>) =>
      Effect.sync(() =>
        keys.map((key) => {
          const id = known.get(key) ?? made.get(key)
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
      const { keys, wanted } = lookUp(book, lines)
      if (wanted.length > 0) {
        for (const [key, id] of yield* commit(create(book, wanted))) known.set(key, id)
      }
      return yield* ofKeys(keys, known)
    })

    /** The same within a transaction, whose accounts may yet be rolled back and so are not remembered. No line may be cash. */
    const idsWithin = Effect.fn("Ledger.Accounts.idsWithin")(function* (
      book: Book,
      lines: ReadonlyArray<Line>,
    ) {
      const { keys, wanted } = lookUp(book, lines)
      return yield* ofKeys(keys, wanted.length === 0 ? known : yield* create(book, wanted))
    })

    return { idsOf, idsWithin }
  }),
}) {}
