/** The sentence says that everything ties out where all is explained, and else counts what is not. */
import { randomUUID } from "node:crypto"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { describe, it } from "vitest"
import type { Book } from "../../src/Book.ts"
import { bookTieOuts, combined, tieOutSentence } from "../../src/Reconcile/TieOut.ts"
import { tried } from "../Proof/Falsehood.ts"
import {
  addEntry,
  mischief,
  openAccount,
  openBook,
  payout,
  putResource,
  query,
  reconciled,
  services,
} from "./Books.ts"

const nothing = { ...combined([]), accounts: 1 }

describe("the sentence", () => {
  it.each([
    [{ accounts: 0 }, "No accounts have been read yet"],
    [{ accounts: 0, quarantined: 4 }, "No accounts have been read yet; 4 rows are in quarantine"],
    [{}, "Everything ties out"],
    [{ otherWarnings: 3 }, "Everything ties out"],
    [{ beingRead: 2 }, "Cash ties out as far as it was read; 2 accounts are being read"],
    [{ suspense: 1 }, "Cash ties out; 1 item stands in suspense"],
    [
      { suspense: 3, transit: 4, blocked: { "2026-10": 2 } },
      "Cash ties out; 3 items stand in suspense, 4 conversions are in transit (2 block the close of 2026-10)",
    ],
    [
      { transit: 12_345, blocked: { "2026-10": 12_000 } },
      "Cash ties out; 12,345 conversions are in transit (12,000 block the close of 2026-10)",
    ],
    [
      { transit: 3, blocked: { "2026-09": 1, "2026-10": 2 } },
      "Cash ties out; 3 conversions are in transit (1 blocks the close of 2026-09, 2 that of 2026-10)",
    ],
    [
      { loans: 1, clearing: 2, unexplained: 1, otherBlocking: 1, quarantined: 2 },
      "Cash ties out; 1 item is open in loan clearing, 2 clearing postings name no movement, 1 account holds what no open item explains, 1 blocking finding is open, 2 rows are in quarantine",
    ],
    [
      { loans: 3, loansBlocked: { "2026-09": 1, "2026-10": 2 } },
      "Cash ties out; 3 items are open in loan clearing (1 blocks the close of 2026-09, 2 that of 2026-10)",
    ],
    [{ waiting: 1 }, "Cash ties out; 1 movement waits for the next sync to be proved"],
    [{ blockingFindings: 1 }, "Cash ties out; 1 blocking finding is open"],
    [{ off: 1 }, "1 account does not tie out"],
    [{ off: 2, transit: 1 }, "2 accounts do not tie out; 1 conversion is in transit"],
  ])("of %j is %s", (found, sentence) => {
    expect(tieOutSentence({ ...nothing, ...found })).toBe(sentence)
  })

  it("counts several books as one", () => {
    const one = { ...nothing, transit: 2, blocked: { "2026-10": 2 } }
    const other = { ...nothing, transit: 1, suspense: 1, blocked: { "2026-09": 1, "2026-10": 1 } }
    expect(combined([one, other])).toEqual({
      ...nothing,
      accounts: 2,
      suspense: 1,
      transit: 3,
      blocked: { "2026-09": 1, "2026-10": 3 },
    })
  })
})

const said = (book: Book) => Effect.map(bookTieOuts([book.bookId]), (all) => tieOutSentence(combined(all)))

/** A conversion in transit, and the finding as its check leaves it. */
const inTransit = (book: Book, since: string, material = true) =>
  mischief(
    (sql) => sql`
      with standing as (
        -- A conversion whose totals never match stands there in both currencies, and is one.
        insert into ledger.transit (book_id, conversion_id, currency, amount)
        select ${book.bookId}, c.id, x.currency, x.amount
        from (select gen_random_uuid() as id offset 0) c cross join (values ('USD', 1), ('EUR', -1)) as x (currency, amount))
      insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence)
      values (${book.bookId}, 'conversion-in-transit', 'warning', 'conversion', ${randomUUID()}, 'in transit',
        ${JSON.stringify({ since, material })}::text::jsonb)`,
  )

