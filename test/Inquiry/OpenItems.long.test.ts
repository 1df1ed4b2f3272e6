/** Open items: every balance beside cash as a sum that can be read. */
import { randomUUID } from "node:crypto"
import { expect, layer } from "@effect/vitest"
import { Effect, Runtime } from "effect"
import fc from "fast-check"
import type { Book } from "../../src/Book.ts"
import * as Money from "../../src/Common/Money.ts"
import type { Database } from "../../src/Database.ts"
import { itemAccounts, openItems } from "../../src/Inquiry/OpenItems.ts"
import type { Reconcile } from "../../src/Reconcile.ts"
import {
  type Account,
  addEntry,
  mischief,
  type Named,
  openAccount,
  openBook,
  post,
  putResource,
  query,
  services,
} from "../Reconcile/Books.ts"

/** Numbers what waits and closes the months up to this one, past the gate. */
const closeThrough = (book: Book, period: string) =>
  Effect.gen(function* () {
    yield* query((sql) => sql`select ledger.assign_numbers(array[${book.bookId}::integer])`)
    yield* mischief(
      (sql) => sql`
        with closed as (update ledger.locks set closed_through = ${`${period}-01`} where book_id = ${book.bookId})
        update ledger.periods set status = 'closed' where book_id = ${book.bookId} and period <= ${`${period}-01`}`,
    )
  })

const all = { through: null, asOf: null, accountId: null, drill: null }

const linesOf = (
  book: Book,
  scope: { readonly through?: string; readonly drill?: string; readonly asOf?: string } = {},
) =>
  Effect.gen(function* () {
    const accounts = yield* itemAccounts([book.bookId])
    const items = yield* openItems({ ...all, bookId: book.bookId, ...scope })
    const codes = new Map(accounts.map(({ accountId, code }) => [accountId, code]))
    return items.map(({ accountId, amount, itemId, line, period, since, status }) => [
      codes.get(accountId),
      line === "month" ? period : (itemId ?? ""),
      line === "month" ? null : since,
      Money.toText(Money.fromTrusted(amount)),
      status,
    ])
  })

/** Per account: what the lines add up to, and what the postings up to the end of the month do. */
const sums = (book: Book, scope: { through: string | null; drill: string | null; asOf: string | null }) =>
  Effect.gen(function* () {
    const rows = yield* query(
      (sql) => sql<Array<{ account_id: number; amount: string }>>`
        select p.account_id, sum(p.amount)::text as amount from ledger.postings p
        join ledger.journal_entries j on j.book_id = p.book_id and j.entry_id = p.entry_id
        join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
        where p.book_id = ${book.bookId}
          and ledger.open_item_reading(a.role, a.rule_code, a.name) is not null
          and (${scope.through}::text is null or to_char(j.period, 'YYYY-MM') <= ${scope.through}::text)
          and (${scope.asOf}::text is null or j.recorded_at <= ${scope.asOf}::text::timestamptz)
        group by p.account_id having sum(p.amount) <> 0 order by 1`,
    )
    const items = yield* openItems({ ...all, bookId: book.bookId, ...scope })
    const told = new Map<number, Money.Amount>()
    for (const { accountId, amount } of items)
      told.set(accountId, Money.add(told.get(accountId) ?? Money.zero, Money.fromTrusted(amount)))
    const text = (amount: Money.Amount) => Money.toText(amount)
    return {
      posted: rows.map((row) => [row.account_id, text(Money.fromTrusted(row.amount))]),
      told: [...told]
        .filter(([, amount]) => !Money.isZero(amount))
        .sort(([a], [b]) => a - b)
        .map(([id, amount]) => [id, text(amount)]),
    }
  })

const kinds = [
  "deposit",
  "pending deposit",
  "returned withdrawal",
  "payout",
  "conversion",
  "adjustment",
  "loan",
  "receivable",
  "reclassification",
] as const

interface Step {
  readonly kind: (typeof kinds)[number]
  readonly month: 8 | 9 | 10
  readonly day: number
  readonly cents: number
  /** Which of the movements so far, where a kind follows another. */
  readonly of: number
}

const step = fc.record({
  kind: fc.constantFrom(...kinds),
  month: fc.constantFrom(8 as const, 9 as const, 10 as const),
  day: fc.integer({ min: 1, max: 28 }),
  cents: fc.integer({ min: 1, max: 999 }),
  of: fc.nat(20),
})

