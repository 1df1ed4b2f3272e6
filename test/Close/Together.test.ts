/** Several books close in one transaction, each by its own evidence. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { client, clientId, lending, move } from "../Sync/Lending.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { checking, closing } from "./Months.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("the months of several books", (it) => {
  it.scoped("close together; a book that is blocked stays open, a month without entries closes, too", () =>
    Effect.gen(function* () {
      const variables = { TIEOUT_CONNECTIONS: "{default: {surfaces: [client]}}" }
      const { held, service } = yield* lending({
        clients: [client(1), client(2), client(3), client(4)],
        clock: "2026-11-02T00:00:00Z",
      })
      for (const [index, amount] of [
        [1, 10],
        [2, 20],
        [3, 30],
      ] as const) {
        move(held, clientId(index), { type: "CREDIT", amount, on: "2026-10-05T12:00:00Z" })
        // Without a resource: an adjustment, which stands in suspense.
        move(held, clientId(index), { type: "DEBIT", amount, on: "2026-10-06T12:00:00Z" })
      }
      yield* sync(service.url, variables)
      const found = yield* rows(`select b.code, 'F' || f.finding_id as id from reconcile.findings f
        join mirror.books b using (book_id) where f.closed_at is null and f.check_name = 'adjustment' order by 1, 2`)
      const accept = found
        .filter(({ code }) => code !== "C2")
        .map(({ id }) => ({ id: String(id), reason: "looked at" }))
      const results = (yield* closing("2026-10", { accept, variables })).filter(({ book }) => book !== "ORG")
      expect(
        results.map(({ accepted, book, entries, state }) => [book, state, entries, accepted.length]),
      ).toEqual([
        ["C1", "closed", 2n, 2],
        ["C2", "blocked", null, 0],
        ["C3", "closed", 2n, 2],
        ["C4", "closed", 0n, 0],
      ])
      expect(results.find(({ book }) => book === "C2")?.blockers.map(({ id }) => id)).toEqual(
        found.filter(({ code }) => code === "C2").map(({ id }) => id),
      )
      expect(new Set(results.map(({ hash }) => hash)).size).toBe(4)
      // Each hash is that of its own book's journal alone, as a check of that book computes it.
      expect(yield* checking("2026-10")).toEqual([])
      const balances = yield* rows(`select b.code, count(*)::integer as accounts, sum(x.balance)::text as sum
        from ledger.close_balances x join mirror.books b using (book_id) where b.code <> 'ORG' group by b.code order by b.code`)
      expect(balances).toEqual([
        { code: "C1", accounts: 2, sum: "0.00" },
        { code: "C3", accounts: 2, sum: "0.00" },
      ])
      const again = yield* closing("2026-10", {
        accept: found.map(({ id }) => ({ id: String(id), reason: "looked at" })),
        variables,
      })
      expect(again.flatMap(({ book, state }) => (book === "ORG" ? [] : [`${book} ${state}`]))).toEqual([
        "C1 already closed",
        "C2 closed",
        "C3 already closed",
        "C4 already closed",
      ])
      expect(yield* checking("2026-10")).toEqual([])
    }),
  )
})
