/** A break that stays, which a statement ends with. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { credit, partnership } from "../Partnership.ts"
import { findings, rows, sync } from "../Runs.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("a statement that ends with a row of zero", (it) => {
  it.scoped("after which the balance is another is read whole once, and not every night", () =>
    Effect.gen(function* () {
      const entries = Array.from({ length: 30 }, (_, at) => credit(20 + at, "1", String(at + 1)))
      const { held, service } = yield* partnership({
        balance: "30",
        pageSize: 2,
        statement: [...entries, credit(90, "0", "29")],
      })
      yield* sync(service.url)
      let before = 0
      const pages = () => {
        const asked = service.calls.filter(({ path }) => path.includes("/statement")).length
        const since = asked - before
        before = asked
        return since
      }
      pages()
      yield* sync(service.url)
      // From the last transaction before the row: of sixteen pages, and not all of them twice.
      expect(pages()).toBeLessThan(10)
      expect(yield* findings).toContain("quarantine blocking")
      // The service puts it right, and goes on.
      held.statement = [...entries, credit(90, "0", "30"), credit(91, "1", "31")]
      held.balance = "31"
      yield* sync(service.url)
      expect(yield* findings).not.toContain("quarantine blocking")
      expect(
        yield* rows("select count(*)::integer as n from mirror.statement_entries where not held"),
      ).toEqual([{ n: 32 }])
    }),
  )
})
