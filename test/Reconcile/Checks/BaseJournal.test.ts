/** The base-currency journal of a small book, and the findings after it was changed past the rules. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { prove } from "../../../src/Proof.ts"
import { Reconcile } from "../../../src/Reconcile.ts"
import { addRates } from "../../../src/Valuation/Rates/RateStore.ts"
import { openBook } from "../../Export/Books.ts"
import { all, base, client, deposit, ecbRate, exporting, october, september } from "../../Export/Exporting.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { mischief, query, services } from "../Books.ts"

/** Two months of one book, valued. */
const valued = Effect.fnUntraced(function* (code: string, place: number) {
  yield* addRates([
    ecbRate("2026-09-10", "0.90"),
    ecbRate("2026-09-30", "0.95"),
    ecbRate("2026-10-05", "0.91"),
    ecbRate("2026-10-31", "0.92"),
  ])
  const bookId = yield* openBook(code, client(place))
  yield* deposit(bookId, "2026-09-10", "1000.00")
  yield* deposit(bookId, "2026-10-05", "500.00")
  const run = exporting(code, temporaryFolder())
  const value = (scope: Parameters<typeof run>[0] = all) => run(scope, ["qbo"], { base, again: true })
  yield* value()
  return { bookId, value }
})

const baseJournalFindings = Effect.fnUntraced(function* (bookId: number, full = true) {
  const reconcile = yield* Reconcile
  yield* reconcile.run({ connection: Option.none(), period: Option.none(), full })
  const found = yield* query(
    (sql) => sql<Array<{ severity: string; subject_id: string; message: string; evidence: object }>>`
      select severity, subject_id, message, evidence from reconcile.findings
      where book_id = ${bookId} and check_name = 'base-journal' and closed_at is null
      order by subject_type desc, subject_id`,
  )
  return [...found]
})

/** The account that the deposits' first lines are on. */
const cashOf = Effect.fnUntraced(function* (bookId: number) {
  const [row] = yield* query(
    (sql) => sql<Array<{ account_id: number; code: string }>>`
      select account_id, code from ledger.accounts
      where book_id = ${bookId} and role = 'cash' and currency = 'USD'`,
  )
  return row ?? (yield* Effect.dieMessage("no cash"))
})

layer(services, { excludeTestServices: true })("the base-currency journal", (it) => {
  it.effect("that somebody changed is found in full, by entry and by account, until it is valued anew", () =>
    Effect.gen(function* () {
      const { bookId, value } = yield* valued("CHANGED", 1)
      expect(yield* baseJournalFindings(bookId)).toEqual([])
      const { account_id, code } = yield* cashOf(bookId)
      yield* mischief(
        (sql) => sql`
          update valuation.postings set amount = amount + 1.50
          where book_id = ${bookId} and period = '2026-10-01' and series = 'journal' and number = 1
            and account_id = ${account_id}`,
      )
      // The work of a nightly run must not grow with the history.
      expect(yield* baseJournalFindings(bookId, false)).toEqual([])
      const expected = [
        {
          severity: "blocking",
          subject_id: "CHANGED-2026-10-000001",
          message:
            "The lines of CHANGED-2026-10-000001 do not add up to nothing in the base currency: they leave 1.50 EUR.",
          evidence: {
            book: "CHANGED",
            period: "2026-10",
            journalNumber: "CHANGED-2026-10-000001",
            currency: "EUR",
            difference: "1.50",
          },
        },
        {
          severity: "blocking",
          subject_id: `${account_id}:2026-10`,
          message: `The base-currency balance of ${code} at the end of 2026-10 says 1380.00 EUR; 950.00 before and postings of 431.50 come to 1381.50.`,
          evidence: {
            book: "CHANGED",
            period: "2026-10",
            accountId: account_id,
            code,
            currency: "EUR",
            balance: "1380.00",
            before: "950.00",
            posted: "431.50",
            difference: "-1.50",
          },
        },
      ]
      expect(yield* baseJournalFindings(bookId)).toEqual(expected)
      // Open findings are checked nevertheless.
      expect(yield* baseJournalFindings(bookId, false)).toEqual(expected)
      yield* addRates([ecbRate("2026-10-31", "0.93")])
      yield* value()
      expect(yield* baseJournalFindings(bookId, false)).toEqual([])
      expect(yield* baseJournalFindings(bookId)).toEqual([])
    }),
  )

  it.effect("that balances may still be on the wrong account, or leave what it never had", () =>
    Effect.gen(function* () {
      const { bookId } = yield* valued("MOVED", 2)
      const { account_id } = yield* cashOf(bookId)
      const found = Effect.map(baseJournalFindings(bookId), (all) => all.map(({ subject_id }) => subject_id))
      const moved = (from: number | string, to: number | string) =>
        mischief(
          (sql) => sql`
            update valuation.postings set role = ${typeof to === "string" ? to : null}::text,
              account_id = ${typeof to === "number" ? to : null}::integer
            where book_id = ${bookId} and period = '2026-09-01' and series = 'fx' and number = 1
              and coalesce(account_id::text, role) = ${String(from)}`,
        )
      yield* moved("fx_unrealized", "fx_realized")
      expect(yield* found).toEqual(["fx_realized:2026-09", "fx_unrealized:2026-09"])
      yield* moved("fx_realized", "fx_unrealized")
      expect(yield* found).toEqual([])
      yield* mischief(
        (sql) => sql`
          update valuation.months set
            state = jsonb_set(state::jsonb, array['balances', ${String(account_id)}::text], '"95001"')::json
          where book_id = ${bookId} and period = '2026-09-01'`,
      )
      expect(yield* found).toEqual([`${account_id}:2026-09`, `${account_id}:2026-10`])
    }),
  )

  it.effect("is exact to the cent where its amounts are as large as the service's may be", () =>
    Effect.gen(function* () {
      yield* addRates(
        ["2026-09-10", "2026-09-30", "2026-10-05", "2026-10-31"].map((day) => ecbRate(day, "0.90")),
      )
      const bookId = yield* openBook("LARGE", client(4))
      yield* deposit(bookId, "2026-09-10", "999999999999999999999999.99")
      yield* deposit(bookId, "2026-10-05", "0.01")
      const run = exporting("LARGE", temporaryFolder())
      for (const scope of [september, october]) yield* run(scope, ["trial-balance"], { base })
      expect(yield* baseJournalFindings(bookId)).toEqual([])
      const { proofs } = yield* prove()
      expect(proofs.flatMap(({ name, wrong }) => (name === "base-balances" ? wrong : []))).toEqual([])
    }).pipe(Effect.provide(services)),
  )

  it.effect("follows a month that was valued again only once it is valued again itself", () =>
    Effect.gen(function* () {
      const { bookId, value } = yield* valued("BEHIND", 3)
      const fingerprints = query(
        (sql) => sql<Array<{ follows: boolean }>>`
          select m.previous = p.fingerprint as follows from valuation.months m
          join valuation.months p on p.book_id = m.book_id and p.period = '2026-09-01'
          where m.book_id = ${bookId} and m.period = '2026-10-01'`,
      )
      yield* addRates([ecbRate("2026-09-30", "0.97")])
      yield* value(september)
      expect([...(yield* fingerprints)]).toEqual([{ follows: false }])
      expect(yield* baseJournalFindings(bookId)).toEqual([])
      yield* value()
      expect([...(yield* fingerprints)]).toEqual([{ follows: true }])
      expect(yield* baseJournalFindings(bookId)).toEqual([])
    }),
  )
})
