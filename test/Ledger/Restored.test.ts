/** A process that goes on while a restored database takes the place of its own. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import type { Book } from "../../src/Book.ts"
import { Database } from "../../src/Database.ts"
import type { JournalEntry } from "../../src/Ledger/JournalEntry.ts"
import { Ledger } from "../../src/Ledger.ts"
import type { Commit } from "../../src/Run/Lease.ts"
import { Settings } from "../../src/Settings.ts"
import { statement } from "../support/statement.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const book: Book = {
  bookId: 1,
  connection: "default",
  clientId: Option.none(),
  code: "ORG",
  name: "Organization",
}

const entry: JournalEntry = {
  ...{ sourceType: "manual", sourceId: "00000000-0000-4000-8000-000000000001", kind: "manual", sequence: 0 },
  ...{ occurredAt: "2026-09-01T00:00:00Z", partnerAccountId: null, position: null },
  ...{ resourceType: null, resourceId: null, description: "", lines: [] },
  ...{ externalReference: Option.none(), counterparty: Option.none() },
}

layer(
  Ledger.Default.pipe(
    Layer.provide(Settings.from({ variables: {} })),
    Layer.provideMerge(TestDatabase.layer),
  ),
)("A process that goes on with a restored database", (it) => {
  it.effect("gives no identifier in its next run that another process has by then", () =>
    Effect.gen(function* () {
      const { transaction } = yield* Database
      const ledger = yield* Ledger
      const others = yield* Effect.map(Effect.context<Database>(), (context) =>
        Ledger.Default.pipe(
          Layer.fresh,
          Layer.provide(Settings.from({ variables: {} })),
          Layer.provide(Layer.succeedContext(context)),
        ),
      )
      yield* statement(
        "insert into mirror.books (connection, code, name) values ('default', 'ORG', 'Organization')",
      )
      const begins = (): Commit => (effect) => transaction(effect)
      const three = [entry, entry, entry]
      const before = begins()
      yield* ledger.followChart([book], before)
      yield* ledger.prepare(book, three, before)
      // The copy is older than that.
      yield* statement("select setval('ledger.journal_entry_block', 1024, false)")
      const theirs = yield* Effect.provide(
        Effect.flatMap(Ledger, (other) => other.prepare(book, [...three, ...three], transaction)),
        others,
      )
      const now = begins()
      yield* ledger.followChart([book], now)
      const ours = yield* ledger.prepare(book, three, now)
      expect(ours.ids.filter((id) => theirs.ids.includes(id))).toEqual([])
    }),
  )
})
