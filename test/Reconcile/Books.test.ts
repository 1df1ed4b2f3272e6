import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { Book } from "../../src/Book.ts"
import { checks } from "../../src/Reconcile/Check.ts"
import { openFindings } from "../../src/Reconcile/Summary.ts"
import { combined } from "../../src/Reconcile/TieOut.ts"
import { Reconcile } from "../../src/Reconcile.ts"
import { unruled } from "../support/unruled.ts"
import {
  addEntry,
  asRun,
  evidenceOf,
  mischief,
  open,
  openAccount,
  openBook,
  payout,
  putResource,
  query,
  readTails,
  reconciled,
  services,
  startRun,
} from "./Books.ts"

const oneEntry = Effect.gen(function* () {
  const book = yield* openBook
  const account = yield* openAccount(book)
  const id = yield* addEntry(account, { type: "CREDIT", amount: "10.50", of: payout })
  return { book, account, id }
})

layer(services)("the trial balance", (it) => {
  const addTo = (book: Book, role: string, by: string) =>
    mischief(
      (sql) => sql`
        update ledger.balances b set debit = debit + ${by}::text::numeric from ledger.accounts a
        where a.book_id = b.book_id and a.account_id = b.account_id and a.role = ${role} and b.book_id = ${book.bookId}`,
    )

  it.effect("is uneven where debits and credits differ", () =>
    Effect.gen(function* () {
      const { book } = yield* oneEntry
      yield* addTo(book, "payouts_clearing", "0.01")
      expect(yield* reconciled(book)).toEqual([
        {
          check_name: "trial-balance",
          severity: "blocking",
          subject_type: "currency",
          subject_id: "USD",
          message: "Debits of 10.51 USD and credits of 10.50 USD are not equal.",
        },
      ])
      yield* addTo(book, "payouts_clearing", "-0.01")
      expect(yield* reconciled(book)).toEqual([])
    }),
  )

  it.effect("in full shows where a balance is not the sum of its postings, until it is again", () =>
    Effect.gen(function* () {
      const { book } = yield* oneEntry
      expect(yield* reconciled(book)).toEqual([])
      yield* mischief(
        (sql) =>
          sql`update ledger.balances set debit = debit + 1, credit = credit + 1 where book_id = ${book.bookId}`,
      )
      // Even all the same: only the journal shows it.
      expect(yield* reconciled(book)).toEqual([])
      const messages = (yield* reconciled(book, true)).map(({ message }) => message)
      expect(messages).toEqual([
        "The balance of cash:USD in 2026-10 says debits of 11.50 USD and credits of 1.00 USD; its postings add up to 10.50 USD and 0.00 USD.",
        "The balance of payouts_clearing:USD in 2026-10 says debits of 1.00 USD and credits of 11.50 USD; its postings add up to 0.00 USD and 10.50 USD.",
      ])
      expect(yield* reconciled(book)).toHaveLength(2)
      // No account of the service's: each is about an account of the books.
      const listed = yield* openFindings([book], Option.none())
      expect(listed.map(({ accountId }) => accountId)).toEqual([null, null])
      yield* mischief(
        (sql) =>
          sql`update ledger.balances set debit = debit - 1, credit = credit - 1 where book_id = ${book.bookId}`,
      )
      expect(yield* reconciled(book)).toEqual([])
    }),
  )
})

layer(services)("an entry that was read with two contents", (it) => {
  it.effect("is a finding with both as evidence", () =>
    Effect.gen(function* () {
      const { account, book, id } = yield* oneEntry
      const other = {
        entryId: id,
        accountId: account.id,
        type: "CREDIT",
        amount: "10.51",
        currency: "USD",
        balanceAfter: "10.5",
        relatedResourceType: "PAYOUT",
        relatedResourceId: null,
        occurredAt: "2026-10-06T10:00:00.000Z",
      }
      yield* query(
        (sql) => sql`
          insert into mirror.contradictions (book_id, entry_id, account_id, content, digest, first_seen_at, run_id)
          values (${book.bookId}, ${id}, ${account.id}, ${JSON.stringify(other)}, 'd', '2026-10-08T00:00:00Z', 4)`,
      )
      expect(yield* reconciled(book)).toEqual([
        {
          check_name: "contradiction",
          severity: "blocking",
          subject_type: "statement_entry",
          subject_id: id,
          message:
            "The statement entry at position 1 was read again with another content: amount differs. The books keep what was read first.",
        },
      ])
      const [evidence] = yield* evidenceOf(book)
      expect(evidence).toMatchObject({
        kept: { ...other, amount: "10.5", occurredAt: "2026-10-06T10:00:00.000000Z" },
        readAgain: [{ content: other, firstSeenAt: "2026-10-08T00:00:00.000000Z", runId: 4 }],
      })
      yield* mischief((sql) => sql`delete from mirror.contradictions where book_id = ${book.bookId}`)
      expect(yield* reconciled(book)).toEqual([])
    }),
  )
})

