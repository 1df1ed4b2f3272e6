/** An acceptance that names nothing refuses the whole close before any book is closed; one that names something closes its book. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { approve } from "../../src/Close/Approval.ts"
import { client, clientId, lending, move, receivable } from "../Sync/Lending.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { messageOf } from "../support/messageOf.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { closing, reopening } from "./Months.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("an acceptance", (it) => {
  it.scoped("that names no finding closes no book, also of those that have nothing in the way", () =>
    Effect.gen(function* () {
      const variables = { TIEOUT_CONNECTIONS: "{default: {surfaces: [client]}}" }
      const { held, service } = yield* lending({ clients: [client(1)], clock: "2026-11-02T00:00:00Z" })
      move(held, clientId(1), { type: "DEBIT", amount: 10, on: "2026-10-06T12:00:00Z" })
      yield* sync(service.url, variables)
      const [finding] = yield* rows(`select 'F' || finding_id as id from reconcile.open_findings
        where check_name = 'adjustment'`)
      const accepting = (...ids: ReadonlyArray<string>) =>
        closing("2026-10", { accept: ids.map((id) => ({ id, reason: "looked at" })), variables })

      expect(yield* messageOf(accepting(String(finding?.id), "banana", "F99999999999999999999"))).toBe(
        '--accept: there is no finding "banana", "F99999999999999999999". Nothing was accepted or closed. To see what is in the way: tieout close 2026-10 --dry-run',
      )
      expect(yield* rows("select sequence from ledger.closes")).toEqual([])

      const closed = yield* accepting(String(finding?.id).toLowerCase())
      expect(closed.map(({ state }) => state)).toEqual(["closed"])
    }),
  )

  it.scoped("closes the book of an accepted finding, also where it has no account", () =>
    Effect.gen(function* () {
      const variables = { TIEOUT_CONNECTIONS: "{default: {surfaces: [client, credit]}}" }
      const { held, service } = yield* lending({ clients: [client(1)], clock: "2026-11-02T00:00:00Z" })
      held.receivables = [receivable({ status: "OVERDUE" })]
      yield* sync(service.url, variables)
      const [odd] = yield* rows(`select 'F' || finding_id as id from reconcile.open_findings
        where check_name = 'receivable-state'`)
      const closed = (accept: ReadonlyArray<{ id: string; reason: string }>) =>
        Effect.map(closing("2026-10", { accept, variables }), (books) =>
          books.map(({ accepted, book, state }) => `${book} ${state} ${accepted.map(({ id }) => id).join()}`),
        )
      expect(yield* closed([])).toEqual(["C1 closed "])
      // Also where all others are closed already.
      const accept = [{ id: String(odd?.id).toLowerCase(), reason: "looked at" }]
      expect(yield* closed(accept)).toEqual(["C1 already closed ", `ORG closed ${odd?.id}`])
      expect(yield* rows("select check_name from reconcile.accepted_findings")).toEqual([
        { check_name: "receivable-state" },
      ])
      // What is said of the month of all books is said of this one.
      const books = ["C1", "ORG"]
      const period = "2026-10"
      const approved = yield* approve({ period, book: Option.none(), name: "Ada", twoPersons: false })
      expect(approved.map(({ book }) => book)).toEqual(books)
      expect((yield* reopening(period)).map(({ book }) => book)).toEqual(books)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("closes the book of a row in quarantine, also where it has no account", () =>
    Effect.gen(function* () {
      const variables = { TIEOUT_CONNECTIONS: "{default: {surfaces: [client, credit]}}" }
      const { held, service } = yield* lending({ clients: [client(1)], clock: "2026-11-02T00:00:00Z" })
      held.receivables = [{ id: 7 }]
      yield* sync(service.url, variables)
      const [row] = yield* rows("select 'F' || finding_id as id from reconcile.open_findings")
      const accept = [{ id: String(row?.id), reason: "looked at" }]
      const closed = yield* closing("2026-10", { accept, variables })
      expect(closed.map(({ book, state }) => `${book} ${state}`)).toEqual(["C1 closed", "ORG closed"])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
