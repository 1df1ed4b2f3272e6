/** A message that names books stays one that can be read, however many there are. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { allBooks } from "../../src/Book.ts"
import * as Export from "../../src/Export.ts"
import { Settings } from "../../src/Settings.ts"
import { reopening } from "../Close/Months.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("of 1,000 books", (it) => {
  it.effect("the first twenty are named", () =>
    Effect.gen(function* () {
      yield* unruled(`
        insert into mirror.books (connection, client_id, code, name)
        select 'default', md5(n::text)::uuid, 'C' || n, 'Client' from generate_series(1, 1000) n;
        insert into ledger.locks (book_id, time_zone) select book_id, 'UTC' from mirror.books on conflict do nothing;
        insert into mirror.accounts (book_id, account_id, currency, payment_rails, status, balance, balance_read_at, raw, run_id)
        select book_id, client_id, 'EUR', 'SEPA', 'ACTIVE', 0, now(), '{}', 1 from mirror.books`)
      const books = yield* allBooks(Option.none())
      const named = `${books
        .slice(0, 20)
        .map(({ code }) => code)
        .join(", ")} and 980 more`
      const exporting = Export.run({
        ...{ formats: ["journal"], scope: { kind: "all" }, perFormat: true },
        ...{ connection: Option.none(), book: Option.none(), out: temporaryFolder() },
      })
      const empty = yield* Effect.flip(exporting)
      expect(empty.message).toBe(`Nothing is booked yet in ${named}. Nothing was written.`)
      const open = yield* Effect.flip(reopening("2026-09", "Late"))
      expect(open.message).toBe(`2026-09 is not closed in ${named}. To close it: tieout close 2026-09`)
    }).pipe(Effect.provide(Settings.from({ variables: {} }))),
  )
})
