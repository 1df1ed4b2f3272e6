import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { unruled } from "../support/unruled.ts"
import {
  type Account,
  addEntry,
  evidenceOf,
  mischief,
  openAccount,
  openBook,
  payout,
  query,
  reconciled,
  services,
} from "./Books.ts"

/** An account whose statement starts from 100 and has three entries, ending at 112. */
const threeEntries = Effect.gen(function* () {
  const book = yield* openBook
  const account = yield* openAccount(book)
  const ids: Array<string> = []
  ids.push(yield* addEntry(account, { type: "CREDIT", amount: "10.00", opening: "100", of: payout }))
  ids.push(yield* addEntry(account, { type: "DEBIT", amount: "3.00", of: payout }))
  ids.push(yield* addEntry(account, { type: "CREDIT", amount: "5.00", of: payout }))
  return { book, account, ids }
})

const findingOf = (account: Account, check_name: string, message: string) => ({
  check_name,
  severity: "blocking",
  subject_type: "account",
  subject_id: account.id,
  message,
})

const setEntry = (id: string | undefined, column: string, value: string | null) =>
  mischief(
    (sql) =>
      sql`update mirror.statement_entries set ${sql(column)} = ${value}::text::numeric where entry_id = ${id ?? null}`,
  )

layer(services)("the running balance", (it) => {
  it.effect("continues from entry to entry, from whatever balance it starts", () =>
    Effect.gen(function* () {
      const { book } = yield* threeEntries
      expect(yield* reconciled(book)).toEqual([])
      expect(yield* reconciled(book, true)).toEqual([])
    }),
  )

  it.effect("that breaks is a finding at the first break, and closes when it is mended", () =>
    Effect.gen(function* () {
      const { account, book, ids } = yield* threeEntries
      yield* setEntry(ids[1], "balance_after", "106.99")
      const expected = [
        findingOf(
          account,
          "running-balance",
          `Entry ${ids[1]} at position 2, DEBIT of 3.00, leaves 106.99 USD; after 110.00 it should be 107.00.`,
        ),
      ]
      expect(yield* reconciled(book)).toEqual(expected)
      expect(yield* evidenceOf(book)).toEqual([
        {
          entryId: ids[1],
          position: "2",
          type: "DEBIT",
          currency: "USD",
          amount: "3.00",
          before: "110.00",
          expected: "107.00",
          found: "106.99",
          held: 0,
          occurredAt: "2026-10-06T10:00:00.000000Z",
        },
      ])
      // Nothing changed since: the subject of an open finding is looked at all the same.
      expect(yield* reconciled(book)).toEqual(expected)
      yield* setEntry(ids[1], "balance_after", "107")
      expect(yield* reconciled(book)).toEqual([])
    }),
  )

  it.effect("with an entry missing in between is a finding", () =>
    Effect.gen(function* () {
      const { account, book, ids } = yield* threeEntries
      yield* setEntry(ids[2], "balance_after", "115")
      yield* mischief((sql) => sql`delete from mirror.statement_entries where entry_id = ${ids[1] ?? null}`)
      const found = yield* reconciled(book)
      expect(found.filter((finding) => finding.check_name === "running-balance")).toEqual([
        findingOf(
          account,
          "running-balance",
          `Entry ${ids[2]} is at position 3, but the one before it at 1: entries between them are missing.`,
        ),
      ])
    }),
  )

  it.effect("must be what an entry states as the balance before it", () =>
    Effect.gen(function* () {
      const { account, book, ids } = yield* threeEntries
      yield* setEntry(ids[0], "balance_before", "100.00")
      yield* setEntry(ids[1], "balance_before", "110.00")
      expect(yield* reconciled(book, true)).toEqual([])
      yield* setEntry(ids[0], "balance_before", "100.01")
      expect(yield* reconciled(book, true)).toEqual([
        findingOf(
          account,
          "running-balance",
          `Entry ${ids[0]} at position 1 states 100.01 USD as the balance before it, which was 100.00.`,
        ),
      ])
    }),
  )

  it.effect("is looked at from the entry before the news on, and no further back", () =>
    Effect.gen(function* () {
      const { account, book, ids } = yield* threeEntries
      expect(yield* reconciled(book)).toEqual([])
      yield* setEntry(ids[1], "balance_after", "106")
      expect(yield* reconciled(book)).toEqual([])
      const fourth = yield* addEntry(account, { type: "CREDIT", amount: "1.00", of: payout, run: 1_000_000 })
      yield* setEntry(fourth, "balance_after", "114")
      expect((yield* reconciled(book)).map(({ message }) => message)).toContain(
        `Entry ${fourth} at position 4, CREDIT of 1.00, leaves 114.00 USD; after 112.00 it should be 113.00.`,
      )
      yield* setEntry(fourth, "balance_after", "113")
      expect(yield* reconciled(book)).toEqual([])
      expect((yield* reconciled(book, true)).map(({ message }) => message)).toEqual([
        `Entry ${ids[1]} at position 2, DEBIT of 3.00, leaves 106.00 USD; after 110.00 it should be 107.00.`,
      ])
    }),
  )
})

