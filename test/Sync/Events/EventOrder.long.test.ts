import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { startSandbox } from "../../../src/Sandbox.ts"
import { Settings } from "../../../src/Settings.ts"
import { Events } from "../../../src/Sync/Events.ts"
import { Sync } from "../../../src/Sync.ts"
import { Inbox } from "../../../src/Webhook/Inbox.ts"
import { listen } from "../../../src/Webhook.ts"
import { freePort } from "../../support/Loopback.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { bothSurfaces } from "../Partnership.ts"
import { rows, variablesFor } from "../Runs.ts"

/** What must not depend on the order of events: cash line by line, and every other role by resource and currency. */
const cash = rows(`
  select b.code || ' ' || e.source_id || ' ' || trim_scale(p.amount)::text as line from ledger.postings p
  join ledger.journal_entries e using (book_id, entry_id)
  join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
  join mirror.books b on b.book_id = p.book_id where a.role = 'cash' order by 1`)
const totals = rows(`
  select b.code, e.resource_id, a.role, p.currency, trim_scale(sum(p.amount))::text as total from ledger.postings p
  join ledger.journal_entries e using (book_id, entry_id)
  join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
  join mirror.books b on b.book_id = p.book_id
  group by 1, 2, 3, 4 having sum(p.amount) <> 0 order by 1, 2, 3, 4`)
const numbers = rows(`
  select b.code, n.period, count(*)::integer as given, max(n.number) as last from ledger.journal_numbers n
  join mirror.books b using (book_id) group by 1, 2 order by 1, 2`)

layer(TestDatabase.layer, { excludeTestServices: true })("Events in any order", (it) => {
  it.scoped(
    "doubled and dropped, and then a night, come to what a full sync does [W13]",
    () =>
      Effect.gen(function* () {
        const port = yield* freePort
        const webhook = `http://127.0.0.1:${port}/webhooks/default`
        const sandbox = yield* Effect.acquireRelease(
          Effect.promise(() => startSandbox({ entries: 200, clients: 2, seed: 11, webhook })),
          (running) => Effect.promise(() => running.close()),
        )
        const control = (path: string) =>
          Effect.promise(() => fetch(`${sandbox.origin}/control/${path}`, { method: "POST" }))
        const services = Layer.mergeAll(Sync.Default, Events.Default).pipe(
          Layer.provideMerge(Inbox.Default),
          Layer.provideMerge(Settings.from({ variables: { ...variablesFor(sandbox.url), ...bothSurfaces } })),
        )
        yield* Effect.gen(function* () {
          const night = (yield* Sync).run({ connection: "default", full: false })
          yield* night
          yield* listen({ host: "127.0.0.1", port })
          yield* Effect.forkScoped((yield* Events).follow("default", () => Effect.void))
          yield* control("webhooks?set=duplicates,reorder,drop")
          for (let burst = 0; burst < 12; burst++) {
            yield* control("advance?movements=12")
            yield* control(`advance?movements=4&client=${burst % 2}`)
            yield* Effect.sleep("250 millis")
          }
          yield* rows(
            "select count(*)::integer as n from webhook.inbox where state in ('waiting', 'failed')",
          ).pipe(Effect.delay("100 millis"), Effect.repeat({ until: ([row]) => row?.n === 0 }))
          const [brought] = yield* rows(`
            select count(*)::integer as n from mirror.statement_entries e join sync.runs r using (run_id)
            where r.command = 'events'`)
          expect(Number(brought?.n)).toBeGreaterThan(100)
          // The first sync may find a late fee whose deposit was read before the fee was charged; the second reads that deposit again.
          yield* night
          yield* night
        }).pipe(Effect.scoped, Effect.provide(services))

        const byEvents = { cash: yield* cash, totals: yield* totals, numbers: yield* numbers }
        const atOnce = yield* Effect.gen(function* () {
          yield* Effect.flatMap(Sync, (sync) => sync.run({ connection: "default", full: true })).pipe(
            Effect.provide(services),
          )
          return { cash: yield* cash, totals: yield* totals }
        }).pipe(Effect.provide(TestDatabase.layer))
        expect(byEvents.cash).toEqual(atOnce.cash)
        expect(byEvents.totals).toEqual(atOnce.totals)
        expect(byEvents.numbers.every(({ given, last }) => given === last)).toBe(true)
      }),
    180_000,
  )
})
