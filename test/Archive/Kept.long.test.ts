/** What a year leaves behind, and why, in two books that share a connection: each reason by one movement that nothing else keeps. */
import { expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { describe } from "vitest"
import { reclassify } from "../../src/Reclassify.ts"
import { closing } from "../Close/Months.ts"
import { json } from "../Partner/Service.ts"
import { tried } from "../Proof/Falsehood.ts"
import { proof } from "../Proof/Filled.ts"
import { accountOf, clientId, lending, move, orgDeposit, receivable } from "../Sync/Lending.ts"
import { id } from "../Sync/Partnership.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { services } from "../support/BookServices.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { archiving } from "./Years.ts"

const client = clientId(1)

const surfaces = { TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, client, credit]}}" }

const day = (text: string) => ({ on: `${text}T12:00:00Z` })
const made = (text: string) => ({ createdAt: `${text}T11:00:00Z` })
const tx = (txId: string, text: string) => ({ txId, txTimestamp: `${text}T12:00:00Z` })

const closedWith = Effect.fn("Test.closedWith")(function* (months: ReadonlyArray<string>) {
  for (const month of months) {
    const open = yield* rows("select 'F' || finding_id as id from reconcile.open_findings order by 1")
    const accept = open.map(({ id: finding }) => ({ id: String(finding), reason: "known" }))
    for (const book of ["ORG", "C1"]) {
      const options = { book, variables: surfaces }
      const [tried] = yield* closing(month, { ...options, accept })
      if (tried?.state === "closed") continue
      const [again] = yield* closing(month, options)
      if (again?.state !== "closed") return yield* Effect.dieMessage(JSON.stringify(again ?? tried))
    }
  }
})

const kept = Effect.map(
  rows(`
    select b.code || ' ' || right(u.unit::text, case when s.entry_id is null then 3 else 2 end) as unit, u.kept_by from mirror.books b
    cross join lateral ledger.archive_units(b.book_id, '2024-12-01') u
    left join mirror.statement_entries s on s.book_id = b.book_id and s.entry_id = u.unit order by 1`),
  (found) => Object.fromEntries(found.map(({ kept_by: why, unit }) => [String(unit), why])),
)

const twoBooks = Effect.gen(function* () {
  const { held, service } = yield* lending()
  const of = (number: number, amount: number, text: string, book = "") =>
    move(held, book, {
      type: "CREDIT",
      amount,
      relatedType: "DEPOSIT",
      relatedId: id(number),
      ...day(text),
    })
  of(111, 5000, "2024-02-01")
  of(121, 10, "2024-02-02")
  of(131, 11, "2024-02-03")
  const unread = of(141, 12, "2024-02-04")
  of(151, 13, "2024-02-05")
  of(161, 14, "2024-02-06")
  const lent = move(held, "", { type: "DEBIT", amount: 1000, ...day("2024-03-02") })
  const repaid = move(held, "", { type: "CREDIT", amount: 1025, ...day("2024-03-20") })
  of(171, 15, "2025-01-10")
  of(211, 100, "2024-02-01", client)
  of(221, 20, "2025-01-10", client)
  const account = { account: { accountId: accountOf(client), currency: "USD", paymentRails: "SWIFT" } }
  held.deposits = [
    orgDeposit(111, "5000.00", made("2024-02-01")),
    orgDeposit(121, "10.00", { ...made("2024-02-02"), fee: { amount: "1.00", currency: "USD" } }),
    orgDeposit(131, "11.00", made("2024-02-03")),
    orgDeposit(151, "13.00", { ...made("2024-02-05"), status: "PENDING" }),
    orgDeposit(161, "14.00", made("2024-02-06")),
    orgDeposit(171, "15.00", made("2025-01-10")),
    orgDeposit(211, "100.00", { ...made("2024-02-01"), ...account }),
    orgDeposit(221, "20.00", { ...made("2025-01-10"), ...account }),
  ]
  // The organization's list has its own alone.
  held.interfere = (path, response) => {
    if (path.split("?")[0] !== "/deposits") return false
    json(response, { items: held.deposits.slice(0, 6), pageInfo: { hasNextPage: false } })
    return true
  }
  const loan = {
    issueDate: "2024-03-01T00:00:00Z",
    repaymentAmount: "1025.00",
    disbursedTransaction: tx(lent, "2024-03-02"),
  }
  const active = receivable({ ...loan, status: "ACTIVE" })
  held.receivables = [active]
  yield* sync(service.url, surfaces)
  const paid = receivable({
    ...loan,
    status: "PAID",
    currentPrincipal: "0.00",
    repaymentAmount: "0.00",
    repaymentTransactions: [tx(repaid, "2024-03-20")],
  })
  held.receivables = [paid]
  yield* sync(service.url, surfaces)
  yield* reclassify({
    id: unread,
    to: "4400",
    name: Option.some("Income:Other"),
    reason: "known",
    who: "controller",
  }).pipe(Effect.provide(services))
  yield* sync(service.url, surfaces)
  yield* closedWith(["2024-02", "2024-03", "2025-01"])
  return { active, held, paid, service }
})

