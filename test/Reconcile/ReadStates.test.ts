/** How far behind a book is, by what the settings read of it. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { readStates, unreadFor } from "../../src/Reconcile/ReadStates.ts"
import { Settings } from "../../src/Settings.ts"
import { credit, partnership } from "../Sync/Partnership.ts"
import { rows, sync, variablesFor } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"

/** Of each book, by code: hours since it was read, and how many of its streams cannot be. */
const hoursUnread = (url: string, surfaces: string) =>
  readStates(null).pipe(
    Effect.map((states) =>
      states.map((state) => [state.code, Math.floor(unreadFor(state) / 3_600), state.failing]),
    ),
    Effect.provide(
      Settings.from({
        variables: { ...variablesFor(url), TIEOUT_CONNECTIONS: `{default: {surfaces: [${surfaces}]}}` },
      }),
    ),
  )

layer(TestDatabase.layer, { excludeTestServices: true })("a book", (it) => {
  it.scoped("is not late by what the settings no longer read of it", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership({ balance: "5.00", statement: [credit(1, "5.00", "5.00")] })
      yield* sync(service.url)
      yield* unruled("update sync.stream_reads set ended_at = now() - interval '30 hours'")
      yield* rows(`
        insert into sync.stream_reads (book_id, stream, ended_at, run_id)
        select book_id, 'clients', now(), 1 from mirror.books returning 1`)
      yield* unruled(
        "update sync.stream_reads set trouble = 'Timeout', failing_since = now() where stream = 'deposits'",
      )
      expect(yield* hoursUnread(service.url, "organization")).toEqual([["ORG", 30, 1]])
      expect(yield* hoursUnread(service.url, "organization, client")).toEqual([["ORG", 30, 1]])
      expect(yield* hoursUnread(service.url, "client")).toEqual([["ORG", 0, 0]])
      yield* unruled("update mirror.books set connection = 'former'")
      expect(yield* hoursUnread(service.url, "client")).toEqual([])
    }),
  )
})
