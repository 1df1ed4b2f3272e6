/** How often a resource that is not final is read by its identifier, when no entry and no list brings it. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { json } from "../Partner/Service.ts"
import { inOwnDatabase, TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"
import { exchange } from "./Exchange.ts"
import { accountId, credit, deposit, id, partnership } from "./Partnership.ts"
import { findings, rows, sync } from "./Runs.ts"

const zone = "Pacific/Kiritimati"
/** The first instant of the month in the book's time zone, which is hours before that in UTC. */
const month = `date_trunc('month', now(), '${zone}')`

/** Read so long ago, but in this month. */
const thisMonth = (ago: string) => `greatest(now() - interval '${ago}', ${month} + interval '1 second')`

const cases: ReadonlyArray<readonly [changed: string, read: string, isDue: boolean]> = [
  ["now() - interval '34 days'", thisMonth("1 hour"), true],
  ["now() - interval '36 days'", thisMonth("1 hour"), false],
  ["now() - interval '36 days'", "now() - interval '4 days'", true],
  // A tenth of its age has not gone by, but a month's end has.
  ["now() - interval '400 days'", `${month} + interval '1 second'`, false],
  ["now() - interval '400 days'", `${month} - interval '1 second'`, true],
  // By a clock that was a month ahead, and was set right.
  ["now() + interval '30 days'", "now() + interval '30 days'", true],
]

