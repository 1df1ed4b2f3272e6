/** Compares the base-currency journal of every book with the oracle's: at the end, and on the last day of every month that is over. */
import { Effect } from "effect"
import type { Book } from "../../src/Book.ts"
import { Database } from "../../src/Database.ts"
import { Settings } from "../../src/Settings.ts"
import { value } from "../../src/Valuation.ts"
import { idsOf } from "./BookIds.ts"
import { plain } from "./Decimals.ts"
import type { BaseSettings, ExpectedBaseBalance, NativeEntryFact } from "./Facts.ts"
import { lastDayOf } from "./Oracle/Base.ts"
import { expectedBaseAt } from "./Oracle.ts"
import { type Site, within } from "./Site.ts"

type Line = NativeEntryFact["lines"][number]

interface Row {
  readonly book: number
  readonly number: number
  readonly date: string
  readonly kind: string
  readonly type: string | null
  readonly resource: string | null
  readonly lines: ReadonlyArray<Line>
}

/** The numbered journal entries of each book in the form that the oracle takes: by day, then in the order of the statements. */
const nativeFacts = (books: ReadonlyArray<Book>) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.nativeFacts",
      (sql) => sql<Array<Row>>`
        select n.book_id as book, n.number, e.effective_date::text as date, e.kind, e.resource_type as type, e.resource_id::text as resource,
          (select json_agg(json_build_object('role', a.role, 'currency', a.currency, 'accountId', a.partner_account_id,
              'code', nullif(a.rule_code, ''), 'amount', p.amount::text) order by p.line_number)
            from ledger.postings p
            join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
            where p.book_id = e.book_id and p.entry_id = e.entry_id) as lines
        from ledger.journal_numbers n
        join ledger.journal_entries e on e.book_id = n.book_id and e.entry_id = n.entry_id
        where n.book_id = any (${idsOf(books)}::integer[])
        order by e.effective_date, e.partner_account_id, e.position, e.sequence, e.correction,
          e.source_type, e.source_id`,
    ),
  ).pipe(
    Effect.orDie,
    Effect.map((rows) => {
      const found = new Map<number, Array<NativeEntryFact>>()
      for (const { book, date, kind, lines, number, resource, type } of rows) {
        const isConversion = type === "CONVERSION"
        const [conversionId, movementId] = isConversion ? [resource, null] : [null, resource]
        const own = found.get(book) ?? []
        own.push({ number, date, kind, conversionId, movementId, lines })
        found.set(book, own)
      }
      return found
    }),
  )

/** The rates of every day for a book: in a closed month those that had been imported when it was closed, else the newest. */
const ratesOf = (book: Book, days: { readonly from: string; readonly to: string }) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.rates",
      (sql) => sql<Array<{ day: string; currency: string; rate: string }>>`
        with closed as (
          select distinct on (period) period, at from (
            select distinct on (period) period, action, at from ledger.closes
            where book_id = ${book.bookId} order by period, sequence desc) c
          where action = 'close' order by period)
        select distinct on (r.date, r.from_currency) r.date::text as day, r.from_currency as currency, r.rate::text as rate
        from valuation.rates r
        join valuation.rate_imports i on i.version = r.version
        left join closed c on c.period = date_trunc('month', r.date::timestamp)::date
        where r.date between ${days.from}::text::date and ${days.to}::text::date and (c.at is null or i.imported_at <= c.at)
        order by r.date, r.from_currency, r.version desc`,
    ),
  ).pipe(
    Effect.orDie,
    Effect.map((rows) => new Map(rows.map(({ currency, day, rate }) => [`${currency}|${day}`, plain(rate)]))),
  )

/** Books that ever closed a month: their rates may differ from those of other books. */
const closers = (books: ReadonlyArray<Book>) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.closers",
      (sql) => sql<Array<{ book: number }>>`
        select distinct book_id as book from ledger.closes where book_id = any (${idsOf(books)}::integer[])`,
    ),
  ).pipe(
    Effect.orDie,
    Effect.map((rows) => new Set(rows.map(({ book }) => book))),
  )

interface Standing extends ExpectedBaseBalance {
  readonly book: number
  readonly day: string
}

