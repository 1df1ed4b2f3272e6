/** A whole sync runs during a backfill: what the backfill reads afterwards is proved nevertheless. */
import { expect, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Option } from "effect"
import { Reconcile } from "../../src/Reconcile.ts"
import { Settings } from "../../src/Settings.ts"
import { Backfill } from "../../src/Sync/Backfill.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unpaced } from "../support/Unpaced.ts"
import { accountOf, type Lending, lending, move } from "./Lending.ts"
import { at, items, lent, loan, standing, surfaces, tx } from "./Loaned.ts"
import { findings, syncWith, variablesFor } from "./Runs.ts"

const october = { from: "2026-10-01", to: "2026-10-31" }

/** A backfill of October that gets the statement, with its older entries, only after `meanwhile` is over. */
const backfillBeside = <E, R>(
  held: Lending,
  variables: Record<string, string>,
  older: ReadonlyArray<Record<string, unknown>>,
  meanwhile: Effect.Effect<unknown, E, R>,
) =>
  Effect.gen(function* () {
    let go: (() => void) | undefined
    held.interfere = (path, response) => {
      if (go !== undefined || !path.includes(`${accountOf("")}/statement`)) return false
      go = () =>
        response
          .writeHead(200, { "content-type": "application/json", date: new Date(held.clock).toUTCString() })
          .end(JSON.stringify({ items: older, pageInfo: { hasNextPage: false } }))
      return true
    }
    const backfill = yield* Effect.fork(
      Effect.flatMap(Backfill, (one) => one.run({ connection: "default", days: october })).pipe(
        Effect.provide(Layer.provideMerge(Backfill.Default, Settings.from({ variables }))),
        Effect.scoped,
        unpaced,
      ),
    )
    const asked = Effect.sync(() => go !== undefined)
    yield* Effect.repeat(Effect.delay(asked, "20 millis"), { until: (is) => is })
    yield* meanwhile
    go?.()
    return yield* Fiber.join(backfill)
  })

layer(TestDatabase.layer, { excludeTestServices: true })("a backfill beside a sync", (it) => {
  it.scoped("proves the entries that it books after a later run has proved the book", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [] })
      const variables = variablesFor(service.url)
      const services = Settings.from({ variables })
      for (const amount of [10, 20, 30]) move(held, "", { type: "CREDIT", amount })
      const whole = held.statements[""] ?? []
      held.statements[""] = whole.slice(1)
      yield* syncWith(variables)
      const report = yield* backfillBeside(held, variables, whole, syncWith(variables))
      expect(report.accounts).toMatchObject([{ older: 1, proved: true }])
      const open = yield* findings
      const again = yield* Effect.flatMap(Reconcile, (one) =>
        one.run({ connection: Option.none(), period: Option.none(), full: true }),
      ).pipe(Effect.provide(Layer.provide(Reconcile.Default, services)))
      expect([again.opened, again.closed]).toEqual([0, 0])
      expect(open).toEqual(yield* findings)
    }),
  )

  it.scoped(
    "links the cash of a receivable that it finds after a later run has settled the receivables",
    () =>
      Effect.gen(function* () {
        const { held, service } = yield* lending({ clients: [] })
        const variables = { ...variablesFor(service.url), ...surfaces }
        move(held, "", { type: "CREDIT", amount: 5000 })
        const [first = ""] = lent(held)
        const whole = held.statements[""] ?? []
        held.statements[""] = whole.slice(2)
        held.receivables = [loan({ disbursedTransaction: tx(first, 2) })]
        yield* syncWith(variables)
        const accrued = Effect.suspend(() => {
          held.clock = at(21)
          held.receivables = [loan({ disbursedTransaction: tx(first, 2), repaymentAmount: "1030.00" })]
          return syncWith(variables)
        })
        yield* backfillBeside(held, variables, whole, accrued)
        expect(yield* items).toEqual([])
        expect(yield* standing).toContain("receivable_principal 1000")
      }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
