/** Answers that do not fit the service's documentation are findings, whatever the books did with them. */
import { randomUUID } from "node:crypto"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Book, clientBook } from "../../../src/Book.ts"
import {
  type Account,
  addEntry,
  openAccount,
  openBook,
  putResource,
  query,
  type ResourceFields,
  reconciled,
  services,
} from "../Books.ts"

const names = (found: ReadonlyArray<{ readonly check_name: string; readonly message: string }>) =>
  found.map(({ check_name: check, message }) => `${check}: ${message}`)

/** A withdrawal with one entry, and the amount that it claims to have delivered. */
const withdrawn = (
  account: Account,
  fields: Partial<ResourceFields>,
  delivered: string | null = null,
  debited = "1000",
) =>
  Effect.gen(function* () {
    const of = yield* putResource(account, {
      type: "WITHDRAWAL",
      form: "money",
      amount: "1000",
      fee: "5",
      ...fields,
    })
    yield* query(
      (sql) =>
        sql`update mirror.resources set delivered = ${delivered}::text::numeric where resource_id = ${of.id}`,
    )
    yield* addEntry(account, { type: "DEBIT", amount: debited, of, opening: "5000" })
  })

const listedIn = (account: Account, bookId: number) =>
  query(
    (sql) => sql`
      insert into mirror.accounts (book_id, account_id, currency, payment_rails, status, balance, balance_read_at, raw, run_id)
      values (${bookId}, ${account.id}, ${account.currency}, 'SEPA', 'ACTIVE', 0, now(), '{}', 0)`,
  )

/** Of the organization's book; booked with `lent` in a book, the same one where no other is given. */
const receivable = (
  bookId: number,
  id: string,
  status: string,
  lent: string | null,
  { bookedIn = bookId, due = "1050" }: { readonly bookedIn?: number; readonly due?: string } = {},
) =>
  Effect.gen(function* () {
    yield* query(
      (sql) => sql`
        insert into mirror.receivables (book_id, receivable_id, version, current, client_id, status, currency, payment_rails,
          issue_date, initial_principal, current_principal, repayment_amount, raw, served_at, read_at, run_id)
        values (${bookId}, ${id}, 1, true, ${randomUUID()}, ${status}, 'USD', 'SEPA', now(), 1000, 1000, ${due}::text::numeric, '{}', now(), now(), 0)`,
    )
    if (lent === null) return
    yield* query(
      (sql) => sql`
        insert into ledger.receivable_dues (book_id, receivable_id, currency, side, lent, lent_waiting, repaid, repaid_waiting,
          taken_back, taken, open, owed, policy)
        values (${bookedIn}, ${id}, 'USD', 1, ${lent}::text::numeric, 0, 0, 0, 0, 0, false, false, '')`,
    )
  })