const standings = (books: ReadonlyArray<Book>, days: ReadonlyArray<string>) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.baseStandings",
      (sql) => sql<Array<Standing>>`
        select e.book_id as book, d.day, coalesce(a.role, p.role) as role, coalesce(a.currency, 'EUR') as currency,
          a.partner_account_id as "accountId", nullif(a.rule_code, '') as code, sum(p.amount)::text as balance
        from (select unnest(${`{${days.join(",")}}`}::date[])::text as day) d
        join valuation.entries e
          on e.book_id = any (${idsOf(books)}::integer[]) and e.effective_date <= d.day::date
        join valuation.postings p
          on p.book_id = e.book_id and p.period = e.period and p.series = e.series and p.number = e.number
        left join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
        group by 1, 2, 3, 4, 5, 6 having sum(p.amount) <> 0`,
    ),
  ).pipe(Effect.orDie)

const textOf = ({ accountId, code, currency, role }: ExpectedBaseBalance): string =>
  [role, currency, accountId, code].filter((part) => part !== null).join(" ")

const differences = (
  when: string,
  found: ReadonlyArray<ExpectedBaseBalance>,
  expected: ReadonlyArray<ExpectedBaseBalance>,
): ReadonlyArray<string> => {
  const has = new Map(found.map((one) => [textOf(one), plain(one.balance)]))
  const wanted = new Map(expected.map((one) => [textOf(one), plain(one.balance)]))
  return [...new Set([...has.keys(), ...wanted.keys()])].sort().flatMap((key) => {
    const [is, ought] = [has.get(key) ?? "0", wanted.get(key) ?? "0"]
    return is === ought ? [] : [`in base, ${when}: ${key} stands at ${is}, and ought to at ${ought}`]
  })
}

const after = (month: string): string =>
  new Date(Date.parse(`${lastDayOf(month)}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 7)

/** The last month that is over where the books are kept. */
const over = (timeZone: string) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.over",
      (sql) =>
        sql<
          Array<{ through: string }>
        >`select to_char(date_trunc('month', now() at time zone ${timeZone}) - interval '1 day', 'YYYY-MM') as through`,
    ),
  ).pipe(
    Effect.orDie,
    Effect.map(([row]) => row?.through ?? ""),
  )

interface Valued {
  readonly book: Book
  readonly entries: ReadonlyArray<NativeEntryFact>
  readonly first: string
  readonly last: string
  /** The last day of every month that is over, and the day after the last month, on which its revaluation is reversed. */
  readonly days: ReadonlyArray<string>
}

/** Values every book and compares the result with the oracle. */
export const baseProblems = (site: Site, overHttp: boolean, books: ReadonlyArray<Book>) =>
  Effect.gen(function* () {
    const through = yield* over(site.history.settings.timeZone)
    const problems: Array<string> = []
    const { accounting, chart } = yield* Effect.provide(Settings, site.settings)
    const { baseCurrency, valuation } = accounting
    const native = yield* nativeFacts(books)
    const valued: Array<Valued> = []
    for (const book of books) {
      const entries = native.get(book.bookId) ?? []
      const [first, last] = [entries[0]?.date.slice(0, 7), entries.at(-1)?.date.slice(0, 7)]
      if (first === undefined || last === undefined) continue
      const failed = yield* within(
        site,
        overHttp,
      )(value([book], after(last), { baseCurrency, settings: valuation, chart })).pipe(
        Effect.as(null),
        Effect.catchTag("ValuationError", ({ message }) => Effect.succeed(message)),
      )
      if (failed !== null) {
        problems.push(`book ${book.code}: the valuation failed: ${failed}`)
        continue
      }
      const months: Array<string> = []
      for (let month = first; month <= last && month <= through; month = after(month)) months.push(month)
      valued.push({ book, entries, first, last, days: [...months.map(lastDayOf), `${after(last)}-01`] })
    }
    const found = yield* standings(
      valued.map(({ book }) => book),
      [...new Set(valued.flatMap(({ days }) => days))],
    )
    const closed = yield* closers(books)
    const shared = new Map<string, ReadonlyMap<string, string>>()
    for (const { book, days, entries, first, last } of valued) {
      const span = `${first} ${last}`
      const known = closed.has(book.bookId) ? undefined : shared.get(span)
      const rates = known ?? (yield* ratesOf(book, { from: `${first}-01`, to: lastDayOf(last) }))
      if (!closed.has(book.bookId)) shared.set(span, rates)
      const settings: BaseSettings = {
        ...{ baseCurrency, through, rates, method: site.history.settings.method },
        monetaryRoles: valuation.monetaryRoles,
      }
      for (const day of days) {
        const own = found.filter((one) => one.book === book.bookId && one.day === day)
        const told = differences(day, own, expectedBaseAt(entries, settings, day))
        problems.push(...told.map((text) => `book ${book.code}: ${text}`))
      }
    }
    return problems
  })
