/** Ledger accounts, made when the first line needs them. Their ids are kept in memory for the length of a run. */
import { Effect } from "effect"
import type { Book } from "../Book.ts"
import { int4, nullable, text, uuid } from "../Database/Columns.ts"
import { textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
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

/** The id of a ledger account within its book. */
export type AccountId = number

/** A line whose account is not known yet, and the payment rail where it is a cash account. */
interface Wanted {
  readonly line: Line
  readonly rail: string
}

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

    /** Makes the accounts of lines, each wanted once, in their order, and gives their ids by `keyOf`. */
    const create = Effect.fn("Ledger.Accounts.create")(function* (book: Book, wanted: ReadonlyArray<Wanted>) {
      const named = wanted.map(({ line, rail }) => ({
        line,
        ...codeAndName(settings.chart, line, {
          client: book.code,
          account: line.partnerAccountId === null ? "" : shortAccount(line.partnerAccountId),
          rail,
        }),
      }))
      const rows = yield* database.rows("Ledger.Accounts.create", accountColumns, (sql) => {
        const column = (of: (one: (typeof named)[number]) => string | null) => textArray(sql, named.map(of))
        return sql`
          insert into ledger.accounts (book_id, role, currency, partner_account_id, rule_code, code, name)
          select ${book.bookId}, t.role, t.currency, t.partner_account_id::uuid, t.rule_code, t.code, t.name
          from unnest(${column(({ line }) => line.role)}, ${column(({ line }) => line.currency)},
            ${column(({ line }) => line.partnerAccountId)}, ${column(({ line }) => line.rule?.code ?? "")},
            ${column(({ code }) => code)}, ${column(({ name }) => name)})
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

    const idIn = (ids: ReadonlyMap<string, AccountId>, book: Book, line: Line) => {
      const id = ids.get(keyOf(book.bookId, line))
      return id === undefined
        ? Effect.dieMessage(`the ledger account of ${line.role} in ${line.currency} could not be created`)
        : Effect.succeed(id)
    }

    /**
     * The accounts of lines, in their order. `railOf` names the payment rail of a cash account. Outside any page's
     * transaction, so that an id that is remembered is one that stays.
     */
    const idsOf = Effect.fn("Ledger.Accounts.idsOf")(function* (
      book: Book,
      lines: ReadonlyArray<Line>,
      railOf: (accountId: string) => string,
    ) {
      const wanted = new Map<string, Wanted>()
      for (const line of lines) {
        const key = keyOf(book.bookId, line)
        if (known.has(key) || wanted.has(key)) continue
        wanted.set(key, { line, rail: line.partnerAccountId === null ? "" : railOf(line.partnerAccountId) })
      }
      if (wanted.size > 0) {
        for (const [key, id] of yield* create(book, [...wanted.values()])) known.set(key, id)
      }
      return yield* Effect.forEach(lines, (line) => idIn(known, book, line))
    })

    /** The account of a line that is not cash, within a transaction: what that makes may yet be undone, and is not remembered. */
    const idWithin = (book: Book, line: Line) => {
      const id = known.get(keyOf(book.bookId, line))
      return id === undefined
        ? Effect.flatMap(create(book, [{ line, rail: "" }]), (ids) => idIn(ids, book, line))
        : Effect.succeed(id)
    }

    return { idsOf, idWithin }
  }),
}) {}
