/** "Everything ties out" is said of what was read: what the last sync left out is named. */
import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Option } from "effect"
import { Status } from "../../src/Inquiry/Status.ts"
import { failingText, readStates } from "../../src/Reconcile/ReadStates.ts"
import { combined, tieOutSentence } from "../../src/Reconcile/TieOut.ts"
import { connectionRuns } from "../../src/Serve/Overview/Runs.ts"
import { Settings } from "../../src/Settings.ts"
import { Backfill } from "../../src/Sync/Backfill.ts"
import { threeMonths } from "../Close/Months.ts"
import { json } from "../Partner/Service.ts"
import { account, accountId, bothSurfaces, credit, debit, partnership } from "../Sync/Partnership.ts"
import { findings, sync, syncWith, variablesFor } from "../Sync/Runs.ts"
import { inOwnDatabase, TestDatabase } from "../support/TestDatabase.ts"
import { unpaced } from "../support/Unpaced.ts"
import { unruled } from "../support/unruled.ts"

const nothing = { ...combined([]), accounts: 1 }

describe("the sentence of what was read", () => {
  const left = [
    { what: "statements", count: 3, leftOut: false },
    { what: "deposits", count: 1, leftOut: false },
    { what: "accounts", count: 2, leftOut: false },
  ]
  it.each([
    [{}, [], "Everything ties out"],
    [
      {},
      left,
      "What was read ties out; not read by the last sync: 3 statements, the list of deposits, 2 lists of accounts",
    ],
    [
      { suspense: 1 },
      left.slice(1, 2),
      "Cash ties out as far as it was read; 1 item stands in suspense; not read by the last sync: the list of deposits",
    ],
    [
      { off: 1 },
      [{ what: "credit_accounts", count: 1, leftOut: false }],
      "1 account does not tie out; not read by the last sync: the list of credit accounts",
    ],
    [
      {},
      [...left.slice(1, 2), { what: "receivables", count: 1, leftOut: true }],
      "What was read ties out; not read by the last sync: the list of deposits; left out by the settings (surfaces): the list of receivables",
    ],
  ])("of %j without %j", (found, notRead, sentence) => {
    expect(tieOutSentence({ ...nothing, ...found }, notRead)).toBe(sentence)
  })
})

const said = (variables: Record<string, string> = {}) =>
  Effect.flatMap(Status, (status) => status.read(Option.none())).pipe(
    Effect.provide(Status.Default.pipe(Layer.provideMerge(Settings.from({ variables })))),
    Effect.map(({ notRead, tieOut }) => tieOutSentence(tieOut, notRead)),
  )

const lastWhole = Effect.map(connectionRuns([]), ([of]) => of?.lastSuccessAt ?? null)