const amountOf = (cents: number) => `${Math.trunc(cents / 100)}.${String(cents % 100).padStart(2, "0")}`

const twoDigits = (value: number) => String(value).padStart(2, "0")

const play = (account: Account, steps: ReadonlyArray<Step>) =>
  Effect.gen(function* () {
    const adjustments: Array<string> = []
    const conversions: Array<{ type: string; id: string }> = []
    for (const { cents, day, kind, month, of } of steps) {
      const occurredAt = `2026-${twoDigits(month)}-${twoDigits(day)}T10:00:00Z`
      const amount = amountOf(cents)
      const credit = { type: "CREDIT", amount, occurredAt } as const
      if (kind === "deposit" || kind === "pending deposit") {
        const status = kind === "deposit" ? "COMPLETED" : "PENDING"
        yield* addEntry(account, {
          ...credit,
          of: yield* putResource(account, { type: "DEPOSIT", amount, status }),
        })
      } else if (kind === "returned withdrawal") {
        const whole = yield* putResource(account, { type: "WITHDRAWAL", amount: "10.00" })
        yield* addEntry(account, { ...credit, type: "DEBIT", amount: "10.00", of: whole })
        yield* addEntry(account, { ...credit, of: whole, kind: "withdrawal_return" })
      } else if (kind === "conversion") {
        const known = conversions[of % (conversions.length + 1)]
        const conversion = known ?? { type: "CONVERSION", id: randomUUID() }
        if (known === undefined) conversions.push(conversion)
        const type = known === undefined ? "DEBIT" : "CREDIT"
        yield* addEntry(account, { ...credit, type, of: conversion, against: "conversions_in_transit" })
      } else if (kind === "payout") {
        yield* addEntry(account, { ...credit, type: "DEBIT", of: { type: "PAYOUT", id: null } })
      } else if (kind === "loan") {
        yield* addEntry(account, { ...credit, against: "loan_clearing" })
      } else if (kind === "adjustment") {
        adjustments.push(yield* addEntry(account, credit))
      } else if (kind === "receivable") {
        yield* post(
          account,
          { type: "receivable_version", id: randomUUID(), kind: "disbursement", occurredAt },
          [
            ["receivable_principal", amount],
            ["loan_clearing", `-${amount}`],
          ],
        )
      } else {
        const id = adjustments[of % Math.max(1, adjustments.length)]
        if (id !== undefined) {
          const source = {
            type: "manual",
            id,
            kind: "reclassification",
            sequence: steps.length + of,
            occurredAt,
          }
          yield* Effect.ignore(
            post(account, source, [
              ["suspense", amount],
              ["deposits_clearing", `-${amount}`],
            ]),
          )
        }
      }
    }
  })

/** One history: posted, closed up to a month or not, posted again; then read in every way. */
const example = (steps: ReadonlyArray<Step>, closed: string | null, later: ReadonlyArray<Step>) =>
  Effect.gen(function* () {
    const account = yield* openAccount(yield* openBook)
    const { book } = account
    yield* play(account, steps)
    if (closed !== null) yield* closeThrough(book, closed)
    const [{ now } = { now: "" }] = yield* query(
      (sql) => sql<Array<{ now: string }>>`select clock_timestamp()::text as now`,
    )
    yield* play(
      account,
      later.map((one) => ({ ...one, month: 10 })),
    )
    for (const asOf of [null, now])
      for (const through of [null, "2026-08", "2026-09", "2026-10"])
        for (const drill of [null, "2026-08", "2026-09"]) {
          const { posted, told } = yield* sums(book, { through, drill, asOf })
          expect(told).toEqual(posted)
        }
  })

