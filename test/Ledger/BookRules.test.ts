/** Every rule of "the database refuses bad books", tried in plain SQL, without Tieout's own code in between. */
import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Either } from "effect"
import { currencyScales } from "../../src/Common/Currency.ts"
import { Database } from "../../src/Database.ts"
import { closePeriod, reopenPeriod } from "../support/Closing.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"

const account = "00000000-0000-4000-8000-000000000001"
const entryUuid = (at: number) => `10000000-0000-4000-8000-${String(at).padStart(12, "0")}`

/** Runs SQL as it stands; Left is the SQLSTATE that refused it. */
const run = (statement: string) =>
  Effect.flatMap(Database, (database) => database.query("Test.run", (sql) => sql.unsafe(statement))).pipe(
    Effect.mapError((error) => error.sqlstate),
    Effect.either,
  )

const must = (statement: string) =>
  Effect.flatMap(Database, (database) =>
    database.query("Test.must", (sql) => sql.unsafe<Array<Record<string, unknown>>>(statement)),
  ).pipe(Effect.orDie)

let books = 0

/** A book with a USD cash account (1), clearing (2), fees (3) and a EUR clearing account (4), and mirrored entries 1 to 9. */
const book = Effect.gen(function* () {
  books += 1
  const [row] =
    yield* must(`insert into mirror.books (connection, code, name) values ('c${books}', 'B${books}', 'Book')
    returning book_id`)
  const id = Number(row?.book_id)
  const base = id * 100
  yield* must(`
    insert into ledger.accounts (book_id, account_id, role, currency, partner_account_id, code, name)
    overriding system value values
      (${id}, ${base + 1}, 'cash', 'USD', '${account}', '1010', 'Cash'),
      (${id}, ${base + 2}, 'deposits_clearing', 'USD', null, '1020', 'Clearing'),
      (${id}, ${base + 3}, 'fees', 'USD', null, '6850', 'Fees'),
      (${id}, ${base + 4}, 'deposits_clearing', 'EUR', null, '1020', 'Clearing EUR');
    insert into mirror.statement_entries (book_id, account_id, position, entry_id, type, amount, currency, balance_after,
      occurred_at, run_id)
    select ${id}, '${account}', n, ('10000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'CREDIT', 10, 'USD',
      n * 10, '2026-10-05T00:00:00Z', 1 from generate_series(1, 9) n`)
  return {
    id,
    cash: base + 1,
    clearing: base + 2,
    fees: base + 3,
    euro: base + 4,
  }
})
type Book = Effect.Effect.Success<typeof book>

interface Draft {
  readonly lines: ReadonlyArray<readonly [account: number, amount: string, currency?: string]>
  readonly date?: string
  readonly lineCount?: number
  readonly source?: string
  readonly sourceType?: string
  readonly sequence?: number
  /** The month that the entry is late for. */
  readonly late?: string
  /** When it happened; otherwise at the start of the day that it is dated to. */
  readonly at?: string
}

const header = ({ id }: Book, entryId: number, draft: Draft): string =>
  `insert into ledger.journal_entries (book_id, entry_id, source_type, source_id, kind, sequence, effective_date,
     occurred_at, late_for, line_count, partner_account_id, position, description)
   values (${id}, ${entryId}, '${draft.sourceType ?? "statement_entry"}', '${draft.source ?? entryUuid(entryId)}',
     '${(draft.sequence ?? 0) > 0 ? "reclassification" : "deposit"}', ${draft.sequence ?? 0},
     '${draft.date ?? "2026-10-05"}', '${draft.at ?? `${draft.late ?? draft.date ?? "2026-10-05"}T00:00:00Z`}', ${draft.late === undefined ? "null" : `'${draft.late}'`},
     ${draft.lineCount ?? draft.lines.length}, '${account}', ${entryId}, 'Deposit')`

const lines = ({ id }: Book, entryId: number, draft: Draft, first = 1): string =>
  `insert into ledger.postings (book_id, entry_id, line_number, account_id, currency, amount) values ${draft.lines
    .map(
      ([to, amount, currency], at) =>
        `(${id}, ${entryId}, ${first + at}, ${to}, '${currency ?? "USD"}', ${amount})`,
    )
    .join(", ")}`

/** Header and lines in one statement, as the rules ask. */
const posting = (of: Book, entryId: number, draft: Draft): string =>
  draft.lines.length === 0
    ? header(of, entryId, draft)
    : `with header as (${header(of, entryId, draft)}) ${lines(of, entryId, draft)}`

const good = (of: Book): Draft => ({
  lines: [
    [of.cash, "10"],
    [of.clearing, "-10"],
  ],
})