layer(services)("an export", (it) => {
  const number = (book: Book) =>
    query((sql) => sql`select ledger.assign_numbers(${`{${book.bookId}}`}::text::integer[])`)
  const commit = (book: Book, batch: number, debit: string, since: string | null = null) =>
    query((sql) => {
      const manifest = {
        scope: { since, covered: [] },
        currencies: [{ currency: "USD", scale: 2, debit, credit: debit, entries: 1, postings: 2 }],
      }
      return sql`
        insert into export.batches (book_id, batch, scope, from_date, to_date, formats, folder, since_numbering,
          through_numbering, manifest)
        select ${book.bookId}, ${batch}, '2026-10', '2026-10-01', '2026-10-31', '{journal}', 'x',
          ${since ?? "0"}::text::bigint, max(numbering), ${JSON.stringify(manifest)}::text::json
        from ledger.journal_numbers where book_id = ${book.bookId}`
    })

  it.effect("agrees with the ledger, also after more was booked and numbered", () =>
    Effect.gen(function* () {
      const { account, book } = yield* oneEntry
      yield* number(book)
      yield* commit(book, 1, "10.50")
      yield* addEntry(account, { type: "DEBIT", amount: "1.00", of: payout })
      yield* number(book)
      const first = yield* query(
        (sql) => sql<Array<{ through: string }>>`
          select through_numbering::text as through from export.batches where book_id = ${book.bookId}`,
      )
      yield* commit(book, 2, "1.00", first[0]?.through ?? null)
      expect(yield* reconciled(book, true)).toEqual([])
    }),
  )

  it.effect("whose totals are not the ledger's is a finding", () =>
    Effect.gen(function* () {
      const { book } = yield* oneEntry
      yield* number(book)
      expect(yield* reconciled(book)).toEqual([])
      yield* commit(book, 1, "10.49")
      expect(yield* reconciled(book)).toEqual([
        {
          check_name: "export-totals",
          severity: "blocking",
          subject_type: "batch",
          subject_id: "1",
          message:
            "Export batch 1 (2026-10) does not agree with the ledger: USD debits 10.49 and 10.50, credits 10.49 and 10.50, entries 1 and 1.",
        },
      ])
      yield* mischief((sql) => sql`delete from export.batches where book_id = ${book.bookId}`)
      expect(yield* reconciled(book)).toEqual([])
    }),
  )

  it.effect("is looked at once, unless in full", () =>
    Effect.gen(function* () {
      const { book } = yield* oneEntry
      yield* number(book)
      yield* commit(book, 1, "10.50")
      expect(yield* reconciled(book)).toEqual([])
      yield* mischief(
        (sql) => sql`
          update export.batches set manifest = replace(manifest::text, '10.50', '10.49')::json where book_id = ${book.bookId}`,
      )
      expect(yield* reconciled(book)).toEqual([])
      expect(yield* reconciled(book, true)).toHaveLength(1)
    }),
  )

  it.effect("is looked at however long its commit took", () =>
    Effect.gen(function* () {
      const { book } = yield* oneEntry
      yield* number(book)
      yield* reconciled(book)
      yield* commit(book, 1, "10.49")
      yield* mischief(
        (sql) =>
          sql`update export.batches set committed_at = now() - interval '2 days' where book_id = ${book.bookId}`,
      )
      expect(yield* reconciled(book)).toHaveLength(1)
    }),
  )

  it.effect("cannot be passed over by hand", () =>
    Effect.gen(function* () {
      const { book } = yield* oneEntry
      yield* number(book)
      yield* commit(book, 1, "10.50")
      yield* reconciled(book)
      const set = (batch: number) =>
        query(
          (sql) => sql`update reconcile.progress set through_batch = ${batch} where book_id = ${book.bookId}`,
        )
      expect(yield* Effect.flip(set(2))).toMatchObject({ sqlstate: "TO004" })
      expect(yield* Effect.flip(set(0))).toMatchObject({ sqlstate: "TO004" })
    }),
  )
})

