/** A whole sync runs during a backfill: what the backfill reads afterwards is proved nevertheless. */
import { expect, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Option } from "effect"
import { Database } from "../../../src/Database.ts"
import { prove } from "../../../src/Proof.ts"
import { Reconcile } from "../../../src/Reconcile.ts"
import { Settings } from "../../../src/Settings.ts"
import { Backfill } from "../../../src/Sync/Backfill.ts"
import { json } from "../../Partner/Service.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { unpaced } from "../../support/Unpaced.ts"
import { accountOf, clientId, type Lending, lending, move } from "../Lending.ts"
import { at, items, lent, loan, standing, surfaces, tx } from "../Loaned.ts"
import { id } from "../Partnership.ts"
import { findings, rows, syncWith, variablesFor } from "../Runs.ts"

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

  it.scoped("that stops after it booked entries leaves it to the next sync to prove them", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      const variables = {
        ...variablesFor(service.url),
        TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, client]}}",
      }
      // Of the older entry nobody knows the deposit: a blocking finding.
      move(held, "", { type: "CREDIT", amount: 10, relatedType: "DEPOSIT", relatedId: id(777) })
      for (const amount of [20, 30]) move(held, "", { type: "CREDIT", amount })
      const whole = held.statements[""] ?? []
      held.statements[""] = whole.slice(1)
      yield* syncWith(variables)
      // The organization is done by then; the client's answer never comes.
      let waits = false
      const meanwhile = Effect.tap(syncWith(variables), () =>
        Effect.sync(() => {
          held.interfere = (path) => {
            waits ||= path.startsWith(`/clients/${clientId(1)}`)
            return waits
          }
        }),
      )
      const backfill = yield* Effect.fork(backfillBeside(held, variables, whole, meanwhile))
      yield* Effect.repeat(
        Effect.delay(
          Effect.sync(() => waits),
          "20 millis",
        ),
        { until: (is) => is },
      )
      yield* Fiber.interrupt(backfill)
      expect(yield* rows("select count(*)::integer as n from mirror.statement_entries")).toEqual([{ n: 3 }])
      // Nothing is wrong in the database: its next reconciliation is still to come.
      const provedThen = Effect.provide(prove(), Settings.from({ variables }))
      expect((yield* provedThen).proofs.filter(({ count }) => count > 0)).toEqual([])
      held.interfere = () => false
      yield* syncWith(variables)
      expect(yield* findings).toContain("missing-resource blocking")
      const open = yield* findings
      const again = yield* Effect.flatMap(Reconcile, (one) =>
        one.run({ connection: Option.none(), period: Option.none(), full: true }),
      ).pipe(Effect.provide(Layer.provide(Reconcile.Default, Settings.from({ variables }))))
      expect([again.opened, again.closed]).toEqual([0, 0])
      expect(open).toEqual(yield* findings)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("that was killed counts as ended from the next sync on, and one that runs does not", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [] })
      const variables = variablesFor(service.url)
      const states = Effect.map(
        rows("select command || ' ' || state as line from sync.runs order by run_id"),
        (found) => found.map(({ line }) => line),
      )
      move(held, "", { type: "CREDIT", amount: 10 })
      yield* syncWith(variables)
      yield* rows("insert into sync.runs (connection, command) values ('default', 'backfill')")
      yield* syncWith(variables)
      expect(yield* states).toEqual(["sync done", "backfill abandoned", "sync done"])
      const meanwhile = Effect.zipRight(syncWith(variables), states)
      let during: ReadonlyArray<unknown> = []
      yield* backfillBeside(
        held,
        variables,
        held.statements[""] ?? [],
        Effect.tap(meanwhile, (found) =>
          Effect.sync(() => {
            during = found
          }),
        ),
      )
      expect(during.slice(3)).toEqual(["backfill running", "sync done"])
      expect((yield* states).slice(3)).toEqual(["backfill done", "sync done"])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a backfill of a statement that goes on all the time",
  (it) => {
    it.scoped("compares it at last while nobody else reads on, and reports what differs", () =>
      Effect.gen(function* () {
        const { held, service } = yield* lending({ clients: [] })
        const variables = variablesFor(service.url)
        for (const amount of [10, 20, 30]) move(held, "", { type: "CREDIT", amount })
        yield* syncWith(variables)
        const [first, ...others] = held.statements[""] ?? []
        held.statements[""] = [{ ...first, occurredAt: "2026-10-02T00:00:01Z" }, ...others]
        const database = yield* Database
        // Whenever the backfill has asked for the statement, a sync reads on in it, unless the backfill has the connection.
        const readOn = Effect.suspend(() => {
          move(held, "", { type: "CREDIT", amount: 1, on: "2026-11-02T00:00:00Z" })
          return Effect.timeoutOption(syncWith(variables), "4 seconds")
        }).pipe(Effect.ignore, Effect.provideService(Database, database))
        let isReading = false
        held.interfere = (path, response) => {
          if (isReading || !path.includes(`${accountOf("")}/statement`)) return false
          isReading = true
          const items = [...(held.statements[""] ?? [])]
          Effect.runPromise(readOn).then(() => {
            isReading = false
            json(response, { items, pageInfo: { hasNextPage: false } })
          }, String)
          return true
        }
        const { accounts } = yield* Effect.flatMap(Backfill, (one) =>
          one.run({ connection: "default", days: october }),
        ).pipe(
          Effect.provide(Layer.provideMerge(Backfill.Default, Settings.from({ variables }))),
          Effect.scoped,
          unpaced,
        )
        expect(accounts).toMatchObject([{ changed: [first?.entryId], proved: false }])
      }),
    )
  },
)