const deposit = (number: number) =>
  `select book_id, resource_id, resource_type from mirror.resources where resource_id = '${id(number)}'`

const booksOf = rows(`
  select b.code, a.code || ' ' || to_char(t.period, 'YYYY-MM') || ' ' || t.debit || ' ' || t.credit as line
  from ledger.balances t join ledger.accounts a using (book_id, account_id) join mirror.books b using (book_id) order by 1, 2`)

const here = Effect.map(
  rows(`
    select b.code || ' ' || right(r.resource_id::text, 3) as name from mirror.resources r join mirror.books b using (book_id)
    order by 1`),
  (found) => found.map(({ name }) => name),
)

describe("what of two books leaves with a year", () => {
  it.scopedLive("is each movement that is over in every respect, of its own book alone", () =>
    Effect.gen(function* () {
      const { active, held, paid, service } = yield* twoBooks
      expect(yield* kept).toEqual({
        "C1 211": null,
        "ORG 07": "loan",
        "ORG 08": "loan",
        "ORG 900": "loan",
        "ORG 111": null,
        "ORG 121": "finding",
        "ORG 131": null,
        "ORG 141": "not read",
        "ORG 151": "not final",
        "ORG 161": null,
      })
      // What comes between two nights: a check has it in its queue; an entry was read with two contents, and nobody has looked yet.
      for (const [statement, number, why] of [
        [
          `insert into reconcile.deferred (book_id, resource_id, resource_type) ${deposit(161)}`,
          161,
          "to be looked at",
        ],
        [
          `insert into mirror.contradictions (book_id, entry_id, account_id, content, digest, run_id)
            select book_id, entry_id, account_id, '{"absent":true}', 'absent', run_id from mirror.statement_entries
            where related_id = '${id(131)}'`,
          131,
          "contradiction",
        ],
      ] as const) {
        const { look, written } = yield* tried("program", statement, kept)
        expect([written, look?.[`ORG ${number}`]]).toEqual([1, why])
      }

      // Past the rules of the database: each fact by itself keeps the movement.
      const of161 = `related_id = '${id(161)}'`
      const entry161 = `(select entry_id from mirror.statement_entries where ${of161})`
      const finding = (closed: string) => `
        insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence, opened_at, closed_at)
        select book_id, 'movement-entries', 'blocking', 'deposit', related_id, '', '{}', '2024-02-06', ${closed}
        from mirror.statement_entries where ${of161}`
      for (const [statement, why] of [
        [
          `insert into mirror.statement_entries (book_id, run_id, position, occurred_at, account_id, entry_id, type, amount, currency,
            balance_after, related_type, related_id)
          select book_id, run_id, position + 1000, '2025-01-01', account_id, gen_random_uuid(), 'DEBIT', amount, currency, 0,
            related_type, related_id from mirror.statement_entries where ${of161}`,
          "moved later",
        ],
        [
          `insert into ledger.journal_entries (book_id, entry_id, effective_date, occurred_at, source_type, source_id, kind, description,
            sequence, line_count, run_id)
          select book_id, entry_id + 100000, '2025-01-01', occurred_at, 'manual', source_id, 'reclassification', description, 1,
            line_count, run_id
          from ledger.journal_entries where source_id = ${entry161}`,
          "moved later",
        ],
        [
          `update ledger.postings p set account_id = (
            select s.account_id from ledger.accounts s where s.book_id = p.book_id and s.role = 'suspense' and s.currency = p.currency)
          where p.account_id = (
            select c.account_id from ledger.accounts c
            where c.book_id = p.book_id and c.role = 'deposits_clearing' and c.currency = p.currency)
          and p.entry_id in (select entry_id from ledger.journal_entries where source_id = ${entry161})`,
          "open item",
        ],
        [
          `insert into mirror.resource_versions (book_id, resource_type, resource_id, version, status, final, raw, changed_at,
            superseded_at, run_id)
          select book_id, resource_type, resource_id, 99, 'PENDING', false, raw, changed_at, now(), run_id
          from mirror.resources where resource_id = '${id(161)}'`,
          "not final",
        ],
        [
          `update mirror.resources set completed_at = '2025-01-01' where resource_id = '${id(161)}'`,
          "not final",
        ],
        [finding("now()"), "finding"],
        [finding("'2024-12-01'"), null],
      ] as const) {
        const { look, refused, written } = yield* tried("unruled", statement, kept)
        expect([statement, refused, written, look?.["ORG 161"]]).toEqual([statement, "", 1, why])
      }

      const before = yield* booksOf
      const org = yield* archiving(2024, { book: Option.some("ORG") })
      expect(org.books).toMatchObject([{ book: "ORG", state: "archived" }])
      expect(org.books[0]?.kept).toEqual([
        { why: "finding", movements: 1n, entries: 1n },
        // Its two payments, and what the receivable's versions booked.
        { why: "loan", movements: 3n, entries: 6n },
        { why: "not final", movements: 1n, entries: 1n },
        // It was moved by hand.
        { why: "not read", movements: 1n, entries: 2n },
      ])
      expect(yield* here).toEqual(["C1 211", "C1 221", "ORG 121", "ORG 151", "ORG 171"])
      expect(yield* rows("select count(*)::integer as n from ledger.archived_sources")).toEqual([{ n: 3 }])
      expect(yield* proof).toMatchObject({ wrong: [] })
      const both = yield* archiving(2024)
      expect(both.books).toMatchObject([
        { book: "C1", state: "archived" },
        { book: "ORG", state: "nothing to archive" },
      ])
      expect(yield* here).toEqual(["C1 221", "ORG 121", "ORG 151", "ORG 171"])
      expect(yield* booksOf).toEqual(before)
      const full = yield* sync(service.url, surfaces, true)
      expect([full.counters.entries, full.counters.journalEntries]).toEqual([0, 0])
      expect(yield* proof).toMatchObject({ wrong: [] })

      // The loan's cash is here to be shared out anew: the service takes the repayment back, and states it again.
      const clearing = rows(`
        select a.role, sum(t.debit - t.credit)::text as amount from ledger.balances t join ledger.accounts a using (book_id, account_id)
        where a.role like any (array['loan%', 'receivable%', 'interest%']) group by 1 having sum(t.debit - t.credit) <> 0 order by 1`)
      const settled = yield* clearing
      held.receivables = [active]
      yield* sync(service.url, surfaces)
      expect(yield* clearing).not.toEqual(settled)
      held.receivables = [paid]
      yield* sync(service.url, surfaces)
      expect(yield* clearing).toEqual(settled)
      expect(yield* proof).toMatchObject({ wrong: [] })
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
