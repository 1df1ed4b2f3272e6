import { randomUUID } from "node:crypto"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { clientBook } from "../../src/Book.ts"
import { Explain } from "../../src/Explain.ts"
import { addEntry, openAccount, openBook, post, putResource, query } from "../Reconcile/Books.ts"
import { explaining, fact, titles } from "./Steps.ts"

/** A receivable that was pending and then disbursed by an entry of the books. */
const loan = Effect.gen(function* () {
  const book = yield* openBook
  const account = yield* openAccount(book)
  const cash = yield* addEntry(account, { type: "DEBIT", amount: "100.00", against: "loan_clearing" })
  const id = randomUUID()
  const clientId = randomUUID()
  const version = (number: number, status: string, current: boolean) =>
    query(
      (sql) => sql`
        insert into mirror.receivables (book_id, receivable_id, version, current, client_id, status, currency, payment_rails,
          issue_date, initial_principal, current_principal, repayment_amount, raw, served_at, read_at, posted, run_id)
        values (${book.bookId}, ${id}, ${number}, ${current}, ${clientId}, ${status}, 'USD', 'SEPA', '2026-10-05T00:00:00Z',
          100, 100, 103.5, ${`{"status":"${status}"}`}::text::json, ${`2026-10-0${number + 4}T08:00:00Z`},
          ${`2026-10-0${number + 4}T08:00:01Z`}, true, 0)`,
    )
  yield* version(1, "PENDING", false)
  yield* version(2, "ACTIVE", true)
  const link = (txId: string, purpose: string, at: string) =>
    query(
      (sql) => sql`
        insert into mirror.receivable_transactions (book_id, receivable_id, tx_id, version, purpose, tx_timestamp)
        values (${book.bookId}, ${id}, ${txId}, 2, ${purpose}, ${at})`,
    )
  yield* link(cash, "disbursement", "2026-10-06T10:00:00Z")
  yield* link("0xabc", "repayment", "2026-10-07T10:00:00Z")
  yield* post(account, { type: "receivable_version", id, kind: "disbursement", sequence: 512 }, [
    ["receivable_principal", "100.00"],
    ["loan_clearing", "-100.00"],
  ])
  yield* query((sql) => sql`select ledger.assign_numbers(${`{${book.bookId}}`}::text::integer[])`)
  return { account, book, cash, id, clientId }
})

layer(explaining)("explaining a receivable", (it) => {
  it.effect("shows the findings about it, also those in the book of its borrower", () =>
    Effect.gen(function* () {
      const { explain } = yield* Explain
      const { book, clientId, id } = yield* loan
      const { bookId } = yield* clientBook(book.connection, { clientId, name: "B", code: "B" })
      for (const owner of [book.bookId, bookId]) {
        yield* query(
          (sql) => sql`
            insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence)
            values (${owner}, 'loan-in-transit', 'warning', 'receivable', ${`${id} repayment 1`}, 'm', '{}')`,
        )
      }
      const { steps } = yield* explain(id)
      expect(titles(steps).filter((title) => title.endsWith("loan-in-transit"))).toHaveLength(2)
    }),
  )

  it.effect("shows its versions, its transactions with their cash, and its journal entries", () =>
    Effect.gen(function* () {
      const { explain } = yield* Explain
      const { book, cash, clientId, id } = yield* loan
      const { steps } = yield* explain(id.slice(0, 13))
      const numbers = [`${book.code}-2026-10-000001`, `${book.code}-2026-10-000002`]
      expect(titles(steps).slice(0, 5)).toEqual([
        `receivable ${id}, version 2`,
        `receivable ${id}, version 1`,
        `disbursement ${cash}`,
        "repayment 0xabc",
        `statement entry ${cash}`,
      ])
      expect(titles(steps).slice(5).sort()).toEqual(numbers.map((number) => `journal entry ${number}`))
      expect(steps[0]?.facts).toEqual([
        ["status", "ACTIVE"],
        ["principal", "100.00 USD of 100.00 USD"],
        ["repayment amount", "103.50 USD"],
        ["said at", "2026-10-06T08:00:00.000000Z (the service's time)"],
        ["issued", "2026-10-05T00:00:00.000000Z (the service's time)"],
        ["client", clientId],
        ["rail", "SEPA"],
        ["current", "yes"],
        ["booked", "yes"],
        ["read by", "run 0"],
        ["as sent", '{"status":"ACTIVE"}'],
      ])
      expect(fact(steps, "disbursement", "cash")).toEqual([`statement entry ${cash}`])
      expect(fact(steps, "repayment", "cash")).toEqual(["no statement entry that is read so far"])
      expect(fact(steps, "journal entry", "debit")).toContain(
        "100.00 USD  receivable_principal:USD  receivable_principal",
      )
    }),
  )

  it.effect("a journal number leads back to the version that it was made from", () =>
    Effect.gen(function* () {
      const { explain } = yield* Explain
      const { book, cash, id } = yield* loan
      const rows = yield* query(
        (sql) => sql<Array<{ number: number }>>`
          select n.number from ledger.journal_numbers n
          join ledger.journal_entries j on j.book_id = n.book_id and j.entry_id = n.entry_id
          where n.book_id = ${book.bookId} and j.source_type = 'receivable_version'`,
      )
      const number = `${book.code}-2026-10-${String(rows[0]?.number).padStart(6, "0")}`
      const { steps } = yield* explain(number)
      expect(titles(steps).slice(0, 2)).toEqual([`journal entry ${number}`, `receivable ${id}, version 2`])
      expect(fact(steps, `journal entry ${number}`, "kind")).toEqual(["disbursement (version 2)"])
      expect(titles(steps)).toContain(`statement entry ${cash}`)
      expect(titles(steps).filter((title) => title === `journal entry ${number}`)).toHaveLength(1)
    }),
  )
})

