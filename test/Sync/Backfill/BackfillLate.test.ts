/** What comes late stands in the statement where it was posted: behind entries of later days. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Settings } from "../../../src/Settings.ts"
import { Backfill } from "../../../src/Sync/Backfill.ts"
import { json } from "../../Partner/Service.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { unpaced } from "../../support/Unpaced.ts"
import { accountId, credit, id, partnership } from "../Partnership.ts"
import { sync, variablesFor } from "../Runs.ts"

const october = { from: "2026-10-01", to: "2026-10-31" }

const backfill = (url: string, variables: Record<string, string> = {}) =>
  Effect.flatMap(Backfill, (service) => service.run({ connection: "default", days: october })).pipe(
    Effect.provide(
      Backfill.Default.pipe(
        Layer.provideMerge(Settings.from({ variables: { ...variablesFor(url), ...variables } })),
      ),
    ),
    Effect.scoped,
    unpaced,
  )

/** Credits of 10 on these days, in posting order. */
const posted = (days: ReadonlyArray<string>) =>
  days.map((day, index) => ({
    ...credit(index + 100, "10.00", `${(index + 1) * 10}.00`),
    occurredAt: `${day}T10:00:00Z`,
  }))

const september = ["2026-09-10", "2026-09-11"]
const inOctober = ["2026-10-02", "2026-10-03", "2026-10-04"]

layer(TestDatabase.layer, { excludeTestServices: true })(
  "A backfill of a statement with late entries",
  (it) => {
    it.scoped("reads the period also where a reading ended with what came late of the month before", () =>
      Effect.gen(function* () {
        const days = [...september, ...inOctober, "2026-09-30"]
        const { held, service } = yield* partnership({ statement: posted(days), balance: "60.00" })
        yield* sync(service.url)
        held.statement = posted([...days, "2026-11-02", "2026-11-03"])
        held.balance = "80.00"
        yield* sync(service.url)
        const report = yield* backfill(service.url)
        expect(report.accounts[0]).toMatchObject({
          entries: 3,
          opening: "30.00",
          closing: "60.00",
          proved: true,
        })

        const [first, ...others] = held.statement.slice(2)
        held.statement = [
          ...held.statement.slice(0, 2),
          { ...first, occurredAt: "2026-10-05T10:00:00Z" },
          ...others,
        ]
        expect((yield* backfill(service.url)).accounts[0]).toMatchObject({
          proved: false,
          changed: [id(102)],
        })
      }),
    )

    it.scoped("reads on to what came late of the period, and says the balances of its days", () =>
      Effect.gen(function* () {
        const days = [...september, ...inOctober, "2026-11-01", "2026-11-02", "2026-11-03", "2026-11-04"]
        const late = ["2026-09-29", "2026-10-30", "2026-11-05"]
        const { held, service } = yield* partnership({
          statement: posted([...days, ...late]),
          balance: "120.00",
          pageSize: 2,
        })
        yield* sync(service.url, { TIEOUT_LIMITS_PAGES_PER_TRANSACTION: "1" })
        const proved = { entries: 4, opening: "30.00", closing: "70.00", proved: true }
        expect((yield* backfill(service.url)).accounts[0]).toMatchObject(proved)

        const changed = held.statement.findIndex(({ entryId }) => entryId === id(110))
        held.statement[changed] = { ...held.statement[changed], occurredAt: "2026-10-31T10:00:00Z" }
        expect((yield* backfill(service.url)).accounts[0]).toMatchObject({
          proved: false,
          changed: [id(110)],
        })
      }).pipe(Effect.provide(TestDatabase.layer)),
    )

    it.scoped("says the same balances where the service filters by time", () =>
      Effect.gen(function* () {
        const all = posted([...september, ...inOctober, "2026-09-30", "2026-11-02"])
        const { held, service } = yield* partnership({ statement: all, balance: "70.00" })
        yield* sync(service.url)
        const path = `/accounts/${accountId}/statement`
        held.interfere = (url, response) => {
          const query = new URL(url, "http://x").searchParams
          const [since, until] = [query.get("since"), query.get("until")]
          if (since === null || until === null) return false
          const items = all.filter(({ occurredAt }) => occurredAt >= since && occurredAt < until)
          json(response, { items, pageInfo: { hasNextPage: false } })
          return true
        }
        const asked = service.count(path)
        const report = yield* backfill(service.url, {
          TIEOUT_INTERFACE_FILTERS_FROM: "since",
          TIEOUT_INTERFACE_FILTERS_TO: "until",
        })
        expect(report.accounts[0]).toMatchObject({
          entries: 3,
          opening: "30.00",
          closing: "60.00",
          proved: true,
        })
        expect(service.count(path) - asked).toBe(1)
      }).pipe(Effect.provide(TestDatabase.layer)),
    )
  },
)
