import type { ServerResponse } from "node:http"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { json } from "../../Partner/Service.ts"
import { inOwnDatabase, TestDatabase } from "../../support/TestDatabase.ts"
import { accountId, credit, debit, deposit, partnership } from "../Partnership.ts"
import { findings, rows, sync } from "../Runs.ts"

const entries = rows("select count(*)::integer as n from mirror.statement_entries where not held").pipe(
  Effect.map(([row]) => row?.n),
)

layer(TestDatabase.layer, { excludeTestServices: true })("[C14] a statement's last page", (it) => {
  it.scoped(
    "is looked for further back where the numbers of pages mean other ones, though balances continue",
    () =>
      Effect.gen(function* () {
        const { held, service } = yield* partnership()
        // An account that is emptied again each time.
        const all = Array.from({ length: 12 }, (_, at) =>
          at % 2 === 0 ? credit(21 + at, "7", "7") : debit(21 + at, "7", "0"),
        )
        const asked: Array<string | null> = []
        let [shown, size] = [6, 2]
        held.interfere = (path, response) => {
          if (!path.startsWith(`/accounts/${accountId}/statement`)) return false
          const after = new URL(path, "http://x").searchParams.get("after")
          asked.push(after)
          const page = Number(after ?? "1")
          const items = all.slice((page - 1) * size, Math.min(page * size, shown))
          json(response, {
            items,
            pageInfo: { hasNextPage: page * size < shown, endCursor: String(page + 1) },
          })
          return true
        }
        yield* sync(service.url)
        expect(yield* entries).toBe(6)
        shown = 12
        size = 4
        yield* sync(service.url)
        expect(yield* entries).toBe(12)
        expect(yield* rows("select max(position)::integer as last from mirror.statement_entries")).toEqual([
          { last: 12 },
        ])
        asked.length = 0
        yield* sync(service.url)
        expect(asked).toEqual(["3"])
        expect(yield* findings).not.toContain("running-balance blocking")
      }).pipe(inOwnDatabase),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "[C14] what a reading that stopped goes on with",
  (it) => {
    // Where cursors are numbers of pages, and a page holds more when the reading goes on.
    const numbered = (of: string, all: ReadonlyArray<unknown>) => {
      const state = { asked: [] as (string | null)[], size: 2, failsAt: 3 }
      const interfere = (path: string, response: ServerResponse): boolean => {
        if (!path.startsWith(of)) return false
        const after = new URL(path, "http://x").searchParams.get("after")
        state.asked.push(after)
        const page = Number(after ?? "1")
        if (page === state.failsAt) {
          json(response, { code: "ERROR", message: "not now" }, 400)
          return true
        }
        json(response, {
          items: all.slice((page - 1) * state.size, page * state.size),
          pageInfo: { hasNextPage: page * state.size < all.length, endCursor: String(page + 1) },
        })
        return true
      }
      return { state, interfere }
    }

    it.scoped("is the page that was read last, so that no entry of a statement is passed over", () =>
      Effect.gen(function* () {
        const { held, service } = yield* partnership()
        const all = Array.from({ length: 12 }, (_, at) =>
          at % 2 === 0 ? credit(21 + at, "7", "7") : debit(21 + at, "7", "0"),
        )
        const { interfere, state } = numbered(`/accounts/${accountId}/statement`, all)
        held.interfere = interfere
        yield* Effect.exit(sync(service.url))
        expect(yield* entries).toBe(4)
        Object.assign(state, { size: 4, failsAt: 0, asked: [] })
        yield* sync(service.url)
        expect(yield* entries).toBe(12)
        expect(state.asked[0]).toBe("2")
      }).pipe(inOwnDatabase),
    )

    it.scoped("is the page that was read last, so that no item of a list is passed over", () =>
      Effect.gen(function* () {
        const { held, service } = yield* partnership()
        const all = Array.from({ length: 12 }, (_, at) =>
          deposit(21 + at, "1", {
            status: "REJECTED",
            createdAt: new Date(1_790_000_000_000 + at * 1000).toISOString(),
          }),
        )
        const { interfere, state } = numbered("/deposits", all)
        held.interfere = interfere
        yield* Effect.exit(sync(service.url))
        const mirrored = rows("select count(*)::integer as n from mirror.resources")
        expect(yield* mirrored).toEqual([{ n: 4 }])
        Object.assign(state, { size: 4, failsAt: 0, asked: [] })
        yield* sync(service.url)
        expect(yield* mirrored).toEqual([{ n: 12 }])
        expect(state.asked[0]).toBe("2")
      }).pipe(inOwnDatabase),
    )
  },
)

/** A statement whose cursors say how many entries they are behind, in pages of so many. */
const byNumber = (shown: () => ReadonlyArray<unknown>, size = Number.POSITIVE_INFINITY) =>
  Effect.map(partnership(), ({ held, service }) => {
    held.interfere = (path, response) => {
      if (!path.startsWith(`/accounts/${accountId}/statement`)) return false
      const from = Number(new URL(path, "http://x").searchParams.get("after") ?? "0")
      const items = shown().slice(from, from + size)
      json(response, {
        items,
        pageInfo: {
          hasNextPage: from + items.length < shown().length,
          endCursor: String(from + items.length),
        },
      })
      return true
    }
    return { held, service }
  })

layer(TestDatabase.layer, { excludeTestServices: true })("a statement that has become shorter", (it) => {
  it.scoped("is looked for further back until a page has entries, though the balance is the same", () =>
    Effect.gen(function* () {
      const ones = Array.from({ length: 45 }, (_, at) => credit(21 + at, "1.00", `${at + 1}.00`))
      let shown: ReadonlyArray<unknown> = ones
      const { held, service } = yield* byNumber(() => shown, 2)
      held.balance = "45.00"
      yield* sync(service.url)
      expect(yield* entries).toBe(45)
      // Every boundary but the start leads behind it.
      const other = credit(91, "45.00", "45.00")
      shown = [other]
      yield* sync(service.url)
      expect(yield* rows("select entry_id::text from mirror.statement_entries where held")).toEqual([
        { entry_id: String(other.entryId) },
      ])
      expect(yield* findings).toContain("running-balance blocking")
    }).pipe(inOwnDatabase),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a statement's cursor of an earlier version",
  (it) => {
    // It leads behind the last page that was read: nothing shows that what follows there follows the last entry that is booked.
    const afterUpgrade = rows(
      "update sync.checkpoints set cursor = '2', leads_to = null where stream like 'statement:%'",
    )

    it.scoped("counts as read once it has been read on from an older page, which the same sync does", () =>
      Effect.gen(function* () {
        let shown: ReadonlyArray<unknown> = [credit(21, "10.00", "10.00"), credit(22, "5.00", "15.00")]
        const { held, service } = yield* byNumber(() => shown, 2)
        held.balance = "15.00"
        yield* sync(service.url)
        yield* afterUpgrade
        shown = [...shown, credit(23, "1.00", "16.00")]
        held.balance = "16.00"
        yield* sync(service.url)
        expect(
          yield* rows(
            `select run_id = (select max(run_id) from sync.runs) as read from reconcile.statement_standing`,
          ),
        ).toEqual([{ read: true }])
        expect(yield* entries).toBe(3)
        const before = service.count(`/accounts/${accountId}/statement`)
        yield* sync(service.url)
        expect(service.count(`/accounts/${accountId}/statement`) - before).toBe(1)
      }).pipe(inOwnDatabase),
    )

    it.scoped("reads no statement whose break stays from its start every night", () =>
      Effect.gen(function* () {
        let shown: ReadonlyArray<unknown> = [credit(21, "10.00", "10.00"), credit(22, "5.00", "15.00")]
        const { held, service } = yield* byNumber(() => shown, 2)
        held.balance = "15.00"
        yield* sync(service.url)
        shown = [...shown, credit(23, "1.00", "17.00")]
        held.balance = "17.00"
        yield* sync(service.url)
        yield* afterUpgrade
        const before = service.count(`/accounts/${accountId}/statement`)
        yield* sync(service.url)
        expect(service.count(`/accounts/${accountId}/statement`) - before).toBe(2)
        expect(yield* findings).toContain("running-balance blocking")
      }).pipe(inOwnDatabase),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })("a break in a statement", (it) => {
  it.scoped.each([false, true])("is not healed by a cursor that leads to nothing (full: %s)", (full) =>
    Effect.gen(function* () {
      let shown: ReadonlyArray<unknown> = [credit(21, "10.00", "10.00"), credit(22, "21.00", "31.00")]
      const { held, service } = yield* byNumber(() => shown)
      held.balance = "31.00"
      yield* sync(service.url)
      // Another history with the same balance: the cursor behind the two entries passes over the new one.
      shown = [credit(23, "31.00", "31.00")]
      yield* sync(service.url, {}, full)
      expect(yield* rows("select entry_id::text, held from mirror.statement_entries where held")).toEqual([
        { entry_id: String(credit(23, "31.00", "31.00").entryId), held: true },
      ])
      expect(yield* findings).toContain("running-balance blocking")
      // What it goes on with is held as well, and the statement is not read again and again.
      shown = [...shown, credit(24, "4.00", "35.00")]
      held.balance = "35.00"
      const before = service.count(`/accounts/${accountId}/statement`)
      yield* sync(service.url)
      expect(service.count(`/accounts/${accountId}/statement`) - before).toBeLessThanOrEqual(3)
      expect(yield* entries).toBe(2)
    }).pipe(inOwnDatabase),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("rows in quarantine on a last page", (it) => {
  it.scoped("are no flood when that page alone is read again", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({ pageSize: 100 })
      const good = (index: number) =>
        deposit(index, "1", {
          status: "REJECTED",
          createdAt: new Date(1_790_000_000_000 + index * 1000).toISOString(),
        })
      held.deposits = Array.from({ length: 1191 }, (_, at) =>
        at < 1180 ? good(1000 + at) : { ...good(1000 + at), amount: "x" },
      )
      yield* sync(service.url)
      held.deposits.push(good(3000))
      yield* sync(service.url)
      expect(yield* rows("select count(*)::integer as n from mirror.resources")).toEqual([{ n: 1181 }])
    }).pipe(inOwnDatabase),
  )
})
