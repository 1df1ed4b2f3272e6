/** The base-currency journal in the database: when a month is valued again, when not, and what never changes. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { decodeSync } from "effect/Schema"
import { allBooks, type Book } from "../../src/Book.ts"
import { Database } from "../../src/Database.ts"
import { Content } from "../../src/Settings/Content.ts"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import type { RateRow } from "../../src/Valuation/Rates/RateTable.ts"
import type { ValuationOptions } from "../../src/Valuation/ValuedBook.ts"
import { value } from "../../src/Valuation.ts"
import { addConversionAccounts, assignNumbers, leg, openBook, partner, post, whole } from "../Export/Books.ts"
import { aside } from "../support/aside.ts"
import { closePeriod, reopenPeriod } from "../support/Closing.ts"
import { statement as query } from "../support/statement.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"

const { accounting, chart } = decodeSync(Content)({})
const options: ValuationOptions = { baseCurrency: "EUR", settings: accounting.valuation, chart }

let clients = 0
const clientId = () => {
  clients += 1
  return `55555555-0000-4000-8000-${String(clients).padStart(12, "0")}`
}

/** The SQLSTATE with which the database refuses a statement. */
const refused = (statement: string) =>
  query(statement).pipe(
    Effect.flip,
    Effect.map(({ sqlstate }) => sqlstate),
  )

const rate = (date: string, text: string): RateRow => ({
  date,
  from: "USD",
  to: "EUR",
  rate: text,
  source: "test",
})

const deposit = (bookId: number, date: string, amount: string) =>
  post(bookId, {
    date,
    kind: "deposit",
    partner: partner.usd,
    cash: amount,
    description: "Deposit",
    lines: [
      ["cash", "", "USD", amount],
      ["deposits_clearing", "", "USD", `-${amount}`],
    ],
  })

/** Deposits in January and March; nothing in February. Years before any other test's rates. */
const threeMonths = Effect.fn("Test.threeMonths")(function* (code: string, year: number) {
  const bookId = yield* openBook(code, clientId())
  yield* deposit(bookId, `${year}-01-10`, "1000.00")
  yield* deposit(bookId, `${year}-03-10`, "500.00")
  yield* assignNumbers(bookId)
  const [book] = (yield* allBooks(Option.none())).filter((each) => each.code === code)
  if (book === undefined) return yield* Effect.dieMessage("no book")
  return book
})

const allOf = (year: number) =>
  ["01-10", "01-31", "02-28", "03-10", "03-31"].map((day) => rate(`${year}-${day}`, "0.90"))

const valuedAt = (bookId: number) =>
  Effect.map(
    query(`select to_char(period, 'MM') as month, transaction::text from valuation.months where book_id = ${bookId}
      order by period`),
    (rows) => new Map(rows.map(({ month, transaction }) => [String(month), String(transaction)])),
  )

/** Months whose valuation differs from before. */
const changed = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>) =>
  [...after].filter(([month, at]) => before.get(month) !== at).map(([month]) => month)

const setStatus = (bookId: number, month: string, status: "open" | "closed") =>
  query(status === "closed" ? closePeriod(bookId, month) : reopenPeriod(bookId, month))

/** Closes a month and leaves it as `tieout close` does. */
const close = (bookId: number, month: string) => setStatus(bookId, month, "closed")

/** Whether a month's valuation is that of its close, and stays. */
const kept = (bookId: number, month: string) =>
  Effect.map(
    query(`select valuation.is_kept(m) as kept from valuation.months m
      where m.book_id = ${bookId} and m.period = '${month}-01'`),
    ([row]) => row?.kept,
  )

const balances = (bookId: number) =>
  Effect.map(
    query(`select coalesce(a.role, p.role) as role, sum(p.amount)::text as amount from valuation.postings p
      left join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
      where p.book_id = ${bookId} group by 1 order by 1`),
    (rows) => rows.map(({ amount, role }) => `${role} ${amount}`),
  )

