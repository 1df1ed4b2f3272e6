/** A list of reference data cannot be read, for instance since it is not where the profile guesses it: the books do not wait for it. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { json } from "../../Partner/Service.ts"
import { inOwnDatabase, TestDatabase } from "../../support/TestDatabase.ts"
import { clientId, lending, move } from "../Lending.ts"
import { at, loan, tx } from "../Loaned.ts"
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
})
