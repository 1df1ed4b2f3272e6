/** What a valuation reads of a month's conversions before it begins: prices in the base currency, and legs of earlier months. */
import { Effect } from "effect"
import type { PendingQuery, Row } from "postgres"
import type { Sql } from "../../Database/Client.ts"
import { text } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import type { Journal } from "../BaseJournal.ts"
import type { Unit } from "../Rates/Rate.ts"
import { earlier, type MonthEntries } from "./EarlierLines.ts"
import { priceKey } from "./Flow.ts"

/**
 * What was given in the base currency for one unit of what was bought, of the conversions that the month's entries clear:
 * their lines on `trading`, corrections included.
 */
export const pricesIn = Effect.fn("Valuation.pricesIn")(function* (
  { asOf, bookId, firstDay, through }: MonthEntries,
  baseCurrency: string,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Valuation.pricesIn",
    { id: text, currency: text, cents: text, minor: text },
    (sql) => sql`
      with traded as (
        select t.* from valuation.traded_in(${bookId}, ${firstDay}::text::date, ${through},
          coalesce(${asOf}::text::timestamptz, 'infinity')) t)
      select g.resource_id as id, b.currency, trunc(g.amount * 100)::text as cents,
        trunc(-b.amount * 10::numeric ^ c.scale)::text as minor
      from traded g
      join traded b on b.resource_id = g.resource_id and b.currency <> ${baseCurrency} and b.amount < 0
      join ledger.currencies c on c.code = b.currency
      where g.currency = ${baseCurrency} and g.amount > 0`,
  )
  return new Map(
    rows.map(({ cents, currency, id, minor }): [string, Unit] => [
      priceKey(id, currency),
      { numerator: BigInt(cents), denominator: BigInt(minor) },
    ]),
  )
})

/** Whether an entry `e` has a line on an account of the role. */
const isOn = (sql: Sql, role: string): PendingQuery<Row[]> => sql`
  exists (
    select from ledger.postings t
    join ledger.accounts b on b.book_id = t.book_id and b.account_id = t.account_id
    where t.book_id = e.book_id and t.entry_id = e.entry_id and b.role = ${role})`

/** What the legs of earlier months were worth, of conversions that something goes back of or is put right of in the month. */
export const earlierLegs = (entries: MonthEntries, journal: Journal | null) =>
  earlier(entries, journal, {
    back: (sql) =>
      sql`e.kind not in ('conversion', 'conversion_whole') and ${isOn(sql, "conversions_in_transit")}`,
    of: (sql) => sql`not ${isOn(sql, "trading")}`,
    roles: ["conversions_in_transit"],
  })