layer(services)("entries behind a gap", (it) => {
  const hold = (account: Account, place: number, id: string, type: string, amount: string, after: string) =>
    query(
      (sql) => sql`
        insert into mirror.statement_entries
          (book_id, account_id, position, entry_id, type, amount, currency, balance_after, occurred_at, held, run_id)
        values (${account.book.bookId}, ${account.id}, ${1_000_000_000_000 + place}, ${id}, ${type}, ${amount}, 'USD', ${after},
          '2026-10-07T10:00:00Z', true, 0)`,
    )

  it.effect("are one finding for the account, and none when they are released", () =>
    Effect.gen(function* () {
      const { account, book } = yield* threeEntries
      const first = "00000000-0000-4000-8000-000000000001"
      const second = "00000000-0000-4000-8000-000000000002"
      yield* hold(account, 1, first, "DEBIT", "2", "109")
      yield* hold(account, 2, second, "CREDIT", "1", "110")
      expect(yield* reconciled(book)).toEqual([
        findingOf(
          account,
          "running-balance",
          `2 entries are held back from the books behind position 3: the first, ${first}, DEBIT of 2.00, says that it leaves 109.00 USD; after 112.00 it would be 110.00.`,
        ),
      ])
      yield* unruled(`delete from mirror.statement_entries where account_id = '${account.id}' and held`)
      expect(yield* reconciled(book)).toEqual([])
    }),
  )

  it.effect("say which balance before them was wrong, or that they wait for a row", () =>
    Effect.gen(function* () {
      const { account, book } = yield* threeEntries
      const first = "00000000-0000-4000-8000-000000000003"
      yield* hold(account, 1, first, "DEBIT", "2", "110")
      const behind = `1 entry is held back from the books behind position 3: the first, ${first}, DEBIT`
      const waits = `${behind} waits for a row before it that could not be understood.`
      const saysOf = (before: string | null) =>
        Effect.gen(function* () {
          yield* setEntry(first, "balance_before", before)
          return (yield* reconciled(book)).map(({ message }) => message)
        })
      expect(yield* saysOf(null)).toEqual([waits])
      expect(yield* saysOf("112")).toEqual([waits])
      expect(yield* saysOf("111.99")).toEqual([
        `${behind} states 111.99 USD as the balance before it, which was 112.00.`,
      ])
    }),
  )

  it.effect("wait for the first row of a statement, unless they contradict themselves", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book)
      const first = "00000000-0000-4000-8000-000000000005"
      yield* hold(account, 1, first, "CREDIT", "2", "7")
      const behind = `1 entry is held back from the books behind position 0: the first, ${first}, CREDIT`
      for (const [before, says] of [
        [null, "waits for a row before it that could not be understood."],
        ["5", "waits for a row before it that could not be understood."],
        ["6", "does not agree with its own balance before and after."],
      ] as const) {
        yield* setEntry(first, "balance_before", before)
        const found = yield* reconciled(book)
        expect(found.map(({ message }) => message)).toContain(`${behind} ${says}`)
      }
    }),
  )
})

layer(services)("the cash balance", (it) => {
  it.effect("differs where the service reports another", () =>
    Effect.gen(function* () {
      const { account, book } = yield* threeEntries
      yield* query((sql) => sql`update mirror.accounts set balance = 112.01 where account_id = ${account.id}`)
      const found = yield* reconciled(book)
      expect(found).toEqual([
        findingOf(
          account,
          "cash-balance",
          "The books hold 112.00 USD, the last booked statement entry leaves 112.00 USD, the service reports 112.01 USD.",
        ),
      ])
      expect(yield* evidenceOf(book)).toMatchObject([
        { ledger: "112.00", service: "112.01", difference: "0.01" },
      ])
      yield* query((sql) => sql`update mirror.accounts set balance = 112 where account_id = ${account.id}`)
      expect(yield* reconciled(book)).toEqual([])
    }),
  )

  it.effect("differs where the ledger holds another", () =>
    Effect.gen(function* () {
      const { account, book } = yield* threeEntries
      const change = (by: string) =>
        mischief(
          (sql) => sql`
            update ledger.balances b set debit = debit + ${by}::text::numeric from ledger.accounts a
            where a.book_id = b.book_id and a.account_id = b.account_id and a.role = 'cash' and a.partner_account_id = ${account.id}`,
        )
      yield* change("1")
      const cash = (found: ReadonlyArray<{ check_name: string }>) =>
        found.filter(({ check_name }) => check_name === "cash-balance")
      expect(cash(yield* reconciled(book))).toEqual([
        findingOf(
          account,
          "cash-balance",
          "The books hold 113.00 USD, the last booked statement entry leaves 112.00 USD, the service reports 112.00 USD.",
        ),
      ])
      yield* change("-1")
      expect(yield* reconciled(book)).toEqual([])
    }),
  )

  it.effect("differs where the statement's last entry is not what is remembered of it", () =>
    Effect.gen(function* () {
      const { account, book, ids } = yield* threeEntries
      expect(yield* reconciled(book)).toEqual([])
      yield* setEntry(ids[2], "balance_after", "111")
      expect((yield* reconciled(book)).map(({ message }) => message)).toEqual([
        "The books hold 112.00 USD, the last booked statement entry leaves 112.00 USD, the service reports 112.00 USD. The last entry itself says 111.00 USD.",
      ])
      expect(account.currency).toBe("USD")
    }),
  )

  it.effect("of an account without entries is zero", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book, "JPY")
      expect(yield* reconciled(book)).toEqual([])
      yield* query(
        (sql) =>
          sql`update mirror.accounts set balance = 5, tail_read_at = null where account_id = ${account.id}`,
      )
      expect((yield* reconciled(book)).map(({ message }) => message)).toEqual([
        "The books hold 0 JPY, no statement entry is booked, the service reports 5 JPY.",
      ])
    }),
  )
})