layer(explaining)("explaining a client", (it) => {
  const listed = (bookId: number, id: string, code: string, status: string) =>
    query(
      (sql) => sql`
        insert into mirror.reference_items (book_id, kind, item_id, version, current, label, raw, read_at, run_id)
        values (${bookId}, 'client', ${id}, 1, true, 'Acme Ltd',
          ${JSON.stringify({ clientId: id, code, status })}::text::json, '2026-10-05T00:00:00Z', 0)`,
    )

  it.effect("by its identifier or code shows its book, accounts and status", () =>
    Effect.gen(function* () {
      const { explain } = yield* Explain
      const organization = yield* openBook
      const id = randomUUID()
      yield* listed(organization.bookId, id, "acme corp", "ACTIVE")
      const book = yield* clientBook(organization.connection, {
        clientId: id,
        code: "acme corp",
        name: "Acme Ltd",
      })
      const account = yield* openAccount(book)
      const { steps } = yield* explain(id)
      expect(titles(steps)).toEqual([`client ${id}`, `account ${account.id}`])
      expect(steps[0]?.facts.slice(0, 5)).toEqual([
        ["name", "Acme Ltd"],
        ["code", "acme corp"],
        ["status", "ACTIVE"],
        ["book", book.code],
        ["accounts", "1 account"],
      ])
      expect(fact(steps, "account", "book")).toEqual([book.code])
      for (const name of ["Acme Corp", book.code, id.slice(0, 9)]) {
        expect((yield* explain(name)).steps).toEqual(steps)
      }
      expect(fact(steps, "client", "not readable")).toEqual([])
      expect(fact(steps, "account", "not listed since")).toEqual([])
      const since = "2026-10-06T10:00:00.000000Z"
      yield* query(
        (sql) => sql`
          insert into sync.stream_reads (book_id, stream, trouble, detail, failing_since)
          values (${book.bookId}, 'accounts', 'Inactive', 'the service does not list the client any more', ${since})`,
      )
      yield* query(
        (sql) => sql`
          update mirror.accounts set unlisted_since = ${since} where book_id = ${book.bookId}`,
      )
      const left = (yield* explain(id)).steps
      expect(fact(left, "client", "not readable")).toEqual([
        `since ${since}: the service does not list the client any more`,
      ])
      expect(fact(left, "account", "not listed since")).toEqual([since])
    }),
  )

  it.effect("with a book of its own shows what was not understood of it in the organization's list", () =>
    Effect.gen(function* () {
      const { explain } = yield* Explain
      const organization = yield* openBook
      const id = randomUUID()
      yield* listed(organization.bookId, id, "OWN", "ACTIVE")
      yield* clientBook(organization.connection, { clientId: id, code: "OWN", name: "Own" })
      yield* query(
        (sql) => sql`
          insert into mirror.quarantine (book_id, stream, item_id, raw, reason, path, digest, run_id)
          values (${organization.bookId}, 'clients', ${id}, '{}', 'is absent', '$.status', ${id}, 0)`,
      )
      const { steps } = yield* explain(id)
      expect(titles(steps)[0]).toBe(`client ${id}`)
      expect(titles(steps)[1]).toMatch(/^quarantined row Q\d+ of clients$/)
    }),
  )

  it.effect("that the service refuses has no book, and says so", () =>
    Effect.gen(function* () {
      const { explain } = yield* Explain
      const organization = yield* openBook
      const id = randomUUID()
      yield* listed(organization.bookId, id, "IDLE-1", "SUSPENDED")
      const { steps } = yield* explain("idle-1")
      expect(titles(steps)).toEqual([`client ${id}`])
      expect(fact(steps, "client", "status")).toEqual(["SUSPENDED"])
      expect(fact(steps, "client", "book")).toEqual(["none yet: a client that may be read gets one"])
    }),
  )
})

