/** The status page and the metrics look at the latest events without going through those of months. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { inboxOverview } from "../../src/Serve/Overview/InboxEvents.ts"
import { rowsTouched } from "../support/RowsTouched.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"

/** One every hour, the latest so many hours ago; then the statistics and the summaries that autovacuum makes. */
const received = (events: number, hoursAgo: number) =>
  unruled(`
    truncate webhook.inbox;
    insert into webhook.inbox (connection, event_id, digest, type, body, key_id, algorithm, state, received_at)
    select 'default', n, '\\x00', 'E' || n, convert_to(repeat(md5(n::text), 30), 'UTF8'), 'k', 'ES256', 'done',
      now() - make_interval(hours => ${events} - n + ${hoursAgo}, mins => -1)
    from generate_series(1, ${events}) n;
    select brin_summarize_new_values('webhook.inbox_received');
    analyze webhook.inbox`)

layer(TestDatabase.layer, { excludeTestServices: true })(
  "of an inbox with thousands of events that are done",
  (it) => {
    it.scoped.each([0, 20, 150])(
      "the latest are found without the others, %s hours after the last",
      (hoursAgo) =>
        Effect.gen(function* () {
          const events = 20_000
          yield* received(events, hoursAgo)
          const found = yield* inboxOverview()
          expect(found?.recent.map(({ eventType }) => eventType)).toEqual(
            Array.from({ length: 10 }, (_, at) => `E${events - at}`),
          )
          expect(yield* rowsTouched(inboxOverview())).toBeLessThan(events / 4)
        }),
    )

    it.scoped("they are found however old they are, and fewer than a page lists", () =>
      Effect.gen(function* () {
        yield* received(12, 1_000)
        expect((yield* inboxOverview())?.recent.map(({ eventType }) => eventType)).toHaveLength(10)
        yield* received(3, 1_000)
        expect((yield* inboxOverview())?.recent.map(({ eventType }) => eventType)).toEqual(["E3", "E2", "E1"])
        yield* received(0, 0)
        expect(yield* inboxOverview()).toEqual({ depth: 0, counts: [], recent: [] })
      }),
    )
  },
)
