/** The settings that a book was valued by over time. */
import { and, desc, eq, inArray, lte } from "drizzle-orm"
import { Effect } from "effect"
import type { Book } from "../Book.ts"
import { valuationSettings } from "../Database/Tables/Valuation.ts"
import { Database } from "../Database.ts"
import type { Valuation as ValuationSettings } from "../Settings/Accounting.ts"
import { Settings } from "../Settings.ts"

/** A book's settings; the method is the general one, unless the book has its own. */
export interface BookSettings extends Pick<ValuationSettings, "method" | "rates" | "maxRateAgeDays"> {
  readonly baseCurrency: string
  /** Each role once, sorted, so that equal settings compare as equal. */
  readonly monetaryRoles: ReadonlyArray<string>
}

/** The book's own method, else the general one. */
const methodOf = ({ code }: Book, { books, method }: ValuationSettings) => books[code]?.method ?? method

export const bookSettings = (
  book: Book,
  baseCurrency: string,
  valuation: ValuationSettings,
): BookSettings => ({
  baseCurrency,
  method: methodOf(book, valuation),
  rates: valuation.rates,
  maxRateAgeDays: valuation.maxRateAgeDays,
  monetaryRoles: [...new Set(valuation.monetaryRoles)].sort(),
})

/**
 * The method that a close of each book records: the settings' method, once the book has been valued at all; null before. A month
 * that is valued only after its close uses this method.
 */
export const methodsAtClose = Effect.fn("Valuation.methodsAtClose")(function* (books: ReadonlyArray<Book>) {
  const database = yield* Database
  const { accounting } = yield* Settings
  const ids = books.map(({ bookId }) => bookId)
  const rows = yield* database.orm("Valuation.methodsAtClose", (orm) =>
    orm
      .selectDistinct({ bookId: valuationSettings.bookId })
      .from(valuationSettings)
      .where(inArray(valuationSettings.bookId, ids)),
  )
  const valued = new Set(rows.map(({ bookId }) => bookId))
  return (book: Book) => (valued.has(book.bookId) ? methodOf(book, accounting.valuation) : null)
})

/** Part of the caller's transaction, which holds the book's valuation lock. */
export const keepSettings = Effect.fn("Valuation.keepSettings")(function* (
  bookId: number,
  { baseCurrency, maxRateAgeDays, method, monetaryRoles, rates }: BookSettings,
) {
  const roles = monetaryRoles.join(" ")
  const database = yield* Database
  yield* database.execute(
    "Valuation.keepSettings",
    (sql) => sql`
      insert into valuation.settings (book_id, sequence, base_currency, method, rates, max_rate_age_days, monetary_roles)
      select ${bookId}, coalesce(max(k.sequence), 0) + 1, ${baseCurrency}::text, ${method}::text, ${rates}::text,
        ${maxRateAgeDays}::smallint, ${roles}::text
      from valuation.settings k where k.book_id = ${bookId}
      having (${baseCurrency}::text, ${method}::text, ${rates}::text, ${maxRateAgeDays}::smallint, ${roles}::text) is distinct from (
        select (l.base_currency, l.method, l.rates, l.max_rate_age_days, l.monetary_roles) from valuation.settings l
        where l.book_id = ${bookId} order by l.sequence desc limit 1)`,
  )
})

/**
 * The settings of the book's last valuation in a base currency before the as-of time; the current settings if there was none.
 */
export const settingsThen = Effect.fn("Valuation.settingsThen")(function* (
  bookId: number,
  asOf: string,
  now: BookSettings,
) {
  const database = yield* Database
  const [kept] = yield* database.orm("Valuation.settingsThen", (orm) =>
    orm
      .select()
      .from(valuationSettings)
      .where(
        and(
          eq(valuationSettings.bookId, bookId),
          eq(valuationSettings.baseCurrency, now.baseCurrency),
          lte(valuationSettings.since, asOf),
        ),
      )
      .orderBy(desc(valuationSettings.sequence))
      .limit(1),
  )
  if (kept === undefined) return now
  const { baseCurrency, maxRateAgeDays, method, monetaryRoles, rates } = kept
  const roles = monetaryRoles.split(" ").filter((role) => role !== "")
  return { baseCurrency, method, rates, maxRateAgeDays, monetaryRoles: roles } satisfies BookSettings
})