layer(explaining)("explaining what has more than is listed", (it) => {
  it.effect("an account with a long statement says how many entries it does not show", () =>
    Effect.gen(function* () {
      const { explain } = yield* Explain
      const account = yield* openAccount(yield* openBook)
      for (let index = 0; index < 23; index++) yield* addEntry(account, { type: "CREDIT", amount: "1.00" })
      const { steps } = yield* explain(account.id)
      expect(titles(steps).filter((title) => title.startsWith("statement entry"))).toHaveLength(20)
      expect(titles(steps).at(-1)).toBe(`and 3 earlier statement entries of account ${account.id}`)
    }),
  )

  it.effect("a movement says how many entries, findings and quarantined rows it does not show", () =>
    Effect.gen(function* () {
      const { explain } = yield* Explain
      const account = yield* openAccount(yield* openBook)
      const deposit = yield* putResource(account, { type: "DEPOSIT", amount: "21.00" })
      const add = addEntry(account, { type: "CREDIT", amount: "1.00", of: deposit })
      for (let index = 0; index < 20; index++) yield* add
      const all = yield* explain(deposit.id)
      expect(titles(all.steps).filter((title) => title.startsWith("and "))).toEqual([])
      yield* add
      yield* query(
        (sql) => sql`
          insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence)
          select ${account.book.bookId}, 'check-' || n, 'warning', 'deposit', ${deposit.id}, 'x', '{}' from generate_series(1, 22) n`,
      )
      yield* query(
        (sql) => sql`
          insert into mirror.quarantine (book_id, stream, item_id, raw, reason, path, digest, run_id)
          select ${account.book.bookId}, 'deposits', ${deposit.id}, '{}', 'is absent', '$.status', n::text, 0
          from generate_series(1, 23) n`,
      )
      const { steps } = yield* explain(deposit.id)
      expect(titles(steps).filter((title) => title.startsWith("and "))).toEqual([
        `and 1 further statement entry of deposit ${deposit.id}`,
        "and 2 further findings about it",
        "and 3 further quarantined rows",
      ])
    }),
  )

  it.effect("a loan of many repayments says how many entries of its cash it does not show", () =>
    Effect.gen(function* () {
      const { explain } = yield* Explain
      const { account, book, id } = yield* loan
      for (let index = 0; index < 22; index++) {
        const cash = yield* addEntry(account, { type: "CREDIT", amount: "1.00", against: "loan_clearing" })
        yield* query(
          (sql) => sql`
            insert into mirror.receivable_transactions (book_id, receivable_id, tx_id, version, purpose, tx_timestamp)
            values (${book.bookId}, ${id}, ${cash}, 2, 'repayment', '2026-10-06T09:00:00Z')`,
        )
      }
      const { steps } = yield* explain(id)
      expect(titles(steps).filter((title) => title.startsWith("and "))).toEqual([
        "and 3 further statement entries",
      ])
    }),
  )
})