const refused = (sqlstate: string) => Either.left(sqlstate)
const taken = Either.right([])

layer(TestDatabase.layer, { excludeTestServices: true })("the database", (it) => {
  it.effect("accepts a good entry, updates the balances and queues it for a number", () =>
    Effect.gen(function* () {
      const of = yield* book
      expect(Either.isRight(yield* run(posting(of, 1, good(of))))).toBe(true)
      expect(
        Either.isRight(
          yield* run(
            posting(of, 2, {
              lines: [
                [of.cash, "10"],
                [of.fees, "2.5"],
                [of.clearing, "-12.50"],
              ],
            }),
          ),
        ),
      ).toBe(true)
      expect(
        yield* must(`select account_id - ${of.id * 100} as account, period::text, debit, credit
        from ledger.balances where book_id = ${of.id} order by 1`),
      ).toEqual([
        { account: 1, period: "2026-10-01", debit: "20", credit: "0" },
        { account: 2, period: "2026-10-01", debit: "0", credit: "22.50" },
        { account: 3, period: "2026-10-01", debit: "2.5", credit: "0" },
      ])
      expect(
        yield* must(`select entry_id from ledger.unnumbered where book_id = ${of.id} order by 1`),
      ).toEqual([{ entry_id: 1n }, { entry_id: 2n }])
    }),
  )

  it.effect("refuses an entry that does not balance", () =>
    Effect.gen(function* () {
      const of = yield* book
      expect(
        yield* run(
          posting(of, 1, {
            lines: [
              [of.cash, "10"],
              [of.clearing, "-9.99"],
            ],
          }),
        ),
      ).toEqual(refused("TO002"))
    }),
  )

  it.effect("refuses an entry that balances only across currencies", () =>
    Effect.gen(function* () {
      const of = yield* book
      const draft: Draft = {
        lines: [
          [of.cash, "10"],
          [of.euro, "-10", "EUR"],
        ],
      }
      expect(yield* run(posting(of, 1, draft))).toEqual(refused("TO002"))
    }),
  )

  it.effect("refuses a line in another currency than its account's", () =>
    Effect.gen(function* () {
      const of = yield* book
      const draft: Draft = {
        lines: [
          [of.cash, "10"],
          [of.euro, "-10"],
        ],
      }
      expect(yield* run(posting(of, 1, draft))).toEqual(refused("TO003"))
    }),
  )

  it.effect("refuses more decimals than the currency has, trailing zeros not counted", () =>
    Effect.gen(function* () {
      const of = yield* book
      const draft: Draft = {
        lines: [
          [of.cash, "10"],
          [of.fees, "0.001"],
          [of.clearing, "-10.001"],
        ],
      }
      expect(yield* run(posting(of, 1, draft))).toEqual(refused("TO003"))
      const zeros: Draft = {
        lines: [
          [of.cash, "10.000"],
          [of.fees, "0.250"],
          [of.clearing, "-10.2500"],
        ],
      }
      expect(Either.isRight(yield* run(posting(of, 1, zeros)))).toBe(true)
    }),
  )

  it.effect("refuses an account of another book and one that does not exist", () =>
    Effect.gen(function* () {
      const of = yield* book
      const other = yield* book
      const draft: Draft = {
        lines: [
          [of.cash, "10"],
          [other.clearing, "-10"],
        ],
      }
      expect(yield* run(posting(of, 1, draft))).toEqual(refused("TO003"))
    }),
  )

  it.effect("refuses zero, NaN and infinite amounts", () =>
    Effect.gen(function* () {
      const of = yield* book
      for (const amount of ["0", "'NaN'", "'Infinity'", "'-Infinity'"]) {
        const draft: Draft = {
          lines: [
            [of.cash, "10"],
            [of.clearing, "-10"],
            [of.fees, amount],
          ],
        }
        expect(yield* run(posting(of, 1, draft))).toEqual(refused("23514"))
      }
    }),
  )

  it.effect("refuses an entry without lines, and lines without an entry", () =>
    Effect.gen(function* () {
      const of = yield* book
      expect(yield* run(header(of, 1, good(of)))).toEqual(refused("TO001"))
      expect(yield* run(lines(of, 1, good(of)))).toEqual(refused("TO001"))
      yield* must(posting(of, 1, good(of)))
      expect(yield* run(header(of, 2, good(of))), "beside one with lines").toEqual(refused("TO001"))
      expect(yield* run(lines(of, 2, good(of))), "beside an entry").toEqual(refused("TO001"))
    }),
  )

  it.effect("refuses an entry whose lines come in two statements, even in one transaction", () =>
    Effect.gen(function* () {
      const of = yield* book
      expect(yield* run(`begin; ${header(of, 1, good(of))}; ${lines(of, 1, good(of))}; commit`)).toEqual(
        refused("TO001"),
      )
      yield* run("rollback")
      expect(yield* run(posting(of, 1, { ...good(of), lineCount: 3 }))).toEqual(refused("TO001"))
    }),
  )

  it.effect("refuses lines that are added to an old entry", () =>
    Effect.gen(function* () {
      const of = yield* book
      yield* must(posting(of, 1, good(of)))
      const more: Draft = {
        lines: [
          [of.fees, "1"],
          [of.clearing, "-1"],
        ],
      }
      expect(yield* run(lines(of, 1, more, 3))).toEqual(refused("TO001"))
      expect(yield* run(lines(of, 1, more, 1))).toEqual(refused("23505"))
    }),
  )

  it.effect("refuses lines that are not numbered from 1 without a gap", () =>
    Effect.gen(function* () {
      const of = yield* book
      const numbered = (first: number, last: number) =>
        posting(of, 1, good(of)).replace(", 1, 1, ", `, 1, ${first}, `).replace(", 1, 2, ", `, 1, ${last}, `)
      expect(yield* run(numbered(1, 3))).toEqual(refused("TO001"))
      expect(yield* run(numbered(0, 2))).toEqual(refused("TO001"))
      expect(yield* run(numbered(1, 2))).toEqual(taken)
    }),
  )

  it.effect("refuses to post one source twice, whatever the second entry is called", () =>
    Effect.gen(function* () {
      const of = yield* book
      yield* must(posting(of, 1, good(of)))
      expect(yield* run(posting(of, 2, { ...good(of), source: entryUuid(1) }))).toEqual(refused("23505"))
    }),
  )

  it.effect("refuses cash that differs from the statement in amount or account", () =>
    Effect.gen(function* () {
      const of = yield* book
      expect(
        yield* run(
          posting(of, 1, {
            lines: [
              [of.cash, "9"],
              [of.clearing, "-9"],
            ],
          }),
        ),
      ).toEqual(refused("TO007"))
      expect(
        yield* run(
          posting(of, 1, {
            lines: [
              [of.cash, "-10"],
              [of.clearing, "10"],
            ],
          }),
        ),
      ).toEqual(refused("TO007"))
      expect(
        yield* run(
          posting(of, 1, {
            lines: [
              [of.fees, "10"],
              [of.clearing, "-10"],
            ],
          }),
        ),
      ).toEqual(refused("TO007"))
      expect(
        yield* run(
          posting(of, 1, {
            lines: [
              [of.cash, "10"],
              [of.cash, "10"],
              [of.clearing, "-20"],
            ],
          }),
        ),
      ).toEqual(refused("TO007"))
      expect(yield* run(posting(of, 1, { ...good(of), source: entryUuid(77) }))).toEqual(refused("TO007"))
      expect(yield* run(posting(of, 1, { ...good(of), sourceType: "manual" }))).toEqual(refused("TO007"))
      expect(yield* run(posting(of, 1, { ...good(of), sequence: 1 }))).toEqual(refused("TO007"))
    }),
  )

  it.effect("refuses cash in two lines, of a held entry, and on another account than the service's", () =>
    Effect.gen(function* () {
      const of = yield* book
      const other = account.replace(/1$/, "2")
      const cash2 = of.cash + 10
      yield* must(`
        insert into ledger.accounts (book_id, account_id, role, currency, partner_account_id, code, name)
        overriding system value values (${of.id}, ${cash2}, 'cash', 'USD', '${other}', '1011', 'Cash');
        insert into mirror.statement_entries (book_id, account_id, position, entry_id, type, amount, currency,
          balance_after, occurred_at, held, run_id)
        values (${of.id}, '${account}', 1000, '${entryUuid(1000)}', 'CREDIT', 10, 'USD', 1, now(), true, 1)`)
      const inParts: Draft = {
        lines: [
          [of.cash, "4"],
          [of.cash, "6"],
          [of.clearing, "-10"],
        ],
      }
      expect(yield* run(posting(of, 1, inParts))).toEqual(refused("TO007"))
      expect(yield* run(posting(of, 1, { ...good(of), source: entryUuid(1000) }))).toEqual(refused("TO007"))
      const there: Draft = {
        lines: [
          [cash2, "10"],
          [of.clearing, "-10"],
        ],
      }
      const asIfThere = posting(of, 1, there).replaceAll(`'${account}'`, `'${other}'`)
      expect(yield* run(asIfThere)).toEqual(refused("TO007"))
      const opening = { sourceType: "opening", source: account }
      expect(yield* run(posting(of, 1, { ...there, ...opening }))).toEqual(refused("TO007"))
      const onBoth: Draft = {
        ...opening,
        lines: [
          [of.cash, "10"],
          [cash2, "10"],
          [of.clearing, "-20"],
        ],
      }
      expect(yield* run(posting(of, 1, onBoth))).toEqual(refused("TO007"))
    }),
  )

  it.effect("refuses cash in another currency than the statement entry's", () =>
    Effect.gen(function* () {
      const of = yield* book
      yield* must(`
        insert into mirror.statement_entries (book_id, account_id, position, entry_id, type, amount, currency,
          balance_after, occurred_at, held, run_id)
        values (${of.id}, '${account}', 1000, '${entryUuid(1000)}', 'CREDIT', 10, 'EUR', 1, now(), false, 1)`)
      const inDollars = { ...good(of), source: entryUuid(1000) }
      expect(yield* run(posting(of, 1, inDollars))).toEqual(refused("TO007"))
    }),
  )

  it.effect("keeps what stands in transit of a conversion's other currency", () =>
    Effect.gen(function* () {
      const of = yield* book
      const [sold, bought] = [of.cash + 10, of.cash + 11]
      yield* must(`
        insert into ledger.accounts (book_id, account_id, role, currency, partner_account_id, code, name)
        overriding system value values (${of.id}, ${sold}, 'conversions_in_transit', 'USD', null, '1040', 'Transit'),
          (${of.id}, ${bought}, 'conversions_in_transit', 'EUR', null, '1040', 'Transit EUR')`)
      const moves = [
        [sold, "10", "USD", of.fees],
        [bought, "-9", "EUR", of.euro],
        [sold, "-10", "USD", of.fees],
      ] as const
      for (const [at, [transit, amount, currency, against]] of moves.entries()) {
        const draft: Draft = {
          ...{ source: entryUuid(1), sequence: at + 1 },
          lines: [
            [transit, amount, currency],
            [against, `-(${amount})`, currency],
          ],
        }
        yield* must(posting(of, at + 1, draft))
      }
      expect(yield* must(`select currency, amount from ledger.transit where book_id = ${of.id}`)).toEqual([
        { currency: "EUR", amount: "-9" },
      ])
    }),
  )

  it.effect.each(["journal_entries", "postings"])("refuses UPDATE, DELETE and TRUNCATE of %s", (table) =>
    Effect.gen(function* () {
      const of = yield* book
      yield* must(posting(of, 1, good(of)))
      expect(yield* run(`update ledger.${table} set book_id = book_id`)).toEqual(refused("TO004"))
      expect(yield* run(`delete from ledger.${table}`)).toEqual(refused("TO004"))
      expect(yield* run(`truncate ledger.${table}`)).toEqual(refused("TO004"))
    }),
  )

  it.effect("refuses writing balances, the queue of numbers and the close by hand", () =>
    Effect.gen(function* () {
      const of = yield* book
      yield* must(posting(of, 1, good(of)))
      expect(yield* run(`update ledger.balances set debit = debit + 1`)).toEqual(refused("TO004"))
      expect(yield* run(`delete from ledger.unnumbered`)).toEqual(refused("TO004"))
      expect(yield* run(`update ledger.locks set closed_through = '2026-09-01'`)).toEqual(refused("TO004"))
    }),
  )

  it.effect("keeps what an account is, and lets its name change", () =>
    Effect.gen(function* () {
      const of = yield* book
      expect(
        Either.isRight(yield* run(`update ledger.accounts set name = 'Other' where account_id = ${of.fees}`)),
      ).toBe(true)
      for (const change of [
        "role = 'trading'",
        "currency = 'EUR'",
        "rule_code = '4120'",
        `partner_account_id = '${account}'`,
      ]) {
        const changed = run(`update ledger.accounts set ${change} where account_id = ${of.fees}`)
        expect(yield* changed, change).toEqual(refused("TO004"))
      }
      expect(yield* run(`delete from ledger.accounts where account_id = ${of.fees}`)).toEqual(
        refused("TO004"),
      )
    }),
  )

  it.effect("keeps a posted statement entry, and lets a held one be released", () =>
    Effect.gen(function* () {
      const of = yield* book
      const where = `where book_id = ${of.id} and position = 9`
      expect(yield* run(`update mirror.statement_entries set amount = 11 ${where}`)).toEqual(refused("TO004"))
      expect(yield* run(`delete from mirror.statement_entries ${where}`)).toEqual(refused("TO004"))
      yield* must(`insert into mirror.statement_entries (book_id, account_id, position, entry_id, type, amount, currency,
        balance_after, occurred_at, held, run_id)
        values (${of.id}, '${account}', 1000, '${entryUuid(1000)}', 'DEBIT', 1, 'USD', 1, now(), true, 1)`)
      const held = `where book_id = ${of.id} and position = 1000`
      for (const change of ["entry_id = gen_random_uuid()", "account_id = gen_random_uuid()"])
        expect(yield* run(`update mirror.statement_entries set ${change} ${held}`), change).toEqual(
          refused("TO004"),
        )
      expect(yield* run(`delete from mirror.statement_entries ${held}`)).toEqual(refused("TO004"))
      expect(
        Either.isRight(yield* run(`update mirror.statement_entries set held = false, position = 10 ${held}`)),
      ).toBe(true)
    }),
  )

  it.effect("gives gapless numbers per period in the order of the books, whatever the order of posting", () =>
    Effect.gen(function* () {
      const of = yield* book
      yield* must(posting(of, 3, { ...good(of), date: "2026-10-02" }))
      yield* must(posting(of, 2, { ...good(of), date: "2026-11-01" }))
      yield* must(posting(of, 1, { ...good(of), date: "2026-10-03" }))
      expect(yield* must(`select ledger.assign_numbers(array[${of.id}]) as given`)).toEqual([{ given: 3n }])
      yield* must(posting(of, 4, { ...good(of), date: "2026-10-01" }))
      yield* must(`select ledger.assign_numbers(array[${of.id}])`)
      expect(
        yield* must(`select entry_id, period::text, number from ledger.journal_numbers where book_id = ${of.id}
        order by period, number`),
      ).toEqual([
        { entry_id: 3n, period: "2026-10-01", number: 1 },
        { entry_id: 1n, period: "2026-10-01", number: 2 },
        { entry_id: 4n, period: "2026-10-01", number: 3 },
        { entry_id: 2n, period: "2026-11-01", number: 1 },
      ])
      expect(yield* must(`select count(*) from ledger.unnumbered where book_id = ${of.id}`)).toEqual([
        { count: 0n },
      ])
    }),
  )

  it.effect("keeps in the queue what got no number: of other books, and what a step leaves out", () =>
    Effect.gen(function* () {
      const [of, other] = [yield* book, yield* book]
      for (const one of [of, other]) yield* must(posting(one, 1, good(one)))
      yield* must(posting(of, 2, good(of)))
      const queued = must(`select book_id - ${of.id} as book, entry_id from ledger.unnumbered
        where book_id in (${of.id}, ${other.id}) order by 1, 2`)
      yield* must(`select set_config('tieout.numbering', nextval('ledger.numbering_step')::text, true);
        insert into ledger.journal_numbers select ${of.id}, 1, '2026-10-01', 1, last_value from ledger.numbering_step`)
      expect(yield* queued).toEqual([
        { book: 0, entry_id: 2n },
        { book: 1, entry_id: 1n },
      ])
      yield* must(`select ledger.assign_numbers(array[${of.id}])`)
      expect(yield* queued).toEqual([{ book: 1, entry_id: 1n }])
    }),
  )

  it.effect(
    "numbers the entries of a day by account, place in its statement, movement, version and source",
    () =>
      Effect.gen(function* () {
        const of = yield* book
        const source = (last: string) => `20000000-0000-4000-8000-00000000000${last}`
        const [one, two] = [`'${account}'`, `'${source("f")}'`]
        // In the order of their numbers: type, source, sequence, correction, account and position.
        const ordered = [
          ["statement_entry", "9", 1, 0, one, "1"],
          ["manual", "8", 1, 0, one, "2"],
          ["statement_entry", "8", 1, 0, one, "2"],
          ["statement_entry", "8", 2, 0, one, "2"],
          ["statement_entry", "7", 1, 0, two, "1"],
          ["receivable_version", "6", 64, 0, "null", "null"],
          ["receivable_version", "5", 64, 1, "null", "null"],
          ["receivable_version", "6", 64, 1, "null", "null"],
          ["receivable_version", "5", 128, 0, "null", "null"],
          ["resource_version", "1", 1, 0, "null", "null"],
          ["resource_version", "2", 0, 0, "null", "null"],
          ["resource_version", "2", 1, 0, "null", "null"],
        ] as const
        // Neither the order of posting nor that of the identifiers is that of the numbers.
        for (const at of [7, 2, 11, 0, 9, 5, 3, 10, 1, 8, 6, 4]) {
          const [type, last, sequence, correction, on, position] = ordered[at] ?? ordered[0]
          const id = 100 - at
          yield* must(`with header as (
          insert into ledger.journal_entries (book_id, entry_id, source_type, source_id, kind, sequence, correction,
            effective_date, occurred_at, line_count, partner_account_id, position, description)
          values (${of.id}, ${id}, '${type}', '${source(last)}', 'reclassification', ${sequence}, ${correction}, '2026-10-05',
            '2026-10-05T00:00:00Z', 2, ${on}, ${position}, ''))
          ${lines(of, id, {
            lines: [
              [of.fees, "1"],
              [of.clearing, "-1"],
            ],
          })}`)
        }
        yield* must(`select ledger.assign_numbers(array[${of.id}])`)
        expect(
          yield* must(
            `select (100 - entry_id)::integer as at from ledger.journal_numbers where book_id = ${of.id} order by number`,
          ),
        ).toEqual(ordered.map((_, at) => ({ at })))
      }),
  )

  it.effect("refuses a number with a gap, of another period, or changed afterwards", () =>
    Effect.gen(function* () {
      const of = yield* book
      yield* must(posting(of, 1, good(of)))
      yield* must(posting(of, 2, good(of)))
      const numbers = (...given: ReadonlyArray<readonly [entry: number, period: string, number: number]>) =>
        `insert into ledger.journal_numbers values ${given
          .map(([entry, period, number]) => `(${of.id}, ${entry}, '${period}-01', ${number}, 1)`)
          .join(", ")}`
      expect(yield* run(numbers([1, "2026-10", 1])), "without a step").toEqual(refused("TO006"))
      const step = "select set_config('tieout.numbering', '1', true);"
      for (const given of [
        numbers([1, "2026-10", 2]),
        numbers([1, "2026-10", 1], [2, "2026-10", 3]),
        numbers([1, "2026-10", 0], [2, "2026-10", 1]),
        numbers([1, "2026-10", 0], [2, "2026-10", 2]),
        numbers([1, "2026-11", 1]),
      ])
        expect(yield* run(step + given), given).toEqual(refused("TO006"))
      yield* must(`select ledger.assign_numbers(array[${of.id}])`)
      expect(yield* run(`update ledger.journal_numbers set number = 2`)).toEqual(refused("TO004"))
      expect(yield* run(`delete from ledger.journal_numbers`)).toEqual(refused("TO004"))
      expect(yield* run(`update ledger.periods set last_number = 7 where book_id = ${of.id}`)).toEqual(
        refused("TO006"),
      )
      const begun = `insert into ledger.periods (book_id, period, last_number) values (${of.id}, '2026-12-01', 1)`
      expect(yield* run(begun)).toEqual(refused("TO006"))
      const afterwards = `select ledger.assign_numbers(array[${of.id}]); ${posting(of, 4, good(of))};
        insert into ledger.journal_numbers select ${of.id}, 4, '2026-10-01', 4, max(numbering) from ledger.journal_numbers`
      expect(yield* run(`${posting(of, 3, good(of))}; ${afterwards}`), "the step has ended").toEqual(
        refused("TO006"),
      )
    }),
  )

  it.effect("gives no numbers in a step that was exported already, which no later export would read", () =>
    Effect.gen(function* () {
      const of = yield* book
      yield* must(posting(of, 1, good(of)))
      const number = `select ledger.assign_numbers(array[${of.id}])`
      const exported = (ahead: number) => `insert into export.batches
        (book_id, batch, scope, formats, folder, through_numbering, manifest, who, manifest_sha256)
        select ${of.id}, 1, 'all', '{}', '.', last_value + ${ahead}, '{}', 'test', repeat('0', 64) from ledger.numbering_step`
      for (const ahead of [2, 1])
        expect(yield* run(`${exported(ahead)}; ${number}`), `${ahead} ahead`).toEqual(refused("TO006"))
      const byHand = (step: string) => `select nextval('ledger.numbering_step');
        select set_config('tieout.numbering', (${step})::text, true);
        insert into ledger.journal_numbers select ${of.id}, 1, '2026-10-01', 1, ${step}`
      const last = "(select last_value from ledger.numbering_step)"
      expect(yield* run(`${exported(1)}; ${byHand(last)}`), "exported already").toEqual(refused("TO006"))
      expect(yield* run(byHand(`${last} + 1`)), "still to come").toEqual(refused("TO006"))
      expect(Either.isRight(yield* run(`${exported(0)}; ${number}`))).toBe(true)
    }),
  )

  const close = (of: Book, period: string) => closePeriod(of.id, period.slice(0, 7))

  it.effect("refuses a posting into a closed period, and accepts it as late in the next open one", () =>
    Effect.gen(function* () {
      const of = yield* book
      yield* must(posting(of, 1, good(of)))
      expect(yield* run(close(of, "2026-10-01"))).toEqual(refused("TO008"))
      yield* must(`select ledger.assign_numbers(array[${of.id}])`)
      yield* must(close(of, "2026-10-01"))
      expect(yield* run(posting(of, 2, good(of)))).toEqual(refused("TO005"))
      expect(yield* run(posting(of, 2, { ...good(of), date: "2026-09-30" }))).toEqual(refused("TO005"))
      const late: Draft = { ...good(of), date: "2026-11-01", late: "2026-10-01" }
      expect(Either.isRight(yield* run(posting(of, 2, late)))).toBe(true)
      const notLate: Draft = { ...good(of), date: "2026-11-01", late: "2026-11-01" }
      expect(yield* run(posting(of, 3, notLate))).toEqual(refused("TO005"))
      const sooner: Draft = { ...late, late: "2026-09-01", at: "2026-10-05T00:00:00Z" }
      expect(yield* run(posting(of, 3, sooner))).toEqual(refused("TO010"))
      const later: Draft = { ...late, date: "2026-11-02" }
      expect(yield* run(posting(of, 3, later))).toEqual(refused("TO010"))
      const silent: Draft = { ...good(of), date: "2026-11-01", at: "2026-10-05T00:00:00Z" }
      expect(yield* run(posting(of, 3, silent))).toEqual(refused("TO010"))
      expect(yield* run(posting(of, 3, { ...good(of), date: "2026-11-05" }))).toEqual(taken)
    }),
  )

  it.effect("refuses a date that is not the day of the book's own time zone", () =>
    Effect.gen(function* () {
      const of = yield* book
      yield* must(`update ledger.locks set time_zone = 'America/New_York' where book_id = ${of.id}`)
      const newYearsEve: Draft = { ...good(of), at: "2027-01-01T04:59:59.999999Z" }
      expect(yield* run(posting(of, 1, { ...newYearsEve, date: "2027-01-01" }))).toEqual(refused("TO010"))
      expect(yield* run(posting(of, 1, { ...newYearsEve, date: "2026-12-30" }))).toEqual(refused("TO010"))
      expect(yield* run(posting(of, 1, { ...newYearsEve, date: "2026-12-31" }))).toEqual(taken)
      const manual: Draft = {
        ...newYearsEve,
        sourceType: "manual",
        sequence: 1,
        lines: [
          [of.fees, "1"],
          [of.clearing, "-1"],
        ],
      }
      expect(yield* run(posting(of, 2, { ...manual, date: "2027-01-01" }))).toEqual(refused("TO010"))
      expect(yield* run(posting(of, 2, { ...manual, date: "2026-12-31" }))).toEqual(taken)
    }),
  )

  it.effect("keeps a book's time zone, and that of a book that was dated in UTC without one", () =>
    Effect.gen(function* () {
      const of = yield* book
      yield* must(posting(of, 1, good(of)))
      const zone = (name: string) => `update ledger.locks set time_zone = '${name}' where book_id = ${of.id}`
      const { id } = yield* book
      const first = (name: string) =>
        run(`update ledger.locks set time_zone = '${name}' where book_id = ${id}; rollback`)
      for (const name of ["CET", "eet", "IST", "AET", "Europe/Nowhere", ""])
        expect(yield* first(name), name).toEqual(refused("TO010"))
      yield* unruled(`update ledger.locks set time_zone = 'WET' where book_id = ${of.id}`)
      expect(Either.isRight(yield* first("WET")), "as another book from before").toBe(true)
      yield* unruled(`update ledger.locks set time_zone = null where book_id = ${of.id}`)
      for (const name of ["UTC", "GMT", "EST", "Europe/Berlin", "europe/berlin", "GB", "EST5EDT"])
        expect(Either.isRight(yield* first(name)), name).toBe(true)
      const elsewhere = (name: string) =>
        run(`set local timezone_abbreviations = 'Australia';
          update ledger.locks set time_zone = '${name}' where book_id = ${id}; rollback`)
      expect(yield* elsewhere("EST"), "Sydney's").toEqual(refused("TO010"))
      expect(Either.isRight(yield* elsewhere("UTC"))).toBe(true)
      expect(yield* run(zone("Asia/Tokyo"))).toEqual(refused("TO004"))
      const closing = zone("UTC").replace("where", ", closed_through = '2026-09-01' where")
      expect(yield* run(closing)).toEqual(refused("TO004"))
      expect(yield* run(zone("UTC"))).toEqual(taken)
      expect(yield* run(zone("Asia/Tokyo"))).toEqual(refused("TO004"))
    }),
  )

  it.effect("closes periods in order and reopens only the latest", () =>
    Effect.gen(function* () {
      const of = yield* book
      yield* must(posting(of, 1, { ...good(of), date: "2026-09-10" }))
      yield* must(posting(of, 2, good(of)))
      yield* must(`select ledger.assign_numbers(array[${of.id}])`)
      expect(yield* run(close(of, "2026-10-01"))).toEqual(refused("TO008"))
      yield* must(close(of, "2026-09-01"))
      yield* must(close(of, "2026-10-01"))
      const before = `insert into ledger.periods (book_id, period, status) values (${of.id}, '2026-08-01', 'closed')`
      expect(yield* run(before), "would take the last close back").toEqual(refused("TO008"))
      const reopen = (period: string) => reopenPeriod(of.id, period.slice(0, 7))
      expect(yield* run(reopen("2026-09-01"))).toEqual(refused("TO008"))
      yield* must(reopen("2026-10-01"))
      expect(yield* must(`select closed_through::text from ledger.locks where book_id = ${of.id}`)).toEqual([
        { closed_through: "2026-09-01" },
      ])
      // It names the close that it undoes, which is not the last one.
      yield* must(reopen("2026-09-01"))
      yield* must(close(of, "2026-09-01"))
      expect(yield* run(`delete from ledger.periods where book_id = ${of.id}`)).toEqual(refused("TO004"))
      for (const change of ["period = '2026-12-01'", "closed_at = now()"])
        expect(
          yield* run(`update ledger.periods set ${change} where book_id = ${of.id} and status = 'open'`),
          change,
        ).toEqual(refused("TO004"))
    }),
  )

  it.effect(
    "is closed through no month once its only close is undone, whatever other books have closed",
    () =>
      Effect.gen(function* () {
        const [of, other] = [yield* book, yield* book]
        yield* must(close(other, "2026-09-01"))
        yield* must(close(of, "2026-10-01"))
        expect(
          yield* must(`select p.closed_at = c.at as same from ledger.periods p join ledger.closes c using (book_id, period)
            where book_id = ${of.id}`),
          "closed since its close",
        ).toEqual([{ same: true }])
        yield* must(reopenPeriod(of.id, "2026-10"))
        expect(
          yield* must(`select closed_through::text, closed_at::text from ledger.locks join ledger.periods using (book_id)
          where book_id = ${of.id}`),
        ).toEqual([{ closed_through: null, closed_at: null }])
      }),
  )

  it.effect("closes a month while entries of later months wait for their numbers", () =>
    Effect.gen(function* () {
      const of = yield* book
      yield* must(posting(of, 1, good(of)))
      yield* must(`select ledger.assign_numbers(array[${of.id}])`)
      yield* must(posting(of, 2, { ...good(of), date: "2026-11-05" }))
      yield* must(close(of, "2026-10-01"))
      expect(yield* run(close(of, "2026-11-01"))).toEqual(refused("TO008"))
    }),
  )

  it.effect("lets a close wait for a posting under way, and then refuses the next posting", () =>
    Effect.gen(function* () {
      const of = yield* book
      const database = yield* Database
      yield* must(posting(of, 1, good(of)))
      yield* must(`select ledger.assign_numbers(array[${of.id}])`)
      const posted = yield* Deferred.make<void>()
      const mayCommit = yield* Deferred.make<void>()
      const poster = yield* Effect.fork(
        database.transaction(
          Effect.all([
            must(posting(of, 2, good(of))),
            Deferred.succeed(posted, undefined),
            Deferred.await(mayCommit),
          ]),
        ),
      )
      yield* Effect.raceFirst(Deferred.await(posted), poster)
      const closing = yield* Effect.fork(run(close(of, "2026-10-01")))
      const waiting = must(`select count(*)::integer as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%update ledger.periods%'`)
      yield* waiting.pipe(Effect.repeat({ until: ([row]) => row?.waiting === 1 }))
      yield* Deferred.succeed(mayCommit, undefined)
      yield* poster
      // The posting came first and has no number yet: the close sees it and is refused, instead of closing without it.
      expect(yield* closing).toEqual(refused("TO008"))
      yield* must(`select ledger.assign_numbers(array[${of.id}])`)
      yield* must(close(of, "2026-10-01"))
      expect(yield* run(posting(of, 3, good(of)))).toEqual(refused("TO005"))
    }),
  )

  it.effect("knows the same currencies as the code", () =>
    Effect.gen(function* () {
      const rows = yield* must(`select code, scale from ledger.currencies order by code collate "C"`)
      expect(rows.map(({ code, scale }) => [code, scale])).toEqual(currencyScales)
    }),
  )
})
