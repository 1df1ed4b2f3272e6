/** The accounts that only the base-currency journal has. */
import { Effect } from "effect"
import { columnsOf } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import { type Chart, filled } from "../Settings/Chart.ts"
import { type BaseRole, baseRoles } from "./Base.ts"

export interface BaseAccount {
  readonly role: BaseRole
  readonly currency: string
  readonly code: string
  readonly name: string
}

/** With the chart's codes and names; `book` is the book's code. */
export const accountsOf = (
  book: string,
  baseCurrency: string,
  chart: Pick<Chart, BaseRole>,
): ReadonlyArray<BaseAccount> =>
  baseRoles.map((role) => ({
    role,
    currency: baseCurrency,
    code: filled(chart[role].code, baseCurrency, book),
    name: filled(chart[role].name, baseCurrency, book),
  }))

/** Stores these accounts with the chart's current codes and names. */
export const keepAccounts = Effect.fn("Valuation.keepAccounts")(function* (
  bookId: number,
  accounts: ReadonlyArray<BaseAccount>,
) {
  const database = yield* Database
  yield* database.execute("Valuation.keepAccounts", (sql) => {
    const { text } = columnsOf(sql, accounts)
    return sql`
      insert into valuation.accounts as a (book_id, role, currency, code, name)
      select ${bookId}, t.role, t.currency, t.code, t.name
      from unnest(${text(({ role }) => role)}, ${text(({ currency }) => currency)},
        ${text(({ code }) => code)}, ${text(({ name }) => name)})
        as t (role, currency, code, name)
      on conflict (book_id, role) do update set currency = excluded.currency, code = excluded.code, name = excluded.name
        where (a.currency, a.code, a.name) is distinct from (excluded.currency, excluded.code, excluded.name)`
  })
})