layer(services)("open items", (it) => {
  it.effect(
    "of every account add up to its balance, whatever was posted, closed, read to a month, to a time or by movement",
    () =>
      Effect.gen(function* () {
        const runtime = yield* Effect.runtime<Database | Reconcile>()
        const steps = (most: number) => fc.array(step, { maxLength: most })
        const history = fc.asyncProperty(
          steps(12),
          fc.constantFrom(null, "2026-08", "2026-09"),
          steps(4),
          (before, closed, after) => Runtime.runPromise(runtime)(example(before, closed, after)),
        )
        yield* Effect.promise(() => fc.assert(history, { numRuns: 25 }))
      }),
  )

  it.effect("are movements in flight one by one, and the others by closed month, then one by one", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book)
      const on = (day: string) => ({ type: "CREDIT", occurredAt: `${day}T10:00:00Z` }) as const
      const whole = { type: "DEPOSIT", amount: "100" } as const
      yield* addEntry(account, { ...on("2026-08-03"), amount: "100", of: yield* putResource(account, whole) })
      yield* addEntry(account, { ...on("2026-08-04"), amount: "7", of: yield* putResource(account, whole) })
      const pending = yield* putResource(account, { ...whole, status: "PENDING" })
      yield* addEntry(account, { ...on("2026-08-05"), amount: "30", of: pending })
      const sent = yield* putResource(account, { type: "WITHDRAWAL", amount: "20" })
      yield* addEntry(account, { ...on("2026-08-06"), type: "DEBIT", amount: "20", of: sent })
      const adjustment = yield* addEntry(account, { ...on("2026-08-07"), amount: "3" })
      const settled = yield* addEntry(account, { ...on("2026-08-08"), amount: "4" })
      yield* post(
        account,
        {
          type: "manual",
          id: settled,
          kind: "reclassification",
          sequence: 1,
          occurredAt: "2026-08-08T10:00:00Z",
        },
        [
          ["suspense", "4"],
          ["payouts_clearing", "-4"],
        ],
      )
      const exchange = { type: "CONVERSION", id: randomUUID() }
      const leg = { of: exchange, against: "conversions_in_transit" }
      // Whole on the 9th, and in transit again since the 12th of the next month.
      yield* addEntry(account, { ...on("2026-08-09"), type: "DEBIT", amount: "50", ...leg })
      yield* addEntry(account, { ...on("2026-08-09"), amount: "50", ...leg })
      yield* addEntry(account, { ...on("2026-09-12"), type: "DEBIT", amount: "9", ...leg })
      yield* closeThrough(book, "2026-08")
      const last = yield* putResource(account, whole)
      yield* addEntry(account, { ...on("2026-09-20"), amount: "11", of: last })

      const now = [
        ["conversions_in_transit:USD", exchange.id, "2026-09-12", "9", null],
        ["deposits_clearing:USD", "2026-08", null, "-107", null],
        ["deposits_clearing:USD", pending.id, "2026-08-05", "-30", "pending"],
        ["deposits_clearing:USD", last.id, "2026-09-20", "-11", null],
        ["payouts_clearing:USD", "2026-08", null, "-4", null],
        ["suspense:USD", adjustment, "2026-08-07", "-3", null],
        ["withdrawals_clearing:USD", "2026-08", null, "20", null],
      ]
      expect(yield* linesOf(book)).toEqual(now)
      const [, , , , , ...others] = now
      expect(yield* linesOf(book, { through: "2026-08" })).toEqual([now[1], now[2], now[4], ...others])
      expect((yield* linesOf(book, { drill: "2026-08" })).filter(([code]) => code === now[1]?.[0])).toEqual([
        ["deposits_clearing:USD", expect.any(String), "2026-08-03", "-100", null],
        ["deposits_clearing:USD", expect.any(String), "2026-08-04", "-7", null],
        now[2],
        now[3],
      ])

      // What came back in part is in flight, in whichever month it was sent, and so is what no movement explains.
      const back = { ...on("2026-09-21"), kind: "withdrawal_return" }
      yield* addEntry(account, { ...back, amount: "5", of: sent })
      const nameless = yield* addEntry(account, {
        ...on("2026-09-22"),
        amount: "2",
        against: "withdrawals_clearing",
      })
      const withdrawals = Effect.map(linesOf(book), (lines) =>
        lines.filter(([code]) => code === "withdrawals_clearing:USD"),
      )
      expect(yield* withdrawals).toEqual([
        ["withdrawals_clearing:USD", sent.id, "2026-08-06", "15", "partly returned"],
        ["withdrawals_clearing:USD", nameless, "2026-09-22", "-2", "names no movement"],
      ])
      yield* addEntry(account, { ...back, amount: "15", of: sent })
      expect(yield* withdrawals).toEqual([
        ["withdrawals_clearing:USD", nameless, "2026-09-22", "-2", "names no movement"],
      ])
    }),
  )

  it.effect("are nothing of an entry that came to name its movement after it was booked", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book)
      const on = (day: string) => ({ type: "CREDIT", occurredAt: `${day}T10:00:00Z` }) as const
      const entry = yield* addEntry(account, { ...on("2026-08-03"), amount: "10" })
      const moved = yield* addEntry(account, { ...on("2026-08-04"), amount: "7" })
      const shift = (
        id: string,
        sequence: number,
        of: Named | undefined,
        lines: Parameters<typeof post>[2],
      ) =>
        post(
          account,
          {
            ...{ type: sequence === 1 && of === undefined ? "manual" : "statement_entry", id, sequence },
            ...{ kind: "reclassification", occurredAt: "2026-08-04T10:00:00Z" },
            ...(of === undefined ? {} : { of }),
          },
          lines,
        )
      yield* shift(entry, 1, yield* putResource(account, { type: "DEPOSIT", amount: "10" }), [
        ["suspense", "10"],
        ["deposits_clearing", "-10"],
      ])
      // A person moves it first, then it names its deposit: nothing is left where the person put it.
      yield* shift(moved, 1, undefined, [
        ["suspense", "7"],
        ["payouts_clearing", "-7"],
      ])
      yield* shift(moved, 2, yield* putResource(account, { type: "DEPOSIT", amount: "7" }), [
        ["payouts_clearing", "7"],
        ["deposits_clearing", "-7"],
      ])
      const codes = Effect.map(linesOf(book), (lines) => lines.map(([code]) => code))
      expect(yield* codes).toEqual(["deposits_clearing:USD", "deposits_clearing:USD"])
    }),
  )

  it.effect("of a closed month are those that were open at its close, whatever became of them since", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book)
      const on = (day: string) => ({ type: "CREDIT", occurredAt: `${day}T10:00:00Z` }) as const
      const adjustment = yield* addEntry(account, { ...on("2026-08-03"), amount: "3" })
      const pending = yield* putResource(account, { type: "DEPOSIT", amount: "30", status: "PENDING" })
      yield* addEntry(account, { ...on("2026-08-05"), amount: "30", of: pending })
      const back = { ...on("2026-08-07"), kind: "deposit_return", type: "DEBIT", of: pending } as const
      yield* addEntry(account, { ...back, amount: "10" })
      // What was pending for a while, and is no more when the month is closed.
      const done = yield* putResource(account, { type: "DEPOSIT", amount: "7" })
      yield* addEntry(account, { ...on("2026-08-06"), amount: "7", of: done })
      yield* query(
        (sql) => sql`
          insert into mirror.resource_versions (book_id, resource_type, resource_id, version, status, final, raw, changed_at,
            superseded_at, run_id)
          select book_id, resource_type, resource_id, 1, 'PENDING', false, raw, clock_timestamp() - interval '2 hours',
            clock_timestamp() - interval '1 hour', run_id
          from mirror.resources where book_id = ${book.bookId} and resource_id = ${done.id}`,
      )
      const leg = { of: { type: "CONVERSION", id: randomUUID() }, against: "conversions_in_transit" }
      yield* addEntry(account, { ...on("2026-08-09"), type: "DEBIT", amount: "50", ...leg })
      yield* closeThrough(book, "2026-08")
      const closes = (sequence: number, action: "close" | "reopen") =>
        mischief(
          (sql) => sql`
            insert into ledger.closes (book_id, sequence, period, action, at, who, hash, entries, reason, accepted)
            values (${book.bookId}, ${sequence}, '2026-08-01', ${action}, clock_timestamp(), 'controller',
              ${action === "close" ? "0".repeat(64) : null}, 3, ${action === "close" ? null : "late"}, '[]')`,
        )
      yield* closes(1, "close")
      const then = [
        ["conversions_in_transit:USD", leg.of.id, "2026-08-09", "50", null],
        ["deposits_clearing:USD", pending.id, "2026-08-05", "-20", "pending"],
        ["deposits_clearing:USD", done.id, "2026-08-06", "-7", null],
        ["suspense:USD", adjustment, "2026-08-03", "-3", null],
      ]
      const august = linesOf(book, { through: "2026-08", drill: "2026-08" })
      expect(yield* august).toEqual(then)

      // In September all of it goes: refused, whole, and moved by hand.
      yield* query(
        (sql) => sql`
          with old as (
            insert into mirror.resource_versions (book_id, resource_type, resource_id, version, status, final, raw,
              changed_at, superseded_at, run_id)
            select book_id, resource_type, resource_id, version, status, final, raw, changed_at, clock_timestamp(), run_id
            from mirror.resources where book_id = ${book.bookId} and resource_id = ${pending.id})
          update mirror.resources set status = 'REJECTED', final = true, version = 2, changed_at = clock_timestamp()
          where book_id = ${book.bookId} and resource_id = ${pending.id}`,
      )
      yield* addEntry(account, { ...back, ...on("2026-09-02"), type: "DEBIT", amount: "20" })
      yield* addEntry(account, { ...on("2026-09-03"), amount: "50", ...leg })
      yield* post(
        account,
        {
          ...{ type: "manual", id: adjustment, kind: "reclassification", sequence: 1 },
          occurredAt: "2026-09-04T10:00:00Z",
        },
        [
          ["suspense", "3"],
          ["other", "-3"],
        ],
      )
      expect(yield* august).toEqual(then)
      expect((yield* linesOf(book)).filter(([code]) => code !== "other:USD")).toEqual([
        ["deposits_clearing:USD", "2026-08", null, "-7", null],
      ])

      // Where the month is closed again, its last close decides: by then the deposit was over.
      yield* closes(2, "reopen")
      yield* closes(3, "close")
      expect(yield* august).toEqual(
        then.map((line) => (line[1] === pending.id ? [...line.slice(0, 4), "partly returned"] : line)),
      )
    }),
  )

  it.effect(
    "are kept for accounts of the balance sheet, by role, or by its name where a rule or a person named it",
    () =>
      Effect.gen(function* () {
        const rows = yield* query(
          (sql) => sql<Array<{ said: string }>>`
          select a.name || ' ' || coalesce(ledger.open_item_reading(a.role, a.rule_code, a.name), 'none') as said
          from (values ('cash', '', 'Cash'), ('fees', '', 'Fees'), ('suspense', '', 'Suspense'), ('trading', '', 'Trading'),
            ('deposits_clearing', '', 'Deposits'), ('deposits_clearing', '4120', 'Expenses:Payroll'),
            ('deposits_clearing', '2900', 'Equity:Capital'), ('other', '4000', 'Revenue'), ('other', '4000', 'Revenues:Sales'),
            ('other', '4000', 'income:Sales'), ('other', '6000', 'Expense:Bank'), ('other', '1300', 'Incomes in advance'),
            ('loan_clearing', '', 'Loans')) as a (role, rule_code, name)`,
        )
        expect(rows.map(({ said }) => said)).toEqual([
          ...["Cash none", "Fees none", "Suspense item", "Trading month", "Deposits clearing"],
          ...["Expenses:Payroll none", "Equity:Capital month", "Revenue none", "Revenues:Sales none"],
          ...["income:Sales none", "Expense:Bank none", "Incomes in advance month", "Loans item"],
        ])
      }),
  )

  it.effect("at a time are without what was recorded since in a month that was closed then", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book)
      const payout = { type: "DEBIT", of: { type: "PAYOUT", id: null } } as const
      const closes = (sequence: number, action: "close" | "reopen") =>
        mischief(
          (sql) => sql`
            insert into ledger.closes (book_id, sequence, period, action, at, who, hash, entries, reason, accepted)
            values (${book.bookId}, ${sequence}, '2026-08-01', ${action}, clock_timestamp(), 'controller',
              ${action === "close" ? "0".repeat(64) : null}, 1, ${action === "close" ? null : "late"}, '[]')`,
        )
      yield* addEntry(account, { ...payout, amount: "10", occurredAt: "2026-08-05T10:00:00Z" })
      yield* closeThrough(book, "2026-08")
      yield* closes(1, "close")
      const [{ now } = { now: "" }] = yield* query(
        (sql) => sql<Array<{ now: string }>>`select clock_timestamp()::text as now`,
      )
      const then = linesOf(book, { through: "2026-08", asOf: now })
      const ten = [["payouts_clearing:USD", "2026-08", null, "10", null]]
      expect(yield* then).toEqual(ten)
      yield* mischief(
        (sql) => sql`
          with opened as (update ledger.locks set closed_through = null where book_id = ${book.bookId})
          update ledger.periods set status = 'open' where book_id = ${book.bookId}`,
      )
      yield* closes(2, "reopen")
      yield* addEntry(account, { ...payout, amount: "4", occurredAt: "2026-08-06T10:00:00Z" })
      expect(yield* then).toEqual(ten)
    }),
  )
})
