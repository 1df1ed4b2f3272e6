import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { addEntry, openAccount, openBook, query, services } from "../Reconcile/Books.ts"

layer(services)("what keeps a year from being archived", (it) => {
  it.effect("counts the entries without a number, of which one is one", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book)
      const refusals = Effect.map(
        query<{ why: string }>(
          (sql) => sql`select why from ledger.archive_refusals(${book.bookId}, 2026) r (why)`,
        ),
        (rows) => rows.map(({ why }) => why).filter((why) => why.includes("number")),
      )
      yield* addEntry(account, { type: "CREDIT", amount: "1.00" })
      expect(yield* refusals).toEqual(["has 1 journal entry up to 2026-12 without a number"])
      yield* addEntry(account, { type: "CREDIT", amount: "1.00" })
      expect(yield* refusals).toEqual(["has 2 journal entries up to 2026-12 without a number"])
    }),
  )
})