layer(services)("a book", (it) => {
  it.effect("does not tie out while something stands in suspense, though cash does", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book)
      yield* addEntry(account, { type: "CREDIT", amount: "10", of: { type: "PAYOUT", id: null } })
      expect(yield* reconciled(book)).toEqual([])
      expect(yield* said(book)).toBe("Everything ties out")
      yield* addEntry(account, { type: "CREDIT", amount: "3" })
      // Before a run has looked at it, the balance gives it away.
      expect(yield* said(book)).toBe("Cash ties out; 1 account holds what no open item explains")
      yield* reconciled(book, true)
      expect(yield* said(book)).toBe("Cash ties out; 1 item stands in suspense")
      yield* query((sql) => sql`update mirror.accounts set balance = 12 where account_id = ${account.id}`)
      expect(yield* said(book)).toBe(
        "Cash ties out as far as it was read; 1 account is being read, 1 item stands in suspense",
      )
      yield* query(
        (sql) => sql`
          update mirror.accounts set balance_read_at = now() - interval '61 minutes', tail_read_at = now() - interval '61 minutes'
          where account_id = ${account.id}`,
      )
      expect(yield* said(book)).toBe("1 account does not tie out; 1 item stands in suspense")
    }),
  )

  it.effect(
    "does not tie out where one figure is another, or an entry is held, before a check has looked",
    () =>
      Effect.gen(function* () {
        const book = yield* openBook
        const account = yield* openAccount(book)
        yield* addEntry(account, { type: "CREDIT", amount: "10", of: payout })
        expect(yield* reconciled(book)).toEqual([])
        const of = `where account_id = '${account.id}'`
        for (const statement of [
          `update mirror.accounts set tail_read_at = null ${of}`,
          `update mirror.accounts set last_balance = 11 ${of}`,
          `update mirror.accounts set balance = 11, balance_read_at = now() - interval '61 minutes',
             tail_read_at = now() - interval '61 minutes' ${of}`,
          // Read by a clock that was ahead: how long ago, nobody knows.
          `update mirror.accounts set balance = 11, balance_read_at = now() + interval '61 minutes' ${of}`,
          `update ledger.balances set debit = debit + 1 where account_id = (
           select account_id from ledger.accounts where partner_account_id = '${account.id}')`,
          `insert into mirror.statement_entries (book_id, account_id, position, entry_id, type, amount, currency, balance_after, occurred_at,
           held, run_id)
         select book_id, account_id, 2, gen_random_uuid(), type, amount, currency, balance_after, occurred_at, true, 0
         from mirror.statement_entries ${of}`,
          `insert into sync.stream_reads (book_id, stream, trouble, status, failing_since)
         values (${book.bookId}, 'statement:${account.id}', 'Forbidden', 403, now())`,
          `insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence)
         values (${book.bookId}, 'running-balance', 'blocking', 'account', '${account.id}', 'broken', '{}')`,
        ]) {
          const { look, refused, written } = yield* tried("unruled", statement, said(book))
          expect([statement, refused, written, look]).toEqual([
            statement,
            "",
            1,
            "1 account does not tie out",
          ])
        }
      }),
  )

  it.effect("counts the conversions in transit, and which month they keep from being closed", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book)
      yield* addEntry(account, { type: "CREDIT", amount: "10", of: { type: "PAYOUT", id: null } })
      yield* reconciled(book)
      yield* inTransit(book, "2026-08-20")
      yield* inTransit(book, "2026-10-09")
      yield* inTransit(book, "2026-10-09", false)
      yield* inTransit(book, "2026-11-01")
      yield* inTransit(book, "2199-01-01")
      // The first open month is October: what is older blocks that one.
      expect(yield* said(book)).toBe(
        "Cash ties out; 5 conversions are in transit (2 block the close of 2026-10, 1 that of 2026-11)",
      )
      // Open findings of another kind do not explain what stands in suspense.
      yield* addEntry(account, { type: "CREDIT", amount: "3" })
      expect(yield* said(book)).toBe(
        "Cash ties out; 5 conversions are in transit (2 block the close of 2026-10, 1 that of 2026-11), 1 account holds what no open item explains",
      )
    }),
  )

  it.effect("does not tie out where loan clearing holds something, or clearing names no movement", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book)
      yield* addEntry(account, { type: "CREDIT", amount: "10", against: "loan_clearing" })
      const whole = yield* putResource(account, { type: "DEPOSIT", amount: "5" })
      yield* addEntry(account, { type: "CREDIT", amount: "5", of: whole })
      expect((yield* reconciled(book)).map(({ subject_id: id }) => id)).toEqual(["USD"])
      expect(yield* said(book)).toBe("Cash ties out; 1 item is open in loan clearing")
      const nameless = yield* addEntry(account, {
        type: "CREDIT",
        amount: "2",
        against: "deposits_clearing",
      })
      const found = yield* reconciled(book, true)
      expect(found).toEqual([
        {
          check_name: "clearing-movement",
          severity: "warning",
          subject_type: "statement_entry",
          subject_id: nameless,
          message: "CREDIT of 2.00 USD stands in clearing, and no deposit or withdrawal explains it.",
        },
        {
          check_name: "loan-clearing",
          severity: "blocking",
          subject_type: "currency",
          subject_id: "USD",
          message:
            "-10.00 USD stand in loan clearing that no receivable accounts for, as where cash of one came or went since receivables were last booked: a complete sync books that.",
        },
      ])
      expect(yield* said(book)).toBe(
        "Cash ties out; 1 item is open in loan clearing, 1 clearing posting names no movement",
      )
      const paid = yield* addEntry(account, { type: "DEBIT", amount: "1", against: "withdrawals_clearing" })
      const both = yield* reconciled(book, true)
      expect(both.map(({ subject_id: id }) => id).sort()).toEqual([nameless, paid, "USD"].sort())
    }),
  )
})
