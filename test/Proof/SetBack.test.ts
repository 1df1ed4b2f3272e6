/**
 * The database's clock was ahead while it worked, and was set back: the rules let every time be that of its clock, so what came later
 * has an earlier one. That is no sign of anybody's hand, and no backup has other times.
 */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { prove } from "../../src/Proof.ts"
import { Settings } from "../../src/Settings.ts"
import { lending, move } from "../Sync/Lending.ts"
import { surfaces } from "../Sync/Loaned.ts"
import { sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"

const accused = Effect.map(Effect.provide(prove(), Settings.from({ variables: surfaces })), ({ proofs }) =>
  proofs.flatMap(({ wrong }) => wrong.map(({ message }) => message)),
)

layer(TestDatabase.layer, { excludeTestServices: true })("verify --database", (it) => {
  it.scoped("accuses nothing whose times a clock has made that was set back", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      move(held, "", { type: "CREDIT", amount: 1000 })
      yield* sync(service.url, surfaces)
      expect(yield* accused).toEqual([])
      // A run that was killed while the clock was ahead, as the next run found it; and one in which it was set back.
      yield* unruled(`
        insert into sync.runs (connection, command, state, started_at, ended_at)
          values ('default', 'sync', 'abandoned', now() + interval '40 days', now());
        update sync.runs set started_at = ended_at + interval '1 hour' where state = 'done';
        insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence, opened_at, seen_at, closed_at)
          select book_id, 'dead-letter', 'blocking', 'book', book_id::text, 'The workers gave it up.', '{}',
            now() + interval '40 days', now() + interval '40 days', now() from mirror.books;
        insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence, opened_at, seen_at, closed_at)
          select book_id, 'dead-letter', 'blocking', 'book', book_id::text, 'The workers gave it up.', '{}',
            now() + interval '40 days', now(), now() from mirror.books`)
      expect(yield* accused).toEqual([])
      // A run that is known to have ended in order bounds its reads.
      yield* unruled("update sync.runs set started_at = ended_at - interval '1 minute' where state = 'done'")
      expect(yield* accused).toEqual([])
      yield* unruled("update sync.stream_reads set ended_at = ended_at + interval '1 hour'")
      expect((yield* accused).length).toBeGreaterThan(0)
    }),
  )
})
