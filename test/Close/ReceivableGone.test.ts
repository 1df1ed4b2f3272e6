/** A receivable that the list no longer has while something of it is owed. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { json } from "../Partner/Service.ts"
import { clientId, lending, move, receivable } from "../Sync/Lending.ts"
import { at, borrower, loan, paid, second, surfaces, tx } from "../Sync/Loaned.ts"
import { id } from "../Sync/Partnership.ts"
import { findings, rows, sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { closing } from "./Months.ts"

const messages = rows(`
  select b.code || ' ' || f.severity || ' ' || f.message as line from reconcile.findings f
  join mirror.books b using (book_id) where f.closed_at is null and f.check_name = 'receivable-gone' order by 1`).pipe(
  Effect.map((found) => found.map(({ line }) => line)),
)

/** A list was read when it was asked for, some milliseconds before its `Date` says. */
const gone = (book: string): unknown =>
  expect.stringMatching(
    `^${book} blocking Receivable ${id(900)} \\(ACTIVE\\) is not in the list of receivables any more\\. It was last listed on 2026-10-06T12:00:\\d\\dZ with a principal of 1000\\.00 USD and 1025\\.00 USD to be repaid\\.$`,
  )

/** An ACTIVE receivable that was paid out and left the list, while others come and go beside it. */
const vanished = (variables: Record<string, string>) =>
  Effect.gen(function* () {
    const book = variables === borrower ? clientId(1) : ""
    const { held, service } = yield* lending()
    const out = move(held, book, { type: book === "" ? "DEBIT" : "CREDIT", amount: 1000, on: at(2) })
    const one = loan({ disbursedTransaction: tx(out, 2) })
    held.receivables = [
      one,
      receivable({ receivableId: second }),
      receivable({ receivableId: id(902), status: "CANCELED" }),
    ]
    const run = sync(service.url, variables)
    yield* run
    held.clock = "2026-10-06T12:00:30Z"
    yield* run
    expect(yield* messages).toEqual([])
    held.clock = "2026-11-02T12:00:00Z"
    held.receivables = []
    yield* run
    return { held, run, one }
  })

layer(TestDatabase.layer, { excludeTestServices: true })("a receivable that leaves the list", (it) => {
  it.scoped("is a blocking finding with its last known state, until it is served again", () =>
    Effect.gen(function* () {
      const { held, one, run } = yield* vanished(surfaces)
      expect(yield* messages).toEqual([gone("ORG")])
      held.clock = "2026-11-03T12:00:00Z"
      yield* run
      expect(yield* messages).toEqual([gone("ORG")])

      const [blocked] = yield* closing("2026-10", { variables: surfaces })
      expect(blocked?.blockers.map(({ what }) => what)).toEqual([
        expect.stringContaining(`receivable-gone: Receivable ${id(900)}`),
      ])
      const accept = [{ id: blocked?.blockers[0]?.id ?? "", reason: "Sold" }]
      expect((yield* closing("2026-10", { accept, variables: surfaces }))[0]?.state).toBe("closed")

      held.receivables = [one]
      yield* run
      expect(yield* findings).toEqual([])
    }),
  )

  it.scoped("is a finding in the borrower's book, too", () =>
    Effect.gen(function* () {
      yield* vanished(borrower)
      expect(yield* messages).toEqual([gone("C1")])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("is no finding after it was repaid, nor while the list cannot be read", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      const out = move(held, "", { type: "DEBIT", amount: 1000, on: at(2) })
      const back = move(held, "", { type: "CREDIT", amount: 1025, on: at(4) })
      const open = move(held, "", { type: "DEBIT", amount: 1000, on: at(4) })
      held.receivables = [
        paid(back, {
          repaymentAmount: "1025.00",
          disbursedTransaction: tx(out, 2),
          repaymentTransactions: [tx(back, 4)],
        }),
        loan({ receivableId: second, disbursedTransaction: tx(open, 4) }),
      ]
      yield* sync(service.url, surfaces)
      held.interfere = (path, response) => {
        if (!path.startsWith("/receivables")) return false
        json(response, { code: "gone" }, 404)
        return true
      }
      yield* sync(service.url, surfaces)
      expect(yield* messages).toEqual([])
      held.interfere = () => false
      held.receivables = held.receivables.slice(1)
      yield* sync(service.url, surfaces)
      expect(yield* messages).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("is no finding while its row is in quarantine", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      const out = move(held, "", { type: "DEBIT", amount: 1000, on: at(2) })
      held.receivables = [loan({ disbursedTransaction: tx(out, 2) })]
      yield* sync(service.url, surfaces)
      held.receivables = [loan({ disbursedTransaction: tx(out, 2), currentPrincipal: "odd" })]
      yield* sync(service.url, surfaces)
      expect(yield* messages).toEqual([])
      expect(yield* findings).toContain("quarantine blocking")
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
