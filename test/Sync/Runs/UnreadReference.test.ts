/** What cannot be read although its book need not wait for it: reference data that is not where the profile guesses it, and a few statements. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { json } from "../../Partner/Service.ts"
import { inOwnDatabase, TestDatabase } from "../../support/TestDatabase.ts"
import { accountOf, clientId, lending, move } from "../Lending.ts"
import { at, loan, tx } from "../Loaned.ts"
import { id } from "../Partnership.ts"
import { findings, postings, rows, sync } from "../Runs.ts"

const unnumbered = rows(`
  select count(*)::integer as n from ledger.journal_entries e
  left join ledger.journal_numbers n using (book_id, entry_id) where n.number is null`).pipe(
  Effect.map((found) => Number(found[0]?.n)),
)

/** Whose exports say that the last sync did not read them. */
const failedBooks = rows(`
  select b.code from mirror.books b cross join lateral sync.last_sync(b.connection) r
  where sync.failed_to_read(r.summary, b.code)`).pipe(Effect.map((found) => found.map(({ code }) => code)))

const everything = { TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, client, credit]}}" }

const without = (...paths: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { held, service } = yield* lending()
    held.interfere = (asked, response) => {
      if (!paths.some((path) => asked.startsWith(`${path}?`))) return false
      json(response, { code: "odd" }, 405)
      return true
    }
    return { held, service }
  })

layer(TestDatabase.layer, { excludeTestServices: true })("a sync that cannot read", (it) => {
  it.scoped("the organization's address book numbers, proves and lends all the same, and fails", () =>
    Effect.gen(function* () {
      const { held, service } = yield* without(
        "/destinations",
        "/conversion-pairs",
        "/settings/payment-rails",
      )
      const out = move(held, "", { type: "DEBIT", amount: 1000, on: at(2) })
      move(held, "", { type: "CREDIT", amount: 5 })
      held.receivables = [loan({ disbursedTransaction: tx(out, 2) })]
      const { message } = yield* Effect.flip(sync(service.url, everything))
      expect(message.split("\n").slice(0, 3)).toEqual([
        expect.stringMatching(/^payment rails: GET \/settings\/payment-rails answered 405/),
        expect.stringMatching(/^conversion pairs: GET \/conversion-pairs answered 405/),
        expect.stringMatching(/^address book: GET \/destinations answered 405/),
      ])
      expect(yield* unnumbered).toBe(0)
      expect(yield* postings).toContainEqual(expect.stringContaining("receivable_principal 1000"))
      expect(yield* findings).toContain("adjustment warning")
      expect(yield* failedBooks).toEqual([])
    }).pipe(inOwnDatabase),
  )

  it.scoped("a client's address book numbers that client's book, and names it", () =>
    Effect.gen(function* () {
      const { held, service } = yield* without(`/clients/${clientId(1)}/destinations`)
      move(held, clientId(1), { type: "CREDIT", amount: 10 })
      const report = yield* sync(service.url, everything)
      expect(report.clientFailures).toMatchObject([{ book: "C1", unread: { name: "address book" } }])
      expect(yield* unnumbered).toBe(0)
      expect(yield* failedBooks).toEqual([])
    }).pipe(inOwnDatabase),
  )

  it.scoped("a list of movements leaves its book without numbers", () =>
    Effect.gen(function* () {
      const { held, service } = yield* without("/deposits")
      move(held, "", { type: "CREDIT", amount: 10 })
      yield* Effect.flip(sync(service.url, everything))
      expect(yield* unnumbered).toBe(1)
      expect(yield* failedBooks).toEqual(["ORG"])
    }).pipe(inOwnDatabase),
  )

  const refusing = (account: object, status: number) =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      const other = {
        accountId: id(77),
        currency: "USD",
        paymentRails: "ACH",
        balance: "0.00",
        status: "ACTIVE",
      }
      held.interfere = (asked, response) => {
        if (asked.startsWith(`/accounts/${id(77)}/statement`)) {
          if (status === 204) response.writeHead(204).end()
          else json(response, { code: "unavailable" }, status)
          return true
        }
        if (!asked.startsWith("/accounts?")) return false
        const items = [
          { ...other, accountId: accountOf(""), paymentRails: "SWIFT", balance: "-995.00" },
          { ...other, ...account },
        ]
        json(response, { items, pageInfo: { hasNextPage: false } })
        return true
      }
      const out = move(held, "", { type: "DEBIT", amount: 1000, on: at(2) })
      move(held, "", { type: "CREDIT", amount: 5 })
      held.receivables = [loan({ disbursedTransaction: tx(out, 2) })]
      const { message } = yield* Effect.flip(sync(service.url, everything))
      expect(message).toContain(`statement ${id(77)}: GET`)
    })

  for (const status of [400, 401, 403, 404, 409, 423]) {
    it.scoped(
      `the statement of a suspended account (${status}) numbers, proves and lends all the same, and fails`,
      () =>
        Effect.gen(function* () {
          yield* refusing({ status: "SUSPENDED", balance: "30.00" }, status)
          expect(yield* unnumbered).toBe(0)
          expect(yield* postings).toContainEqual(expect.stringContaining("receivable_principal 1000"))
          // Nothing is said to tie out.
          expect(yield* findings).toContain("cash-balance blocking")
        }).pipe(inOwnDatabase),
    )
  }

  for (const status of [404, 410, 204]) {
    it.scoped(
      `the statement of an account without entries or balance (${status}) numbers and lends all the same`,
      () =>
        Effect.gen(function* () {
          yield* refusing({}, status)
          expect(yield* unnumbered).toBe(0)
          expect(yield* postings).toContainEqual(expect.stringContaining("receivable_principal 1000"))
        }).pipe(inOwnDatabase),
    )
  }

  it.scoped(
    "the statement of another account (409, or 404 with a balance) leaves its book without numbers",
    () =>
      Effect.gen(function* () {
        yield* refusing({}, 409)
        expect(yield* unnumbered).toBe(2)
        yield* refusing({ balance: "1.00" }, 404)
        expect(yield* unnumbered).toBe(2)
      }).pipe(inOwnDatabase),
  )
})