layer(TestDatabase.layer, { excludeTestServices: true })("a quick sync", (it) => {
  it.scoped("says what it has not read, and is none of the whole", () =>
    Effect.gen(function* () {
      const { held, service } = yield* threeMonths
      const quick = sync(service.url, {}, false, true)
      yield* quick
      // The statement alone: its balance moved from nothing.
      expect(yield* said()).toBe(
        "What was read ties out; not read by the last sync: the list of deposits, the list of withdrawals",
      )
      expect(yield* lastWhole).toBe(null)
      yield* sync(service.url)
      expect(yield* said()).toBe("Everything ties out")
      const whole = yield* lastWhole
      // Two movements that cancel out: the balance says nothing of them.
      held.statement.push(credit(14, "1.00", "176.00"), debit(15, "1.00", "175.00"))
      yield* quick
      expect(yield* said()).toBe(
        "What was read ties out; not read by the last sync: 1 statement, the list of deposits, the list of withdrawals",
      )
      expect(yield* lastWhole).toBe(whole)
      yield* sync(service.url)
      expect(yield* said()).toBe("Cash ties out; 2 items stand in suspense")
      expect(yield* lastWhole).toBeGreaterThan(whole ?? 0)
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a statement that shows less than is booked",
  (it) => {
    const shapes = [1, 2, 3, 4].flatMap((pageSize) => [
      { pageSize, endCursorOnLastPage: true },
      { pageSize, endCursorOnLastPage: false },
    ])
    it.scoped.each(shapes)("was read where it shows all of it: %j", (shape) =>
      Effect.gen(function* () {
        const { held, service } = yield* threeMonths
        Object.assign(held, shape)
        for (const entries of [[], [], [credit(14, "1.00", "176.00"), debit(15, "1.00", "175.00")], []]) {
          held.statement.push(...entries)
          yield* sync(service.url)
          expect(yield* said()).not.toContain("not read")
        }
      }).pipe(inOwnDatabase),
    )

    it.scoped("was not read, though every list of it ended", () =>
      Effect.gen(function* () {
        const { held, service } = yield* threeMonths
        yield* sync(service.url)
        const last = held.statement.splice(-1)
        yield* sync(service.url)
        expect(yield* said()).toBe("What was read ties out; not read by the last sync: 1 statement")
        held.statement.push(...last)
        yield* sync(service.url)
        expect(yield* said()).toBe("Everything ties out")
      }),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a backfill that reads on after a later sync",
  (it) => {
    it.scoped("takes nothing back of what that has read", () =>
      Effect.gen(function* () {
        const { held, service } = yield* threeMonths
        yield* sync(service.url)
        let go: (() => void) | undefined
        held.interfere = (path, response) => {
          if (go !== undefined || !path.startsWith("/accounts?")) return false
          const listed = { ...account, balance: held.balance, status: "ACTIVE" }
          go = () => json(response, { items: [listed], pageInfo: { hasNextPage: false } })
          return true
        }
        const days = { from: "2026-10-01", to: "2026-10-31" }
        const variables = variablesFor(service.url)
        const backfill = yield* Effect.fork(
          Effect.flatMap(Backfill, (one) => one.run({ connection: "default", days })).pipe(
            Effect.provide(Layer.provideMerge(Backfill.Default, Settings.from({ variables }))),
            Effect.scoped,
            unpaced,
          ),
        )
        yield* Effect.repeat(
          Effect.delay(
            Effect.sync(() => go !== undefined),
            "20 millis",
          ),
          { until: (is) => is },
        )
        yield* sync(service.url)
        go?.()
        yield* Fiber.join(backfill)
        expect(yield* said()).toBe("Everything ties out")
      }),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })("one surface alone", (it) => {
  it.scoped("is not everything", () =>
    Effect.gen(function* () {
      const { held, service } = yield* threeMonths
      held.interfere = (path, response) => {
        if (!/^\/(receivables|credit-accounts|clients|settings)/.test(path)) return false
        json(response, { items: [], pageInfo: { hasNextPage: false } })
        return true
      }
      const both = { TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, credit]}}" }
      const run = (surface: Option.Option<"organization" | "credit">) =>
        syncWith({ ...variablesFor(service.url), ...both }, { surface })
      yield* run(Option.some("organization"))
      expect(yield* said(both)).toBe(
        "What was read ties out; not read by the last sync: the list of clients, the list of credit accounts, the list of receivables",
      )
      expect(yield* lastWhole).toBe(null)
      yield* run(Option.none())
      expect(yield* said(both)).toBe("Everything ties out")
      expect(yield* lastWhole).not.toBe(null)
    }),
  )

  it.scoped("that the settings lost is read by no sync", () =>
    Effect.gen(function* () {
      const { held, service } = yield* threeMonths
      held.interfere = (path, response) => {
        if (!path.startsWith("/clients")) return false
        json(response, { items: [], pageInfo: { hasNextPage: false } })
        return true
      }
      yield* sync(service.url)
      const other = { TIEOUT_CONNECTIONS: "{default: {surfaces: [client]}}" }
      yield* sync(service.url, other)
      expect(yield* said(other)).toBe(
        "What was read ties out; left out by the settings (surfaces): 1 statement, the list of accounts, the list of deposits, the list of withdrawals",
      )
    }).pipe(inOwnDatabase),
  )
})

/** Both surfaces, with everything read once. */
const refusing = Effect.gen(function* () {
  const { held, service } = yield* threeMonths
  const refused = { path: "nothing yet", status: 403 }
  held.interfere = (path, response) => {
    if (path.startsWith(refused.path)) json(response, { code: "refused" }, refused.status)
    else if (/^\/(receivables|credit-accounts|clients|settings)/.test(path))
      json(response, { items: [], pageInfo: { hasNextPage: false } })
    else return false
    return true
  }
  const variables = {
    ...variablesFor(service.url),
    TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, credit]}}",
  }
  yield* syncWith(variables)
  return { held, refused, variables }
})

layer(TestDatabase.layer, { excludeTestServices: true })("a sync that was not possible as asked", (it) => {
  it.scoped("leaves nothing unread: it has read nothing, and was none", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership({
        statement: [credit(1, "5.00", "5.00")],
        balance: "5.00",
        interfere: (path, response) => {
          if (!path.startsWith("/clients")) return false
          json(response, { items: [], pageInfo: { hasNextPage: false } })
          return true
        },
      })
      const variables = { ...variablesFor(service.url), ...bothSurfaces }
      yield* syncWith(variables)
      const before = yield* said(variables)
      expect(before).toBe("Cash ties out; 1 item stands in suspense")
      const refused = yield* Effect.flip(syncWith(variables, { client: Option.some("nobody") }))
      expect(String(refused.message)).toContain('the service lists no client "nobody"')
      expect(yield* said(variables)).toBe(before)
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("what the service refuses", (it) => {
  it.scoped("is a blocking finding from the run that was refused on, whichever list it is", () =>
    Effect.gen(function* () {
      const { refused, variables } = yield* refusing
      for (const path of ["accounts", "deposits", "withdrawals", "clients", "receivables", "credit-accounts"])
        for (const status of [403, 404]) {
          Object.assign(refused, { path: `/${path}?`, status })
          yield* Effect.exit(syncWith(variables))
          const found = [path, status, yield* findings, yield* said(variables)]
          expect(found).toEqual([
            path,
            status,
            ["stream-unread blocking"],
            expect.stringMatching(/^Cash ties out.*; 1 blocking finding is open/),
          ])
          refused.path = "nothing any more"
          yield* syncWith(variables)
          expect(yield* said(variables)).toBe("Everything ties out")
        }
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a statement that is refused", (it) => {
  it.scoped("is a finding, and what was read beside it is called what it is", () =>
    Effect.gen(function* () {
      const { held, refused, variables } = yield* refusing
      refused.path = "/withdrawals?"
      held.statement.push(credit(14, "1.00", "176.00"))
      held.balance = "176.00"
      yield* Effect.exit(syncWith(variables))
      expect(yield* said(variables)).toBe(
        "Cash ties out; 1 item stands in suspense, 1 blocking finding is open",
      )
      refused.path = `/accounts/${accountId}/statement`
      yield* Effect.exit(syncWith(variables))
      expect(yield* findings).toEqual(["adjustment warning", "stream-unread blocking"])
      refused.path = "nothing any more"
      yield* syncWith(variables)
      expect(yield* said(variables)).toBe("Cash ties out; 1 item stands in suspense")
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("of several lists that cannot be read", (it) => {
  it.scoped("the one that has failed the longest is named, with what it answers", () =>
    Effect.gen(function* () {
      const { variables } = yield* refusing
      for (const [stream, status, days] of [
        ["accounts", 502, 2],
        ["deposits", 503, 1],
        ["withdrawals", 500, 7],
      ] as const) {
        yield* unruled(`update sync.stream_reads set trouble = 'Answer ${status}', status = ${status},
          failing_since = '2026-10-20T00:00:00Z'::timestamptz - interval '${days} days' where stream = '${stream}'`)
      }
      const [state] = yield* readStates(null).pipe(Effect.provide(Settings.from({ variables })))
      expect(state).toMatchObject({
        failing: 3,
        failingSince: Date.parse("2026-10-13T00:00:00Z"),
        stream: "withdrawals",
        trouble: "Answer 500",
        status: 500,
      })
      expect(state && failingText(state)).toBe("the list of withdrawals answers 500, and 2 more")
    }),
  )
})
