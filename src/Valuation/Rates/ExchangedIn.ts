/** The rates of a book's own conversions: what a month's traded of each currency against the base currency. */
import { Effect } from "effect"
import { int2, text } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import type { Exchanged } from "./RateTable.ts"

/**
 * The totals of the conversions against the base currency that became whole in the month. One of an earlier month that this month gives
 * back does so at its own old rate, which says nothing of this month's.
 */
export const exchangedIn = Effect.fn("Valuation.exchangedIn")(function* (
  bookId: number,
  firstDay: string,
  throughNumber: number,
  baseCurrency: string,
  asOf: string | null,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Valuation.exchangedIn",
    { currency: text, scale: int2, foreign: text, base: text },
    (sql) => sql`
      with leg as (
        select t.resource_id, t.currency, abs(t.amount) as amount
        from valuation.traded_in(${bookId}, ${firstDay}::text::date, ${throughNumber},
          coalesce(${asOf}::text::timestamptz, 'infinity')) t
        where t.became_whole)
      select f.currency, c.scale, trunc(sum(f.amount) * 10::numeric ^ c.scale)::text as foreign,
        trunc(sum(b.amount) * 100)::text as base
      from leg f
      join leg b on b.resource_id = f.resource_id and b.currency = ${baseCurrency}
      join ledger.currencies c on c.code = f.currency
      where f.currency <> ${baseCurrency}
      group by f.currency, c.scale order by f.currency`,
  )
  return rows.map(
    ({ base, currency, foreign, scale }): Exchanged => ({
      currency,
      scale,
      foreign: BigInt(foreign),
      base: BigInt(base),
    }),
  )
})
