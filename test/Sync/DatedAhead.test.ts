/** Times that cannot be: of an entry that has not happened yet, and of an answer whose `Date` is far off. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestDatabase } from "../support/TestDatabase.ts"
import { lending } from "./Lending.ts"
import { loan, paid, surfaces, tx } from "./Loaned.ts"
import { credit, id, partnership } from "./Partnership.ts"
import { findings, rows, sync } from "./Runs.ts"

const days = rows("select effective_date::text as day, kind from ledger.journal_entries order by 1, 2").pipe(
  Effect.map((found) => found.map(({ day, kind }) => `${day} ${kind}`)),
)

const messages = rows(
  "select message from reconcile.findings where check_name = 'dated-ahead' and closed_at is null",
).pipe(Effect.map((found) => found.map(({ message }) => message)))

const fresh = TestDatabase.layer

layer(TestDatabase.layer, { excludeTestServices: true })("what is dated long after it was read", (it) => {
  it.scoped("is booked as the service says, under a finding that no month closes over", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({
        balance: "12.00",
        statement: [
          credit(11, "10.00", "10.00"),
          { ...credit(12, "2.00", "12.00"), occurredAt: "2126-10-06T10:00:00Z" },
        ],
      })
      yield* sync(service.url)
      expect(yield* days).toEqual(["2026-10-01 adjustment", "2126-10-06 adjustment"])
      expect(yield* findings).toEqual(["adjustment warning", "adjustment warning", "dated-ahead blocking"])
      expect(yield* messages).toEqual([
        expect.stringMatching(
          /^The CREDIT of 2\.00 USD is dated 2126-10-06, though it was read on 20\d\d-\d\d-\d\d: the books have it in 2126-10\.$/,
        ),
      ])
      // It stays, whatever later runs read.
      held.statement.push(credit(13, "1.00", "13.00"))
      held.balance = "13.00"
      yield* sync(service.url)
      expect(yield* messages).toHaveLength(1)
    }).pipe(Effect.provide(fresh)),
  )

  it.scoped("is found in a receivable as well", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      held.receivables = [loan()]
      yield* sync(service.url, surfaces)
      expect(yield* messages).toEqual([])
      held.receivables = [
        paid("TX", { repaymentTransactions: [{ txId: "TX", txTimestamp: "2126-10-20T12:00:00Z" }] }),
      ]
      yield* sync(service.url, surfaces)
      expect(yield* messages).toEqual([
        expect.stringMatching(
          new RegExp(
            `^Part of the receivable ${id(900)} is dated 2126-10-20, though it was read on 20\\d\\d-\\d\\d-\\d\\d: the books have it in 2126-10\\.$`,
          ),
        ),
      ])
    }).pipe(Effect.provide(fresh)),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "the Date of an answer that shows receivables",
  (it) => {
    const shown = (clock: string) =>
      Effect.gen(function* () {
        const { held, service } = yield* lending({ clock })
        held.receivables = [loan({ disbursedTransaction: tx("TX", 2) })]
        yield* sync(service.url, surfaces)
        return yield* days
      })

    it.scoped("dates interest", () =>
      Effect.gen(function* () {
        expect(yield* shown("2026-10-05T12:00:00Z")).toEqual([
          "2026-10-02 disbursement",
          "2026-10-05 accrual",
        ])
      }).pipe(Effect.provide(fresh)),
    )

    it.scoped.each(["2126-10-05T12:00:00Z", "1970-01-02T12:00:00Z"])(
      "dates nothing where it cannot be true: %s",
      (clock) =>
        Effect.gen(function* () {
          expect(yield* shown(clock)).toEqual(["2026-10-02 accrual", "2026-10-02 disbursement"])
        }).pipe(Effect.provide(fresh)),
    )
  },
)