layer(TestDatabase.layer, { excludeTestServices: true })("a resource that stays open", (it) => {
  it.scoped("is read less and less often, once after every month's end, and never twice in a run", () =>
    Effect.gen(function* () {
      const open = { sell: "usd", sold: "10", buy: "eur", bought: "9", status: "PENDING" } as const
      const { held, service } = yield* exchange({ opening: { usd: "100" } })
      held.conversions = Object.fromEntries(cases.map((_, at) => [101 + at, open]))
      held.moves = cases.map((_, at) => ({ on: "usd", at: "2026-09-05", amount: "-10", of: 101 + at }))
      let before = 0
      const asked = () => {
        const paths = service.calls.slice(before).map(({ path }) => path)
        before = service.calls.length
        return paths
          .flatMap((path) => cases.flatMap((_, at) => (path.endsWith(id(101 + at)) ? [at] : [])))
          .sort()
      }
      const settings = { TIEOUT_ACCOUNTING_TIME_ZONE: zone }
      yield* sync(service.url, settings)
      expect(asked()).toEqual(cases.map((_, at) => at))
      expect(yield* rows("select count(*)::integer as n from mirror.resources where not final")).toEqual([
        { n: cases.length },
      ])

      for (const [at, [changed, read]] of cases.entries()) {
        yield* unruled(`update mirror.resources set changed_at = ${changed}, read_at = ${read}
          where resource_id = '${id(101 + at)}'`)
      }
      yield* sync(service.url, settings)
      expect(asked()).toEqual(cases.flatMap(([, , isDue], at) => (isDue ? [at] : [])))
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a resource that could not be read", (it) => {
  it.scoped("is neither missing nor in quarantine any more once it can be", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({
        balance: "15",
        statement: [credit(21, "10", "10", id(11)), credit(22, "5", "15", id(12))],
        deposits: [],
      })
      let isReadable = false
      held.interfere = (path, response) => {
        const one = [11, 12].find((index) => path === `/deposits/${id(index)}`)
        if (one === undefined) return false
        if (isReadable) json(response, one === 11 ? deposit(11, "10") : deposit(12, "5"))
        else if (one === 11) json(response, { code: "NOT_FOUND", message: "unknown" }, 404)
        else json(response, deposit(12, "x"))
        return true
      }
      const waiting = rows(`select (select count(*)::integer from mirror.missing_resources) as missing,
        (select count(*)::integer from mirror.open_quarantine) as quarantined,
        (select count(*)::integer from mirror.resources) as mirrored`)
      yield* sync(service.url)
      expect(yield* waiting).toEqual([{ missing: 2, quarantined: 1, mirrored: 0 }])
      isReadable = true
      yield* sync(service.url)
      expect(yield* waiting).toEqual([{ missing: 0, quarantined: 0, mirrored: 2 }])
    }).pipe(inOwnDatabase),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "an answer that says of no resource at all",
  (it) => {
    it.scoped("is of the one that was asked for: it leaves the quarantine once that can be read", () =>
      Effect.gen(function* () {
        const { held, service } = yield* exchange({ opening: { usd: "100" } })
        held.conversions = { 101: { sell: "usd", sold: "10", buy: "eur", bought: "9", status: "ACTIVE" } }
        held.moves = [{ on: "usd", at: "2026-09-05", amount: "-10", of: 101 }]
        yield* sync(service.url)
        const waiting = rows("select item_id from mirror.open_quarantine")
        held.interfere = (path, response) => {
          if (!path.endsWith(`/conversions/${id(101)}`)) return false
          json(response, {})
          return true
        }
        const { counters } = yield* sync(service.url)
        expect(yield* waiting).toEqual([{ item_id: id(101) }])
        expect(counters.quarantined).toBe(1)
        held.interfere = () => false
        yield* sync(service.url)
        expect(yield* waiting).toEqual([])
      }),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })(
  "an open resource that the service fails to show",
  (it) => {
    it.scoped("is a failure of its own: the others are read", () =>
      Effect.gen(function* () {
        const open = { sell: "usd", sold: "10", buy: "eur", bought: "9", status: "ACTIVE" } as const
        const { held, service } = yield* exchange({ opening: { usd: "100" } })
        const indexes = [101, 102, 103]
        held.conversions = Object.fromEntries(indexes.map((index) => [index, open]))
        held.moves = indexes.map((of) => ({ on: "usd", at: "2026-09-05", amount: "-10", of }))
        yield* sync(service.url)
        held.conversions = Object.fromEntries(
          indexes.map((index) => [index, { ...open, status: "CANCELED" }]),
        )
        held.interfere = (path, response) => {
          if (!path.endsWith(`/conversions/${id(101)}`)) return false
          json(response, { code: "odd" }, 400)
          return true
        }
        const failed = yield* Effect.flip(sync(service.url))
        expect(failed.message.split("\n")).toEqual([
          expect.stringMatching(`^open resources: GET /conversions/${id(101)} answered 400: `),
          "Everything else was read and is committed; run the command again to go on from there.",
        ])
        expect(yield* rows("select status from mirror.resources order by resource_id")).toEqual([
          { status: "ACTIVE" },
          { status: "CANCELED" },
          { status: "CANCELED" },
        ])
      }).pipe(inOwnDatabase),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a movement that the service refuses to show, of an entry that is new",
  (it) => {
    for (const status of [403, 400])
      for (const standing of ["ACTIVE", "CLOSED"])
        it.scoped(`is not a statement that is refused: ${status}, of an ${standing} account`, () =>
          Effect.gen(function* () {
            const { held, service } = yield* partnership({
              balance: "7",
              statement: [
                credit(21, "10", "10"),
                {
                  ...credit(22, "3", "7"),
                  type: "DEBIT",
                  relatedResourceType: "CONVERSION",
                  relatedResourceId: id(101),
                },
              ],
            })
            held.interfere = (path, response) => {
              const account = {
                accountId,
                currency: "USD",
                paymentRails: "SEPA",
                balance: "7",
                status: standing,
              }
              if (path.startsWith("/accounts?"))
                json(response, { items: [account], pageInfo: { hasNextPage: false } })
              else if (path === `/conversions/${id(101)}`) json(response, { code: "odd" }, status)
              else return false
              return true
            }
            const failed = yield* Effect.flip(sync(service.url))
            expect(failed.message).toMatch(
              `statement ${accountId}: GET /conversions/${id(101)} answered ${status}: `,
            )
            // Nobody is told that the account is closed to us, or that its statement is.
            expect(yield* findings).not.toContain("stream-unread blocking")
            expect(
              yield* rows(
                "select unreadable, gone, detail from reconcile.statement_standing where trouble is not null",
              ),
            ).toEqual([
              {
                unreadable: false,
                gone: false,
                detail: expect.stringMatching(`^GET /conversions/${id(101)} answered ${status}: `),
              },
            ])
          }).pipe(inOwnDatabase),
        )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })("a service with replicas that lag", (it) => {
  it.scoped("is asked once more where its list shows a movement as it was before it ended", () =>
    Effect.gen(function* () {
      const statement = [credit(21, "10.00", "10.00", id(11))]
      const { held, service } = yield* partnership({
        balance: "10.00",
        deposits: [deposit(11, "10.00")],
        statement,
      })
      yield* sync(service.url)
      const states = rows("select status, version from mirror.resources")
      const earlier = {
        items: [deposit(11, "10.00", { status: "PENDING" })],
        pageInfo: { hasNextPage: false },
      }
      held.interfere = (path, response) => {
        if (!path.startsWith("/deposits?")) return false
        json(response, earlier)
        return true
      }
      yield* sync(service.url)
      expect(yield* states).toEqual([{ status: "COMPLETED", version: 3 }])
      expect(yield* findings).toEqual([])
    }).pipe(inOwnDatabase),
  )
})