layer(services)("what could not be understood", (it) => {
  it.effect("is one finding per stream, which says nothing of its content", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const put = (digest: string, reason: string) =>
        query(
          (sql) => sql`
            insert into mirror.quarantine (book_id, stream, raw, reason, path, digest, run_id)
            values (${book.bookId}, 'deposits', '{"remitterName":"Jane Remitter"}', ${reason}, '$.amount', ${digest}, 0)`,
        )
      yield* put("a", "is not positive")
      yield* put("b", "is negative")
      expect(yield* reconciled(book)).toEqual([
        {
          check_name: "quarantine",
          severity: "blocking",
          subject_type: "stream",
          subject_id: "deposits",
          message: "2 rows of deposits could not be understood; the first: $.amount is not positive.",
        },
      ])
      expect(JSON.stringify(yield* evidenceOf(book))).not.toContain("Jane")
      yield* query(
        (sql) => sql`update mirror.quarantine set resolved_at = now() where book_id = ${book.bookId}`,
      )
      expect(yield* reconciled(book)).toEqual([])
    }),
  )
})

layer(services)("reconciling", (it) => {
  const throughOf = (book: Book) =>
    Effect.map(
      query(
        (sql) => sql<Array<{ through_run: number }>>`
          select through_run from reconcile.progress where book_id = ${book.bookId}`,
      ),
      ([row]) => row?.through_run,
    )

  it.effect("by hand tells every check, what is open, and what it opened and closed", () =>
    Effect.gen(function* () {
      const { run } = yield* Reconcile
      const { account, book } = yield* oneEntry
      yield* readTails(book)
      const options = { connection: Option.some(book.connection), period: Option.none(), full: false }
      expect(yield* run(options)).toEqual({
        checks: checks.map(({ name }) => ({ name, findings: 0 })),
        opened: 0,
        closed: 0,
        findings: [],
        quarantined: 0,
        tieOut: { ...combined([]), accounts: 1 },
        notRead: [],
      })
      yield* query((sql) => sql`update mirror.accounts set balance = 11 where book_id = ${book.bookId}`)
      const found = yield* run(options)
      expect(found).toMatchObject({ opened: 1, closed: 0, quarantined: 0 })
      expect(found.findings).toEqual([
        {
          findingId: expect.stringMatching(/^F\d+$/),
          check: "cash-balance",
          severity: "blocking",
          book: book.code,
          message:
            "The books hold 10.50 USD, the last booked statement entry leaves 10.50 USD, the service reports 11.00 USD.",
          subject: account.id,
          openedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
          ...{ date: null, accountId: account.id, amount: null, days: 0, acceptedAt: null },
        },
      ])
      expect(found.checks.find(({ name }) => name === "cash-balance")).toEqual({
        name: "cash-balance",
        findings: 1,
      })
      yield* query((sql) => sql`update mirror.accounts set balance = 10.5 where book_id = ${book.bookId}`)
      expect(yield* run(options)).toMatchObject({ opened: 0, closed: 1, findings: [] })
    }),
  )

  it.effect("a month looks at that month and tells what happened in it", () =>
    Effect.gen(function* () {
      const { run } = yield* Reconcile
      const book = yield* openBook
      const account = yield* openAccount(book)
      yield* addEntry(account, { type: "CREDIT", amount: "1", occurredAt: "2026-09-30T23:59:59.999999Z" })
      const october = yield* addEntry(account, {
        type: "CREDIT",
        amount: "2",
        occurredAt: "2026-10-01T00:00:00Z",
      })
      yield* addEntry(account, { type: "CREDIT", amount: "3", occurredAt: "2026-11-01T00:00:00Z" })
      yield* readTails(book)
      const options = { connection: Option.some(book.connection), full: false }
      const found = yield* run({ ...options, period: Option.some("2026-10") })
      expect(found.findings.map(({ subject }) => subject)).toEqual([october])
      // A month alone is no progress: the rest is still to be looked at.
      expect(yield* throughOf(book)).toBe(0)
      expect((yield* run({ ...options, period: Option.none() })).findings).toHaveLength(3)
      expect((yield* run({ ...options, period: Option.some("2026-11") })).findings).toHaveLength(1)
      // What belongs to no month is told with every month, and what blocks comes first.
      yield* query((sql) => sql`update mirror.accounts set balance = 7 where book_id = ${book.bookId}`)
      const november = yield* run({ ...options, period: Option.some("2026-11") })
      expect(november.findings.map(({ check }) => check)).toEqual(["cash-balance", "adjustment"])
    }),
  )

  it.effect("goes as far as the run that has read, and never past one that still runs", () =>
    Effect.gen(function* () {
      const { afterRun } = yield* Reconcile
      const { book } = yield* oneEntry
      const first = yield* startRun(book)
      yield* afterRun([book], { ...(yield* asRun(first)), full: false })
      expect(yield* throughOf(book)).toBe(first)
      const running = yield* startRun(book)
      yield* unruled(
        `update sync.runs set state = 'running', whole = false, ended_at = null where run_id = ${running}`,
      )
      const second = yield* startRun(book)
      yield* afterRun([book], { ...(yield* asRun(second)), full: false })
      expect(yield* throughOf(book)).toBe(running - 1)
      // A later run has taken the lease: the one before it writes no more, however it ended.
      yield* query(
        (sql) =>
          sql`insert into sync.leases (connection, epoch, run_id) values (${book.connection}, 2, ${second})`,
      )
      yield* afterRun([book], { ...(yield* asRun(second)), full: false })
      expect(yield* throughOf(book)).toBe(second)
    }),
  )

  it.effect("what a run changed before the last reconciliation is not looked at again", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book)
      const run = yield* startRun(book)
      const id = yield* Effect.map(
        putResource(account, { type: "DEPOSIT", amount: "5", run }),
        (put) => put.id,
      )
      expect((yield* reconciled(book)).map(({ subject_id }) => subject_id)).toEqual([id])
      yield* query(
        (sql) => sql`update reconcile.findings set closed_at = now() where book_id = ${book.bookId}`,
      )
      expect(yield* reconciled(book)).toEqual([])
      expect((yield* reconciled(book, true)).map(({ subject_id }) => subject_id)).toEqual([id])
    }),
  )

  it.effect("writes nothing of a finding that stands as it is, night after night", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book)
      yield* addEntry(account, { type: "CREDIT", amount: "7.50" })
      yield* reconciled(book, true)
      const versions = query(
        (sql) => sql<Array<{ xmin: string; xmax: string }>>`
          select xmin::text, xmax::text from reconcile.findings where book_id = ${book.bookId} and closed_at is null`,
      )
      const [first] = yield* versions
      expect(first?.xmax).toBe("0")
      for (const full of [false, true]) {
        yield* reconciled(book, full)
        expect(yield* versions).toEqual([first])
      }
    }),
  )

  it.effect("several books together finds in each what is its own", () =>
    Effect.gen(function* () {
      const { afterRun } = yield* Reconcile
      const one = yield* oneEntry
      const other = yield* oneEntry
      yield* query((sql) => sql`update mirror.accounts set balance = 11 where book_id = ${other.book.bookId}`)
      const counts = yield* afterRun([one.book, other.book], {
        ...(yield* asRun(yield* startRun(one.book))),
        full: true,
      })
      expect(counts).toEqual({ opened: 1, closed: 0, blocking: 1, warnings: 0 })
      expect(yield* open(one.book)).toEqual([])
      expect((yield* open(other.book)).map(({ subject_id }) => subject_id)).toEqual([other.account.id])
    }),
  )
})
