/** Ledger accounts, made when the first line needs them. Their ids are kept in memory for the length of a run. */
import { Effect } from "effect"
import type { Book } from "../Book.ts"
import { Database } from "../Database.ts"
import { Settings } from "../Settings.ts"
import { codeAndName, shortAccount } from "./Chart.ts"
import type { Line } from "./JournalEntry.ts"

const keyOf = (bookId: number, line: Line): string =>
  `${bookId}|${line.role}|${line.currency}|${line.partnerAccountId ?? ""}|${line.rule?.code ?? ""}`

/** The id of a ledger account within its book. */
export type AccountId = number

export class Accounts extends Effect.Service<Accounts>()("tieout/Ledger/Accounts", {
  effect: Effect.gen(function* () {
    const database = yield* Database
    const settings = yield* Settings
    const known = new Map<string, AccountId>()

    const create = Effect.fn("Ledger.Accounts.create")(function* (book: Book, line: Line, rail: string) {
      const { code, name } = codeAndName(settings.chart, line, {
        client: book.code,
        account: line.partnerAccountId === null ? "" : shortAccount(line.partnerAccountId),
        rail,
      })
      const rows = yield* database.query(
        "Ledger.Accounts.create",
        (sql) => sql<Array<{ account_id: number }>>`
          insert into ledger.accounts (book_id, role, currency, partner_account_id, rule_code, code, name)
          values (${book.bookId}, ${line.role}, ${line.currency}, ${line.partnerAccountId}, ${line.rule?.code ?? ""},
            ${code}, ${name})
          on conflict (book_id, role, currency, partner_account_id, rule_code)
          do update set code = excluded.code, name = excluded.name
          returning account_id`,
      )
      const row = rows[0]
      return row === undefined
        ? yield* Effect.dieMessage(`ledger account ${code} could not be created`)
        : row.account_id
    })

    /**
     * The account of a line. `rail` names the payment rail of a cash account. Outside any page's transaction, so that an
     * id that is remembered is one that stays.
     */
    const idOf = (book: Book, line: Line, rail: string) => {
      const id = known.get(keyOf(book.bookId, line))
      if (id !== undefined) return Effect.succeed(id)
      return Effect.tap(create(book, line, rail), (made) =>
        Effect.sync(() => {
          known.set(keyOf(book.bookId, line), made)
        }),
      )
    }

    /** The account of a line that is not cash, within a transaction: what that makes may yet be undone, and is not remembered. */
    const idWithin = (book: Book, line: Line) => {
      const id = known.get(keyOf(book.bookId, line))
      return id === undefined ? create(book, line, "") : Effect.succeed(id)
    }

    return { idOf, idWithin }
  }),
}) {}
