/** The order in which a day's entries are valued: a correction comes after its entry, whenever either was read. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { decodeSync } from "effect/Schema"
import { allBooks } from "../../src/Book.ts"
import { Database } from "../../src/Database.ts"
import { Content } from "../../src/Settings/Content.ts"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import { value } from "../../src/Valuation.ts"
import { assignNumbers, openBook } from "../Export/Books.ts"
import { statement as query } from "../support/statement.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const { accounting, chart } = decodeSync(Content)({})

const receivable = "77777777-0000-4000-8000-000000000001"

interface Interest {
  readonly entry: number
  readonly date: string
  readonly sequence: number
  readonly correction: number
  readonly amount: string
}

/** Interest of the receivable: booked, or (with a negative amount) taken back. */
const post = (bookId: number, { amount, correction, date, entry, sequence }: Interest) =>
  query(`with header as (
    insert into ledger.journal_entries (book_id, entry_id, source_type, source_id, kind, sequence, correction,
      effective_date, occurred_at, line_count, resource_type, resource_id, description, run_id)
    values (${bookId}, ${entry}, 'receivable_version', '${receivable}',
      '${correction === 0 ? "accrual" : "reclassification"}', ${sequence}, ${correction}, '${date}',
      '${date}T09:30:00Z', 2, 'RECEIVABLE', '${receivable}', 'Interest', 1))
    insert into ledger.postings (book_id, entry_id, line_number, account_id, currency, amount)
    select ${bookId}, ${entry}, l.number, a.account_id, 'USD', l.amount
    from (values (1::smallint, 'receivable_interest', ${amount}), (2::smallint, 'interest_income', -(${amount})))
      as l (number, role, amount)
    join ledger.accounts a on a.book_id = ${bookId} and a.role = l.role`)

const rate = (date: string, text: string) => ({ date, from: "USD", to: "EUR", rate: text, source: "test" })

/** Each at 0.90 where it comes, and at what all of it stands at (100.00 at 80.00 before) where it goes. */
const parts = [
  ["100.00", "90.00"],
  ["-50.00", "-42.50"],
  ["30.00", "27.00"],
  ["-20.00", "-17.17"],
  ["10.00", "9.00"],
  ["-5.00", "-4.30"],
] as const

/** An index could return the rows in this order by itself. Without indexes the order must come from the query. */
const withoutIndexes = `select set_config('enable_indexscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
  set_config('enable_indexonlyscan', 'off', true)`

layer(TestDatabase.layer, { excludeTestServices: true })("the order of a day", (it) => {
  it.effect(
    "values corrections of a receivable's entry after it and in turn, however they were numbered",
    () =>
      Effect.gen(function* () {
        const database = yield* Database
        const bookId = yield* openBook("ORDER", "55555555-0000-4000-8000-000000000077")
        yield* query(`insert into ledger.accounts (book_id, role, currency, code, name)
        values (${bookId}, 'receivable_interest', 'USD', '1210', 'Assets:Interest'),
          (${bookId}, 'interest_income', 'USD', '4010', 'Income:Interest')`)
        const [day, next] = ["2009-01-10", "2009-01-20"]
        yield* post(bookId, { entry: 1, date: day, sequence: 64, correction: 0, amount: "100.00" })
        for (const [at, correction] of [3, 1, 5, 0, 4, 2].entries()) {
          const [amount = ""] = parts[correction] ?? []
          yield* post(bookId, { entry: 2 + at, date: next, sequence: 320, correction, amount })
          yield* assignNumbers(bookId)
        }
        yield* addRates([rate(day, "0.80"), rate(next, "0.90"), rate("2009-01-31", "0.90")])
        const [book] = (yield* allBooks(Option.none())).filter(({ code }) => code === "ORDER")
        if (book === undefined) return yield* Effect.dieMessage("no book")
        const valued = value([book], null, { baseCurrency: "EUR", settings: accounting.valuation, chart })
        yield* database.transaction(Effect.zipRight(query(withoutIndexes), valued))
        const rows = yield* query(`select p.amount::text as amount
        from valuation.entries e
        join ledger.journal_entries j on j.book_id = e.book_id and j.entry_id = e.entry_id
        join valuation.postings p
          on p.book_id = e.book_id and p.period = e.period and p.series = e.series and p.number = e.number
        where e.book_id = ${bookId} and p.line_number = 1 order by j.sequence, j.correction`)
        expect(rows.map(({ amount }) => amount)).toEqual(["80.00", ...parts.map(([, worth]) => worth)])
      }),
  )
})