layer(TestDatabase.layer, { excludeTestServices: true })("the base-currency journal", (it) => {
  it.effect("lists all missing rates of all months, and writes nothing", () =>
    Effect.gen(function* () {
      const book = yield* threeMonths("LACKS", 2001)
      yield* addRates([rate("2001-01-10", "0.90"), rate("2001-03-31", "0.90")])
      const error = yield* Effect.flip(value([book], null, options))
      expect(error).toMatchObject({ _tag: "ValuationError", reason: "MissingRates" })
      expect(error.message.split("\n")).toEqual([
        "3 rates are missing for the base-currency journal. Nothing was written.",
        "  2001-01-31 USD/EUR",
        "  2001-02-28 USD/EUR",
        "  2001-03-10 USD/EUR",
        "Put them into a CSV with the columns date,from,to,rate,source, or take the ECB's eurofxref-hist.csv as it is, and run: tieout rates import FILE",
        "Or let an older rate hold for more days (accounting.valuation.maxRateAgeDays), or value by the months' own conversions (accounting.valuation.rates: conversions).",
      ])
      expect(yield* query(`select 1 from valuation.months where book_id = ${book.bookId}`)).toEqual([])
    }),
  )

  it.effect("takes the month's own conversions where the settings say so, and lists months without any", () =>
    Effect.gen(function* () {
      const book = yield* threeMonths("OWN", 2002)
      const own = { ...options, settings: { ...options.settings, rates: "conversions" as const } }
      const error = yield* Effect.flip(value([book], null, own))
      expect(error.message.split("\n").slice(1, 4)).toEqual([
        "  2002-01 USD/EUR",
        "  2002-02 USD/EUR",
        "  2002-03 USD/EUR",
      ])
    }),
  )

  it.effect("values at the total rate of the month's conversions, and by the method of the book", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("METHOD", clientId())
      yield* addConversionAccounts(bookId)
      const sold = (day: string, dollars: string, euros: string, resource: string) =>
        Effect.forEach(
          [
            leg(resource, day, ["USD", `-${dollars}`]),
            leg(resource, day, ["EUR", euros]),
            whole(resource, day, ["USD", dollars], ["EUR", euros]),
          ],
          (movement) => post(bookId, movement),
        )
      // January: 100 USD for 90 EUR and 300 USD for 230 EUR, 0.80 in all. February: 100 USD for 95 EUR.
      yield* deposit(bookId, "2009-01-01", "1000.00")
      yield* sold("2009-01-10", "100.00", "90.00", "99999999-0000-4000-8000-000000000001")
      yield* sold("2009-01-20", "300.00", "230.00", "99999999-0000-4000-8000-000000000002")
      yield* deposit(bookId, "2009-02-01", "1000.00")
      yield* sold("2009-02-20", "100.00", "95.00", "99999999-0000-4000-8000-000000000003")
      yield* assignNumbers(bookId)
      const [book] = (yield* allBooks(Option.none())).filter(({ code }) => code === "METHOD")
      if (book === undefined) return yield* Effect.dieMessage("no book")
      const realized = Effect.fnUntraced(function* (method: "average" | "fifo") {
        const settings = { ...options.settings, rates: "conversions", books: { METHOD: { method } } } as const
        yield* value([book], null, { ...options, settings })
        return yield* Effect.map(
          query(`select p.amount::text from valuation.postings p
            where p.book_id = ${bookId} and p.role = 'fx_realized' order by p.period, p.number`),
          (rows) => rows.map(({ amount }) => amount),
        )
      })
      // 90 − 80 and 230 − 240; by average 600 at 0.80 and 1,000 at 0.95 make 1,430 / 1,600, so that 100 cost 89.38.
      expect(yield* realized("average")).toEqual(["-10.00", "10.00", "-5.62"])
      expect(yield* realized("fifo")).toEqual(["-10.00", "10.00", "-15.00"])
      const traded = (through: number) =>
        query(`select from valuation.traded_in(${bookId}, '2009-01-01', ${through}, 'infinity')`)
      // Entries that are numbered while a month is valued are not among those that it is valued with.
      expect([(yield* traded(4)).length, (yield* traded(7)).length]).toEqual([2, 4])
      // Rates that were imported since are none of its.
      yield* addRates([rate("2009-01-15", "0.50")])
      yield* close(bookId, "2009-01")
      expect(yield* kept(bookId, "2009-01")).toBe(true)
    }),
  )

  it.effect(
    "keeps the settings that a book is valued by, and values again what another monetary role changes",
    () =>
      Effect.gen(function* () {
        const book = yield* threeMonths("ROLES", 2018)
        yield* addRates([rate("2018-01-10", "0.90"), rate("2018-01-31", "0.95")])
        yield* value([book], "2018-01", options)
        expect(yield* balances(book.bookId)).toEqual([
          "cash 950.00",
          "deposits_clearing -900.00",
          "fx_unrealized -50.00",
        ])
        const monetaryRoles = ["deposits_clearing", "cash", "cash"] as const
        yield* value([book], "2018-01", { ...options, settings: { ...options.settings, monetaryRoles } })
        expect(yield* balances(book.bookId)).toEqual([
          "cash 950.00",
          "deposits_clearing -950.00",
          "fx_unrealized 0.00",
        ])
        // The same roles in another order are the same settings.
        const again = ["cash", "deposits_clearing"] as const
        yield* value([book], "2018-01", {
          ...options,
          settings: { ...options.settings, monetaryRoles: again },
        })
        const kept =
          yield* query(`select monetary_roles from valuation.settings where book_id = ${book.bookId}
        order by sequence`)
        expect(kept.map(({ monetary_roles }) => monetary_roles)).toEqual([
          [...options.settings.monetaryRoles].sort().join(" "),
          "cash deposits_clearing",
        ])
      }),
  )

  it.effect.each([
    { method: "average", gain: "-40.00" },
    { method: "fifo", gain: "-15.00" },
  ] as const)(
    "gives a conversion that is cancelled months later its cost back: $method",
    ({ gain, method }) =>
      Effect.gen(function* () {
        const code = `BACK-${method.toUpperCase()}`
        const bookId = yield* openBook(code, clientId())
        yield* addConversionAccounts(bookId)
        const id = `99999999-0000-4000-8000-00000000001${method.length}`
        yield* addRates(
          [
            ["2019-01-01", "0.90"],
            ["2019-01-02", "0.80"],
            ["2019-01-31", "0.70"],
            ["2019-02-28", "0.70"],
            ["2019-03-31", "0.70"],
          ].map(([date = "", text = ""]) => rate(date, text)),
        )
        yield* deposit(bookId, "2019-01-01", "500.00")
        yield* deposit(bookId, "2019-01-02", "500.00")
        yield* post(bookId, leg(id, "2019-01-10", ["USD", "-500.00"]))
        yield* post(bookId, leg(id, "2019-02-10", ["EUR", "465.00"]))
        yield* post(bookId, whole(id, "2019-02-10", ["USD", "500.00"], ["EUR", "465.00"]))
        yield* assignNumbers(bookId)
        const [book] = (yield* allBooks(Option.none())).filter((each) => each.code === code)
        if (book === undefined) return yield* Effect.dieMessage("no book")
        const valueAll = value([book], null, { ...options, settings: { ...options.settings, method } })
        const realized = Effect.map(
          query(`select to_char(p.period, 'MM') as month, p.series, p.amount::text from valuation.postings p
          where p.book_id = ${bookId} and p.role = 'fx_realized' order by p.period, p.number`),
          (rows) => rows.map(({ amount, month, series }) => `${month} ${series} ${amount}`),
        )
        yield* valueAll
        // 465.00 for 500 USD that cost 425.00, or in FIFO 450.00; September's transit is in no later state.
        expect(yield* realized).toEqual([`02 journal ${gain}`])
        expect(
          yield* query(`select json_array_length(state -> 'conversions')::text as open from valuation.months
          where book_id = ${bookId} order by period`),
        ).toEqual([{ open: "1" }, { open: "0" }])
        yield* post(bookId, leg(id, "2019-03-05", ["USD", "500.00"], "conversion_return"))
        yield* post(bookId, leg(id, "2019-03-06", ["EUR", "-465.00"], "conversion_return"))
        yield* post(
          bookId,
          whole(id, "2019-03-06", ["USD", "500.00"], ["EUR", "465.00"], "conversion_reversal"),
        )
        yield* assignNumbers(bookId)
        yield* valueAll
        expect(yield* realized).toEqual([`02 journal ${gain}`, `03 journal ${gain.slice(1)}`])
        expect((yield* balances(bookId)).filter((line) => !/^fx_unrealized|clearing/.test(line))).toEqual([
          // Revalued in March: 1,000 USD at 0.70. Without that they cost 850.00 again.
          "cash 700.00",
          "conversions_in_transit 0.00",
          "fx_realized 0.00",
          "trading 0.00",
        ])
        expect((yield* balances(bookId)).filter((line) => line.startsWith("fx_unrealized"))).toEqual([
          "fx_unrealized 150.00",
        ])
        // Valued once more like a book that was never valued: the earlier months exist only in this run.
        yield* query(`delete from valuation.months where book_id = ${bookId}`)
        yield* valueAll
        expect(yield* realized).toEqual([`02 journal ${gain}`, `03 journal ${gain.slice(1)}`])
      }),
  )

  it.effect("refuses a base currency without two decimals", () =>
    Effect.gen(function* () {
      const book = yield* threeMonths("YEN", 2003)
      const error = yield* Effect.flip(value([book], null, { ...options, baseCurrency: "JPY" }))
      expect(error).toMatchObject({ _tag: "ValuationError", reason: "Usage" })
    }),
  )

  it.effect("values a month again only when something that it depends on has changed", () =>
    Effect.gen(function* () {
      const book = yield* threeMonths("AGAIN", 2004)
      yield* addRates([...allOf(2004), rate("2004-02-29", "0.90")])
      yield* value([book], null, options)
      const first = yield* valuedAt(book.bookId)
      expect([...first.keys()]).toEqual(["01", "02", "03"])
      yield* value([book], null, options)
      expect(changed(first, yield* valuedAt(book.bookId))).toEqual([])
      // A rate that no month of the book uses.
      yield* addRates([rate("2010-01-01", "0.5")])
      yield* value([book], null, options)
      expect(changed(first, yield* valuedAt(book.bookId))).toEqual([])
      yield* addRates([rate("2004-02-29", "0.80")])
      yield* value([book], null, options)
      expect(changed(first, yield* valuedAt(book.bookId))).toEqual(["02", "03"])
      expect(yield* balances(book.bookId)).toEqual([
        "cash 1350.00",
        "deposits_clearing -1350.00",
        "fx_unrealized 0.00",
      ])
      const second = yield* valuedAt(book.bookId)
      yield* deposit(book.bookId, "2004-01-10", "1.00")
      yield* assignNumbers(book.bookId)
      yield* value([book], "2004-01", options)
      expect(changed(second, yield* valuedAt(book.bookId))).toEqual(["01"])
      yield* value([book], null, options)
      expect(changed(second, yield* valuedAt(book.bookId))).toEqual(["01", "02", "03"])
    }),
  )

  it.effect("does not value a month again for an account, or a currency, that is used later only", () =>
    Effect.gen(function* () {
      const book = yield* threeMonths("LATER", 2011)
      yield* addRates(
        allOf(2011).flatMap((row) => [row, { ...row, from: "USDT", rate: "0.85" }, { ...row, from: "JPY" }]),
      )
      yield* value([book], null, options)
      const first = yield* valuedAt(book.bookId)
      yield* query(`insert into ledger.accounts (book_id, role, currency, rule_code, code, name) values
        (${book.bookId}, 'deposits_clearing', 'USDT', '1500', '1500', 'Assets:Treasury:USDT')`)
      yield* post(book.bookId, {
        date: "2011-03-31",
        kind: "deposit",
        partner: partner.usdt,
        cash: "10.00",
        description: "Deposit",
        lines: [
          ["cash", "", "USDT", "10.00"],
          ["deposits_clearing", "1500", "USDT", "-10.00"],
        ],
      })
      yield* assignNumbers(book.bookId)
      yield* value([book], null, options)
      expect(changed(first, yield* valuedAt(book.bookId))).toEqual(["03"])
      // An account that is used from January on is no longer money: everything that depends on it is valued again.
      const second = yield* valuedAt(book.bookId)
      yield* query(`update ledger.accounts set name = 'Expenses:Transit'
        where book_id = ${book.bookId} and role = 'deposits_clearing' and currency = 'USD' and rule_code = ''`)
      yield* value([book], null, options)
      expect(changed(second, yield* valuedAt(book.bookId))).toEqual(["01", "02", "03"])
    }),
  )

  it.effect("keeps a closed month's valuation, whatever rates come later, until the month is reopened", () =>
    Effect.gen(function* () {
      const book = yield* threeMonths("CLOSED", 2005)
      yield* addRates(allOf(2005))
      yield* value([book], null, options)
      yield* setStatus(book.bookId, "2005-01", "closed")
      const first = yield* valuedAt(book.bookId)
      yield* addRates(allOf(2005).map((row) => ({ ...row, rate: "0.70" })))
      yield* value([book], null, options)
      expect(changed(first, yield* valuedAt(book.bookId))).toEqual(["02", "03"])
      expect(yield* refused(`delete from valuation.months where book_id = ${book.bookId}`)).toBe("TO005")
      const usd = yield* Effect.flip(value([book], null, { ...options, baseCurrency: "USD" }))
      expect(usd).toMatchObject({ _tag: "ValuationError", reason: "Closed" })
      yield* setStatus(book.bookId, "2005-01", "open")
      const second = yield* valuedAt(book.bookId)
      yield* value([book], null, options)
      expect(changed(second, yield* valuedAt(book.bookId))).toEqual(["01", "02", "03"])
    }),
  )

  it.effect(
    "takes the rates that came since where the month is reopened, and the one before it is closed",
    () =>
      Effect.gen(function* () {
        const book = yield* threeMonths("HALF", 1994)
        yield* addRates(allOf(1994))
        for (const month of ["1994-01", "1994-02", "1994-03"]) yield* close(book.bookId, month)
        yield* addRates(allOf(1994).map((row) => ({ ...row, rate: "0.70" })))
        yield* setStatus(book.bookId, "1994-03", "open")
        yield* value([book], null, options)
        // 1000 at 0.90 and 500 at 0.70 came in, and all is worth 0.70 at the end.
        expect(yield* balances(book.bookId)).toEqual([
          "cash 1050.00",
          "deposits_clearing -1250.00",
          "fx_unrealized 200.00",
        ])
      }),
  )

  it.effect("does not revalue the month that goes on", () =>
    // One transaction, for which the time stands still.
    Effect.flatMap(Database, (database) =>
      database.transaction(
        Effect.gen(function* () {
          const [now] = yield* query(`select to_char(now() at time zone 'UTC', 'YYYY-MM-DD') as today,
            to_char(now() at time zone 'UTC' - interval '1 month', 'YYYY-MM') as last`)
          const [today, last] = [String(now?.today), String(now?.last)]
          const bookId = yield* openBook("GOESON", clientId())
          for (const day of [`${last}-01`, today]) yield* deposit(bookId, day, "100.00")
          yield* assignNumbers(bookId)
          const [book] = (yield* allBooks(Option.none())).filter(({ code }) => code === "GOESON")
          if (book === undefined) return yield* Effect.dieMessage("no book")
          const days = yield* query(`select d::date::text as day
            from generate_series('${last}-01'::date, date_trunc('month', now()) + interval '2 months', '1 day') d`)
          yield* addRates(days.map(({ day }, at) => rate(String(day), `0.${at + 10}`)))
          yield* value([book], null, options)
          expect(
            yield* query(`select m.over, count(p) > 0 as revalued from valuation.months m
              left join valuation.entries p on p.book_id = m.book_id and p.period = m.period and p.kind = 'fx_revaluation'
              where m.book_id = ${bookId} group by m.period, m.over order by m.period`),
          ).toEqual([
            { over: true, revalued: true },
            { over: false, revalued: false },
          ])
        }),
      ),
    ),
  )

  it.effect("uses the rates that existed at a month's close, whenever it is valued", () =>
    Effect.gen(function* () {
      const dates = ["2012-01-10", "2012-01-31"]
      const at = (text: string) => addRates(dates.map((date) => rate(date, text)))
      const valueOf = Effect.fnUntraced(function* (book: Book) {
        yield* value([book], "2012-01", options)
        return (yield* balances(book.bookId))[0]
      })
      const [valuedBefore, never] = [yield* threeMonths("EXPORTED", 2012), yield* threeMonths("NEVER", 2012)]
      const between = yield* threeMonths("BETWEEN", 2012)
      yield* at("0.90")
      expect(yield* valueOf(valuedBefore)).toBe("cash 900.00")
      yield* at("0.80")
      for (const { bookId } of [valuedBefore, never, between]) yield* close(bookId, "2012-01")
      expect(yield* valueOf(between)).toBe("cash 800.00")
      yield* at("0.70")
      for (const book of [valuedBefore, never, between]) expect(yield* valueOf(book)).toBe("cash 800.00")
      const kept = yield* valuedAt(never.bookId)
      yield* at("0.60")
      for (const book of [valuedBefore, never, between]) expect(yield* valueOf(book)).toBe("cash 800.00")
      expect(changed(kept, yield* valuedAt(never.bookId))).toEqual([])
      for (const { bookId } of [valuedBefore, never, between]) {
        expect(yield* refused(`delete from valuation.months where book_id = ${bookId}`)).toBe("TO005")
      }
    }),
  )

  it.effect("takes the first rate that comes after a month's close where there was none", () =>
    Effect.gen(function* () {
      const book = yield* threeMonths("LATE", 2013)
      yield* addRates([rate("2013-01-10", "0.90")])
      yield* close(book.bookId, "2013-01")
      expect(yield* Effect.flip(value([book], "2013-01", options))).toMatchObject({ reason: "MissingRates" })
      const expected = ["cash 950.00", "deposits_clearing -900.00", "fx_unrealized -50.00"]
      yield* addRates([rate("2013-01-10", "0.50"), rate("2013-01-31", "0.95")])
      yield* value([book], "2013-01", options)
      expect(yield* balances(book.bookId)).toEqual(expected)
      yield* addRates([rate("2013-01-31", "0.50")])
      const ofBook = `where book_id = ${book.bookId}`
      yield* unruled(`delete from valuation.postings ${ofBook}; delete from valuation.entries ${ofBook};
        delete from valuation.months ${ofBook}`)
      yield* value([book], "2013-01", options)
      expect(yield* balances(book.bookId)).toEqual(expected)
    }),
  )

  it.effect("writes no book where one lacks a rate, and lists the missing rates of all", () =>
    Effect.gen(function* () {
      const [whole, lacking, other] = [
        yield* threeMonths("WHOLE", 2014),
        yield* threeMonths("LACKING", 2015),
        yield* threeMonths("OTHER", 2016),
      ]
      yield* addRates([...allOf(2014), ...allOf(2015).slice(1), ...allOf(2016).slice(0, -1)])
      yield* addRates([rate("2016-02-29", "0.90")])
      const books = [whole, lacking, other]
      const error = yield* Effect.flip(value(books, null, options))
      expect(error.message.split("\n").slice(1, 3)).toEqual(["  2015-01-10 USD/EUR", "  2016-03-31 USD/EUR"])
      const of = books.map(({ bookId }) => bookId).join(", ")
      expect(yield* query(`select 1 from valuation.months where book_id in (${of})`)).toEqual([])
      yield* addRates([rate("2015-01-10", "0.90"), rate("2016-03-31", "0.90")])
      yield* value(books, null, options)
      const written = yield* query(`select distinct book_id, transaction::text from valuation.months
        where book_id in (${of})`)
      // Each book in a transaction of its own.
      expect([written.length, new Set(written.map(({ transaction }) => transaction)).size]).toEqual([3, 3])
    }),
  )

  it.effect("does not block postings, numbering or a close of the book", () =>
    Effect.gen(function* () {
      const book = yield* threeMonths("WAITING", 2017)
      yield* addRates(allOf(2017))
      yield* value([book], null, options)
      yield* addRates(allOf(2017).map((row) => ({ ...row, rate: "0.80" })))
      const database = yield* Database
      // This would fail at once if the valuation held the lock.
      const free = aside(
        (sql) => sql`select 1 from ledger.locks where book_id = ${book.bookId} for update nowait`,
      )
      yield* database.transaction(Effect.zipRight(value([book], null, options), free))
      expect((yield* balances(book.bookId))[0]).toBe("cash 1200.00")
    }),
  )

  it.effect("replaces a valuation that was made before the month was complete, closed or not", () =>
    Effect.gen(function* () {
      const book = yield* threeMonths("EARLY", 2006)
      yield* addRates(allOf(2006))
      yield* value([book], null, options)
      yield* deposit(book.bookId, "2006-01-10", "100.00")
      yield* assignNumbers(book.bookId)
      yield* setStatus(book.bookId, "2006-01", "closed")
      yield* setStatus(book.bookId, "2006-02", "closed")
      const first = yield* valuedAt(book.bookId)
      yield* value([book], null, options)
      expect(changed(first, yield* valuedAt(book.bookId))).toEqual(["01", "02", "03"])
      expect((yield* balances(book.bookId))[0]).toBe("cash 1440.00")
      const second = yield* valuedAt(book.bookId)
      yield* value([book], null, options)
      expect(changed(second, yield* valuedAt(book.bookId))).toEqual([])
    }),
  )

  it.effect("replaces the valuation of a closed month that was made while the month went on", () =>
    Effect.gen(function* () {
      const book = yield* threeMonths("ONGOING", 1997)
      yield* addRates(allOf(1997))
      yield* value([book], null, options)
      yield* unruled(`update valuation.months set over = false, fingerprint = 'while it went on'
        where book_id = ${book.bookId} and period = '1997-03-01'`)
      for (const month of ["01", "02", "03"]) yield* close(book.bookId, `1997-${month}`)
      const before = yield* valuedAt(book.bookId)
      yield* value([book], null, options)
      expect(changed(before, yield* valuedAt(book.bookId))).toEqual(["03"])
    }),
  )

  it.effect(
    "is that of its close unless the close knew a rate of its days and its currency that it lacks",
    () =>
      Effect.gen(function* () {
        yield* addRates([rate("1996-02-10", "0.90"), rate("1996-02-27", "0.90")])
        const imported: ReadonlyArray<readonly [RateRow, boolean]> = [
          [rate("1996-01-27", "0.90"), true],
          // Four days before its first, the oldest that may hold on it.
          [rate("1996-01-28", "0.90"), false],
          [rate("1996-02-29", "0.90"), false],
          [rate("1996-03-01", "0.90"), true],
          [{ ...rate("1996-02-15", "0.90"), to: "GBP" }, true],
          [{ ...rate("1996-02-16", "1.11"), from: "EUR", to: "USD" }, false],
          // Of a currency that the book has not used.
          [{ ...rate("1996-02-17", "1.10"), from: "EUR", to: "CHF" }, true],
        ]
        for (const [at, [row, isKept]] of imported.entries()) {
          const code = `KNEW${at}`
          const bookId = yield* openBook(code, clientId())
          yield* deposit(bookId, "1996-02-10", "100.00")
          yield* assignNumbers(bookId)
          const [book] = (yield* allBooks(Option.none())).filter((each) => each.code === code)
          if (book === undefined) return yield* Effect.dieMessage("no book")
          yield* value([book], "1996-02", options)
          yield* addRates([row])
          yield* close(bookId, "1996-02")
          expect([row.date, row.to, yield* kept(bookId, "1996-02")]).toEqual([row.date, row.to, isKept])
        }
      }),
  )

  it.effect(
    "is that of the close which locked it where it has none of its own, and no archive takes another",
    () =>
      Effect.gen(function* () {
        const book = yield* threeMonths("LOCKED", 1993)
        const days = ["04-30", "05-31", "06-30", "07-31", "08-31", "09-30", "10-31", "11-30", "12-31"]
        yield* addRates([...allOf(1993), ...days.map((day) => rate(`1993-${day}`, "0.90"))])
        yield* value([book], "1993-12", options)
        const first = yield* valuedAt(book.bookId)
        yield* addRates([rate("1993-06-15", "0.80")])
        for (const month of ["01", "03", "12"]) yield* close(book.bookId, `1993-${month}`)
        const refusals = Effect.map(
          query(`select ledger.archive_refusals(${book.bookId}, 1993) as why`),
          (rows) => rows.map(({ why }) => why),
        )
        expect(yield* refusals).toEqual([
          "has 1993-06 closed, but not valued in the base currency as it was closed",
        ])
        yield* value([book], "1993-12", options)
        expect(changed(first, yield* valuedAt(book.bookId))[0]).toBe("06")
        expect(yield* refusals).toEqual([])
        expect(
          yield* refused(
            `delete from valuation.months where book_id = ${book.bookId} and period = '1993-06-01'`,
          ),
        ).toBe("TO005")
      }),
  )

  it.effect("is that of its own last close, which knew no rate that only a later month's did", () =>
    Effect.gen(function* () {
      const { bookId, ...book } = yield* threeMonths("RECLOSED", 1995)
      yield* addRates(allOf(1995))
      yield* value([{ bookId, ...book }], null, options)
      yield* close(bookId, "1995-01")
      yield* addRates([rate("1995-01-20", "0.90")])
      yield* close(bookId, "1995-02")
      expect(yield* kept(bookId, "1995-01")).toBe(true)
      for (const month of ["1995-02", "1995-01"]) yield* setStatus(bookId, month, "open")
      yield* close(bookId, "1995-01")
      expect(yield* kept(bookId, "1995-01")).toBe(false)
    }),
  )

  it.effect("is written by a whole month in one transaction, and then immutable", () =>
    Effect.gen(function* () {
      const book = yield* threeMonths("RULES", 2007)
      yield* addRates(allOf(2007))
      yield* value([book], null, options)
      const of = `where book_id = ${book.bookId}`
      for (const table of ["entries", "postings"]) {
        expect(yield* refused(`update valuation.${table} set number = number ${of}`)).toBe("TO004")
        expect(yield* refused(`delete from valuation.${table} ${of}`)).toBe("TO004")
        expect(yield* refused(`truncate valuation.${table}`)).toBe("TO004")
      }
      expect(yield* refused(`update valuation.months set over = false ${of}`)).toBe("TO004")
      expect(yield* refused(`update valuation.months set state = '{}' ${of}`)).toBe("TO004")
      expect(yield* refused("truncate valuation.months")).toBe("TO004")
      expect(yield* refused("update valuation.rates set rate = 1")).toBe("TO004")
      expect(yield* refused("delete from valuation.rate_imports")).toBe("TO004")
      // A rate that was not known when a month was closed.
      const earlier =
        "insert into valuation.rate_imports (version, imported_at) values (4711, now() - interval '1 day')"
      expect(yield* refused(earlier)).toBe("TO004")
      const added = `insert into valuation.rates (date, from_currency, to_currency, version, rate, source)
        select '1999-01-01', 'USD', 'EUR', min(version), 1, 'by hand' from valuation.rate_imports`
      expect(yield* refused(added)).toBe("TO004")
      const [account] = yield* query(`select account_id from ledger.accounts ${of} and role = 'cash' limit 1`)
      const entry = (lines: ReadonlyArray<string>, count = lines.length) => `
        with header as (
          insert into valuation.entries (book_id, period, series, number, effective_date, line_count, kind, description)
          values (${book.bookId}, '2007-06-01', 'fx', 1, '2007-06-30', ${count}, 'fx_settlement', 'by hand'))
        insert into valuation.postings (book_id, period, series, number, line_number, account_id, role, amount)
        values ${lines.map((line, at) => `(${book.bookId}, '2007-06-01', 'fx', 1, ${at + 1}, ${line})`).join(", ")}`
      const cash = String(account?.account_id)
      const good = [`${cash}, null, 1.00`, "null, 'fx_realized', -1.00"]
      const month = `insert into valuation.months (book_id, period, base_currency, method, rates, max_rate_age_days, monetary_roles,
        fingerprint, previous, through_number, over)
        values (${book.bookId}, '2007-06-01', 'EUR', 'average', 'file', 0, 'cash', 'f', '', 0, true); `
      const undone = (statement: string) =>
        Effect.flatMap(Database, (database) =>
          database.transaction(
            Effect.zipRight(query(`${month}${statement}`), Effect.fail({ sqlstate: "accepted" })),
          ),
        ).pipe(
          Effect.flip,
          Effect.map(({ sqlstate }) => sqlstate),
        )
      // No month is being written.
      expect(yield* refused(entry(good))).toBe("TO004")
      expect(yield* undone(entry([`${cash}, null, 1.00`, "null, 'fx_realized', -0.99"]))).toBe("TO002")
      expect(yield* undone(entry([`${cash}, null, 1.001`, "null, 'fx_realized', -1.001"]))).toBe("23514")
      expect(yield* undone(entry([`${cash}, null, 0`, "null, 'fx_realized', 0"]))).toBe("23514")
      expect(yield* undone(entry(good, 3))).toBe("TO001")
      expect(yield* undone(entry(["-1, null, 1.00", "null, 'fx_realized', -1.00"]))).toBe("TO003")
      const header = (series: string, kept: string, text: string) => `insert into valuation.entries
        (book_id, period, series, number, effective_date, line_count, kind, description, entry_id)
        select ${book.bookId}, '2007-06-01', '${series}', 1, '2007-06-30', 2, ${text}, ${text}, ${kept}`
      expect(yield* undone(header("fx", "null", "'by hand'")), "without its lines").toBe("TO001")
      const january = `(select entry_id from ledger.journal_numbers ${of} and period = '2007-01-01' and number = 1)`
      const elsewhere = `with header as (${header("journal", january, "null")}) insert into valuation.postings
        (book_id, period, series, number, line_number, account_id, role, amount)
        values ${good.map((line, at) => `(${book.bookId}, '2007-06-01', 'journal', 1, ${at + 1}, ${line})`).join(", ")}`
      expect(yield* undone(elsewhere), "another month's entry").toBe("TO003")
      yield* deposit(book.bookId, "2007-06-10", "10.00")
      yield* assignNumbers(book.bookId)
      const renumbered = elsewhere
        .replaceAll("'journal', 1,", "'journal', 2,")
        .replace("2007-01-01", "2007-06-01")
      expect(yield* undone(renumbered), "another number").toBe("TO003")
      expect(yield* undone(entry(good))).toBe("accepted")
      const late = (period: string, series: string) => `
        insert into valuation.postings (book_id, period, series, number, line_number, account_id, role, amount)
        values ${good.map((line, at) => `(${book.bookId}, '${period}-01', '${series}', 1, ${at + 3}, ${line})`).join(", ")}`
      const alone = late("2007-06", "fx").replace("1, 3,", "1, 1,").replace("1, 4,", "1, 2,")
      expect(yield* undone(alone), "lines without their entry").toBe("TO001")
      // Lines that are added to an existing entry, in a transaction of their own or in the one that wrote it.
      expect(yield* refused(late("2007-01", "journal"))).toBe("TO004")
      expect(yield* undone(`${entry(good)}; ${late("2007-06", "fx")}`)).toBe("TO001")
      const finished = `update valuation.months set state = '{}' ${of} and period = '2007-06-01'`
      expect(yield* undone(finished)).toBe("accepted")
      expect(yield* undone(finished.replace("set", "set over = false,")), "with anything else").toBe("TO004")
      expect(yield* undone(`${finished}; ${finished}`), "twice").toBe("TO004")
      yield* query(month)
      expect(yield* refused(finished), "the state of a month that another transaction wrote").toBe("TO004")
    }),
  )

  it.effect("never changes the native books", () =>
    Effect.gen(function* () {
      const book = yield* threeMonths("NATIVE", 2008)
      const books = `select (select count(*) from ledger.postings where book_id = ${book.bookId}) as postings,
        (select count(*) from ledger.journal_entries where book_id = ${book.bookId}) as entries,
        (select sum(debit) from ledger.balances where book_id = ${book.bookId}) as debit,
        (select count(*) from ledger.accounts where book_id = ${book.bookId}) as accounts`
      const before = yield* query(books)
      yield* addRates([...allOf(2008), rate("2008-02-29", "0.90")])
      yield* value([book], null, options)
      expect(yield* query(books)).toEqual(before)
    }),
  )
})