layer(services, { excludeTestServices: true })(
  "an answer that the documentation does not allow is a finding:",
  (it) => {
    it.effect("an account that two books of a connection list", () =>
      Effect.gen(function* () {
        const book = yield* openBook
        const account = yield* openAccount(book)
        expect(yield* reconciled(book)).toEqual([])
        const client = yield* clientBook(book.connection, {
          clientId: randomUUID(),
          code: "ACME",
          name: "ACME",
        })
        yield* listedIn(account, client.bookId)
        // Another connection may have the same credentials: its books are not compared with these.
        yield* listedIn(account, (yield* openBook).bookId)
        expect(names(yield* reconciled(book))).toEqual([
          `account-shared: Account ${account.id} (USD) stands in the books ${client.code} as well: its entries are booked in each of them.`,
        ])
        expect(names(yield* reconciled(client))).toEqual([
          expect.stringContaining(`books ${book.code} as well`),
        ])
        // The account moved to the client: the organization no longer lists it, but still shows its statement, which is booked on.
        yield* query(
          (sql) => sql`
          update mirror.accounts set unlisted_since = now() where book_id = ${book.bookId} and account_id = ${account.id}`,
        )
        for (const either of [book, client]) expect(yield* reconciled(either)).toHaveLength(1)
        yield* query(
          (sql) => sql`
          insert into sync.stream_reads (book_id, stream, trouble, status, failing_since)
          values (${book.bookId}, ${`statement:${account.id}`}, 'NotFound', 404, now())`,
        )
        expect(names(yield* reconciled(client))).toEqual([])
        expect(names(yield* reconciled(book))).toEqual([
          expect.stringMatching(
            `^account-gone: Account ${account.id} .* It is read in ${client.code} now, where all that its statement shows is booked: what stands here, stands there as well\\.$`,
          ),
        ])
      }),
    )

    it.effect("an account whose currency changes", () =>
      Effect.gen(function* () {
        const book = yield* openBook
        const account = yield* openAccount(book)
        yield* query(
          (sql) =>
            sql`update mirror.accounts set raw = '{"currency":"NOK"}' where account_id = ${account.id}`,
        )
        expect(names(yield* reconciled(book))).toEqual([
          "cash-balance: The books hold 0.00 USD, no statement entry is booked, the service reports 0.00 NOK. The account has another currency than when it was first read.",
        ])
      }),
    )

    it.effect("a balance that the service reported before the account left its list", () =>
      Effect.gen(function* () {
        const book = yield* openBook
        const account = yield* openAccount(book)
        yield* query(
          (sql) => sql`
          update mirror.accounts set balance = 5, unlisted_since = now() + interval '1 hour'
          where book_id = ${book.bookId} and account_id = ${account.id}`,
        )
        expect(names(yield* reconciled(book))).toEqual([
          expect.stringMatching(
            /^cash-balance: .* the service reports 5\.00 USD\. That balance is of \S+Z: the account has left the list since\.$/,
          ),
        ])
      }),
    )

    it.effect("a withdrawal that does not deliver its debits less its fee", () =>
      Effect.gen(function* () {
        for (const [delivered, debited, adds] of [
          ["995", "1000", true],
          [null, "1000", true],
          ["1000", "1005", true],
          ["1000", "1000", false],
          ["900", "1000", false],
          ["995", "1005", true],
          ["900", "1005", false],
        ] as const) {
          const book = yield* openBook
          yield* withdrawn(yield* openAccount(book), {}, delivered, debited)
          const text = `stated-fee: Completed withdrawal of 1000.00 USD states a fee of 5.00 USD and ${delivered}.00 USD delivered; its entries debit ${debited}.00 USD.`
          expect(names(yield* reconciled(book)), `${delivered} of ${debited}`).toEqual(adds ? [] : [text])
        }
      }),
    )

    it.effect("a deposit that is all fee and has no entry", () =>
      Effect.gen(function* () {
        const book = yield* openBook
        yield* putResource(yield* openAccount(book), { type: "DEPOSIT", amount: "5", fee: "5" })
        expect(names(yield* reconciled(book))).toEqual([
          "stated-fee: Completed deposit of 5.00 USD states a fee of 5.00 USD that no entry shows; it is not booked.",
        ])
      }),
    )

    it.effect("a movement in an unknown state, once money moved", () =>
      Effect.gen(function* () {
        const book = yield* openBook
        const account = yield* openAccount(book)
        yield* putResource(account, { type: "DEPOSIT", amount: "7", status: "FAILED" })
        yield* withdrawn(account, { status: "" })
        const euro = yield* openAccount(book, "EUR")
        const held = { type: "CONVERSION", status: "HELD", amount: "1", buy: euro, buyAmount: "1" } as const
        yield* addEntry(account, { type: "DEBIT", amount: "1", of: yield* putResource(account, held) })
        expect(names(yield* reconciled(book)).sort()).toEqual([
          "unknown-state: The conversion of 1.00 USD is HELD, which is no state that the service documents: whether it is final is not known.",
          "unknown-state: The withdrawal of 1000.00 USD is (empty), which is no state that the service documents: whether it is final is not known.",
        ])
      }),
    )

    it.effect("a receivable in an unknown state, or PENDING again", () =>
      Effect.gen(function* () {
        const book = yield* openBook
        yield* openAccount(book)
        yield* receivable(book.bookId, randomUUID(), "PENDING", null)
        yield* receivable(book.bookId, randomUUID(), "PENDING", "0")
        yield* receivable(book.bookId, randomUUID(), "PAID", "1000")
        expect(names(yield* reconciled(book)).filter((line) => line.startsWith("receivable"))).toEqual([])
        const overdue = randomUUID()
        yield* receivable(book.bookId, overdue, "OVERDUE", null)
        yield* receivable(book.bookId, randomUUID(), "WRITTEN_OFF", "1000")
        yield* receivable(book.bookId, randomUUID(), "PENDING", "1000")
        const found = names(yield* reconciled(book)).filter((line) => line.startsWith("receivable-state"))
        expect(found.map((line) => line.slice(0, 76)).sort()).toEqual([
          "receivable-state: The receivable of 1000.00 USD is OVERDUE: that is no state",
          "receivable-state: The receivable of 1000.00 USD is PENDING: it was disbursed",
          "receivable-state: The receivable of 1000.00 USD is WRITTEN_OFF: that is no s",
        ])
        // A later version says something else.
        yield* query(
          (sql) => sql`update mirror.receivables set current = false where receivable_id = ${overdue}`,
        )
        expect(names(yield* reconciled(book)).filter((line) => line.includes("OVERDUE"))).toEqual([])
      }),
    )

    it.effect("an active receivable of which less is due than its principal", () =>
      Effect.gen(function* () {
        const book = yield* openBook
        yield* openAccount(book)
        for (const due of ["1000", "999.99", "1050"])
          yield* receivable(book.bookId, randomUUID(), "ACTIVE", "1000", { due })
        expect(names(yield* reconciled(book)).filter((line) => line.startsWith("receivable-state"))).toEqual([
          "receivable-state: The receivable of 1000.00 USD is ACTIVE: less is due than its principal, and the books hold the difference as negative interest. The service says 1000.00 USD of principal and 999.99 USD to be repaid.",
        ])
      }),
    )

    it.effect("a receivable in an unknown state, in the book that has booked it", () =>
      Effect.gen(function* () {
        const book = yield* openBook
        const client = yield* clientBook(book.connection, {
          clientId: randomUUID(),
          code: "BORROWER",
          name: "Borrower",
        })
        for (const of of [book, client]) yield* openAccount(of)
        const [booked, unbooked] = [randomUUID(), randomUUID()]
        yield* receivable(book.bookId, booked, "WRITTEN_OFF", "1000", { bookedIn: client.bookId })
        yield* receivable(book.bookId, unbooked, "OVERDUE", null)
        const foundIn = (of: Book) =>
          Effect.map(reconciled(of), (found) =>
            found.flatMap((one) => (one.check_name === "receivable-state" ? [one.subject_id] : [])),
          )
        expect(yield* foundIn(book)).toEqual([unbooked])
        expect(yield* foundIn(client)).toEqual([booked])
      }),
    )
  },
)
