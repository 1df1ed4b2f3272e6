import { expect, layer } from "@effect/vitest"
import { Effect, Either } from "effect"
import { json } from "../Partner/Service.ts"
import { inOwnDatabase, TestDatabase } from "../support/TestDatabase.ts"
import {
  account,
  accountId,
  credit,
  debit,
  deposit,
  id,
  partnership,
  threeDeposits,
  withdrawal,
} from "./Partnership.ts"
import { findings, postings, rows, sync } from "./Runs.ts"

/** Each page is committed by itself, however small it is. */
const singlePages = { TIEOUT_LIMITS_PAGES_PER_TRANSACTION: "1" }

const quarantined = rows(`select stream, item_id, path, resolved_at is not null as resolved
  from mirror.quarantine order by quarantine_id`)

const held = rows(`select count(*)::integer as held from mirror.statement_entries where held`).pipe(
  Effect.map(([row]) => row?.held),
)

layer(TestDatabase.layer, { excludeTestServices: true })("a row that cannot be understood", (it) => {
  it.scoped.each([100, 2, 1])("holds nothing where it is of an entry that is booked: %i a page", (pageSize) =>
    Effect.gen(function* () {
      const { held: service, service: at } = yield* partnership({ balance: "20", pageSize })
      const good = ["10", "20", "30", "40"].map((after, index) => credit(21 + index, "10", after))
      service.statement = good.slice(0, 2)
      yield* sync(at.url)
      service.statement = good.map((entry, index) => (index === 1 ? { ...entry, amount: "1e1" } : entry))
      service.balance = "40"
      yield* sync(at.url)
      expect(yield* postings).toHaveLength(4)
      expect(yield* held).toBe(0)
      expect((yield* findings).filter((finding) => String(finding).endsWith("blocking"))).toEqual([
        "quarantine blocking",
      ])
      service.statement = good
      yield* sync(at.url, { TIEOUT_LIMITS_PAGES_PER_TRANSACTION: "1" })
      yield* sync(at.url, {}, true)
      expect((yield* findings).filter((finding) => String(finding).endsWith("blocking"))).toEqual([])
    }).pipe(inOwnDatabase),
  )

  it.scoped.each([100, 1])(
    "is quarantined, what is behind it waits, and both are booked when the service has mended it: %i a page",
    (pageSize) =>
      Effect.gen(function* () {
        const { held: service, service: at } = yield* partnership({
          balance: "30",
          pageSize,
          deposits: [deposit(11, "10"), deposit(12, "10"), deposit(13, "10")],
        })
        const good = [
          credit(21, "10", "10", id(11)),
          credit(22, "10", "20", id(12)),
          credit(23, "10", "30", id(13)),
        ]
        service.statement = good.map((entry, index) => (index === 1 ? { ...entry, amount: "1e1" } : entry))
        yield* sync(at.url, singlePages)
        expect(yield* quarantined).toEqual([
          { stream: `statement:${accountId}`, item_id: id(22), path: "$.amount", resolved: false },
        ])
        expect(yield* held).toBe(1)
        expect(yield* postings).toEqual(["deposit cash 10, deposits_clearing -10"])
        expect(yield* findings).toContain("quarantine blocking")

        service.statement = good
        const mended = yield* sync(at.url, singlePages)
        expect(mended.counters.entries).toBe(2)
        expect(yield* held).toBe(0)
        expect((yield* quarantined)[0]?.resolved).toBe(true)
        expect(yield* postings).toHaveLength(3)
        expect(yield* findings).toEqual([])
      }).pipe(inOwnDatabase),
  )

  it.scoped("in a list does not stop the page, and the next run asks for it by its identifier", () =>
    Effect.gen(function* () {
      const bad = deposit(11, "10", { createdAt: "yesterday" })
      const { held: service, service: at } = yield* partnership({ deposits: [bad, deposit(12, "5")] })
      yield* sync(at.url)
      expect(yield* quarantined).toMatchObject([{ stream: "deposits", item_id: id(11), resolved: false }])
      expect(yield* rows("select count(*)::integer as n from mirror.resources")).toEqual([{ n: 1 }])
      service.deposits = [deposit(11, "10"), deposit(12, "5")]
      yield* sync(at.url)
      expect((yield* quarantined)[0]?.resolved).toBe(true)
    }).pipe(inOwnDatabase),
  )

  it.scoped("is counted as quarantined once, however often and in whatever ways it is read", () =>
    Effect.gen(function* () {
      const bad = { createdAt: "yesterday" }
      const { held: service, service: at } = yield* partnership({
        balance: "15",
        // The second deposit is read by its identifier, for its entry, and with its list.
        deposits: [
          deposit(11, "10", bad),
          deposit(12, "5", bad),
          deposit(13, "1", bad),
          deposit(13, "1", bad),
        ],
        statement: [
          credit(21, "10", "10"),
          credit(22, "5", "15", id(12)),
          { ...credit(23, "1", "16"), amount: "x" },
        ],
      })
      const waiting = rows("select count(*)::integer as n from mirror.open_quarantine")
      const first = yield* sync(at.url)
      expect(yield* waiting).toEqual([{ n: 4 }])
      expect(first.counters.quarantined).toBe(4)
      expect((yield* sync(at.url)).counters.quarantined).toBe(0)
      service.deposits.push(deposit(14, "1", bad))
      expect((yield* sync(at.url)).counters.quarantined).toBe(1)
      // One that is settled and comes again is new.
      const mended = service.deposits
      service.deposits = [deposit(11, "10"), ...mended.slice(1)]
      yield* sync(at.url)
      service.deposits = mended
      expect((yield* sync(at.url)).counters.quarantined).toBe(1)
      expect(yield* waiting).toEqual([{ n: 5 }])
    }).pipe(inOwnDatabase),
  )

  it.scoped("stops the stream before its page where there are too many of them, and the run fails", () =>
    Effect.gen(function* () {
      const statement = Array.from({ length: 20 }, (_, index) => ({
        ...credit(100 + index, "1", "1"),
        amount: "x",
      }))
      const { service: at } = yield* partnership({ statement, balance: "20" })
      const failed = yield* Effect.flip(sync(at.url))
      expect(failed).toMatchObject({ _tag: "SyncIncomplete", reason: "Failed" })
      // The report, which names the stream, and the finding, which names the list, do so once.
      const why =
        "20 of 20 rows could not be understood ($.amount is not a plain decimal number (-?digits[.digits])). The stream stopped before this page and its checkpoint is unchanged. If the interface has changed, mend the settings' interface section; limits.quarantine says when to stop"
      expect(failed.message.split("\n")[0]).toBe(`statement ${accountId}: ${why}`)
      expect(yield* rows("select stream, detail from sync.stream_reads where trouble is not null")).toEqual([
        { stream: `statement:${accountId}`, detail: why },
      ])
      expect(yield* quarantined).toEqual([])
    }).pipe(inOwnDatabase),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "an entry in another currency than its account",
  (it) => {
    it.scoped("is quarantined, and makes no second cash account", () =>
      Effect.gen(function* () {
        const good = [credit(21, "10", "10", id(11)), credit(22, "5", "15", id(12))]
        const { held: service, service: at } = yield* partnership({
          balance: "15",
          deposits: [deposit(11, "10"), deposit(12, "5")],
          statement: good.map((entry, index) => (index === 1 ? { ...entry, currency: "EUR" } : entry)),
        })
        yield* sync(at.url)
        expect(yield* quarantined).toMatchObject([{ item_id: id(22), path: "$.currency", resolved: false }])
        expect(yield* rows("select currency from ledger.accounts where role = 'cash'")).toEqual([
          { currency: "USD" },
        ])
        service.statement = good
        yield* sync(at.url)
        expect(yield* postings).toHaveLength(2)
        expect(yield* findings).toEqual([])
      }).pipe(inOwnDatabase),
    )

    it.scoped("waits where the account was listed with a wrong one, until its first entry is booked", () =>
      Effect.gen(function* () {
        const { held: service, service: at } = yield* partnership(threeDeposits)
        const listed = (currency: string) => {
          service.interfere = (path, response) => {
            if (!path.startsWith("/accounts?")) return false
            const items = [{ ...account, currency, balance: service.balance, status: "ACTIVE" }]
            json(response, { items, pageInfo: { hasNextPage: false } })
            return true
          }
        }
        listed("EUR")
        yield* sync(at.url)
        expect(yield* postings).toEqual([])
        expect(yield* findings).toEqual(["cash-balance blocking", "quarantine blocking"])
        listed("USD")
        yield* sync(at.url)
        expect(yield* postings).toHaveLength(3)
        expect(yield* findings).toEqual([])
        listed("EUR")
        yield* sync(at.url)
        expect(yield* rows("select currency from mirror.accounts")).toEqual([{ currency: "USD" }])
        expect(yield* findings).toEqual(["cash-balance blocking"])
        listed("USD")
        yield* sync(at.url)
        expect(yield* findings).toEqual([])
      }).pipe(inOwnDatabase),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a statement that begins with its newest entry",
  (it) => {
    it.scoped("is refused before any of its entries is booked, and read once it is in posting order", () =>
      Effect.gen(function* () {
        const { statement: inOrder } = threeDeposits
        const { held: service, service: at } = yield* partnership({
          ...threeDeposits,
          statement: [...inOrder].reverse(),
        })
        const failed = yield* Effect.flip(sync(at.url))
        expect(failed.message).toContain("begins with its newest entry")
        expect(yield* postings).toEqual([])
        service.statement = inOrder
        yield* sync(at.url)
        expect(yield* postings).toHaveLength(3)
        expect(yield* findings).toEqual([])
      }).pipe(inOwnDatabase),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })("the running balance", (it) => {
  it.scoped(
    "that breaks is read once more, then held and reported, and heals when the missing entry appears",
    () =>
      Effect.gen(function* () {
        const all = [
          credit(21, "10", "10", id(11)),
          credit(22, "5", "15", id(12)),
          credit(23, "1", "16", id(13)),
        ]
        const deposits = [deposit(11, "10"), deposit(12, "5"), deposit(13, "1")]
        const { held: service, service: at } = yield* partnership({ balance: "16", deposits })
        service.statement = all.filter((_, index) => index !== 1)
        yield* sync(at.url)
        expect(at.count(`/accounts/${accountId}/statement`)).toBe(2)
        expect(yield* held).toBe(1)
        expect(yield* postings).toEqual(["deposit cash 10, deposits_clearing -10"])
        expect(yield* findings).toContain("running-balance blocking")

        service.statement = all
        yield* sync(at.url)
        expect(yield* held).toBe(0)
        expect(yield* postings).toHaveLength(3)
        expect(yield* findings).toEqual([])
      }).pipe(inOwnDatabase),
  )

  it.scoped("goes on whether or not the last page has an end cursor [C15]", () =>
    Effect.forEach([true, false], (endCursorOnLastPage) =>
      Effect.gen(function* () {
        const deposits = [deposit(11, "10"), deposit(12, "5"), deposit(13, "1")]
        const { held: service, service: at } = yield* partnership({
          balance: "15",
          deposits,
          endCursorOnLastPage,
          pageSize: 2,
        })
        service.statement = [credit(21, "10", "10", id(11)), credit(22, "5", "15", id(12))]
        yield* sync(at.url)
        service.statement.push(credit(23, "1", "16", id(13)))
        service.balance = "16"
        const second = yield* sync(at.url)
        expect(second.counters.entries).toBe(1)
        expect(yield* findings).toEqual([])
        expect(yield* postings).toHaveLength(3)
      }).pipe(inOwnDatabase),
    ),
  )

  it.scoped(
    "is read from further back where the last page's cursor passed over entries that came later",
    () =>
      Effect.gen(function* () {
        const statement = [1, 2, 3, 4, 5].map((n) => credit(20 + n, "1", String(n), id(10 + n)))
        const { held: service, service: at } = yield* partnership({
          balance: "2",
          deposits: [1, 2, 3, 4, 5].map((n) => deposit(10 + n, "1")),
        })
        service.interfere = (path, response) => {
          const isStatement = path.startsWith(`/accounts/${accountId}/statement`)
          const pageInfo = { hasNextPage: false, endCursor: "4" }
          if (isStatement) json(response, { items: statement.slice(0, 2), pageInfo })
          return isStatement
        }
        yield* sync(at.url)
        service.interfere = () => false
        service.statement = statement
        service.balance = "5"
        const second = yield* sync(at.url)
        expect(second.counters).toMatchObject({ entries: 3, held: 0 })
        expect(yield* postings).toHaveLength(5)
        expect(yield* findings).toEqual([])
      }).pipe(inOwnDatabase),
  )

  it.scoped.each([2, 100])(
    "is read on from its last page, since the cursor behind it may lead to nothing (%i entries a page) [C14]",
    (size) =>
      Effect.gen(function* () {
        const statement = [1, 2, 3, 4, 5].map((n) => credit(20 + n, "1", String(n), id(10 + n)))
        const { held: service, service: at } = yield* partnership({
          balance: "4",
          deposits: [1, 2, 3, 4, 5].map((n) => deposit(10 + n, "1")),
        })
        const asked: Array<string | null> = []
        let shown = 4
        service.interfere = (path, response) => {
          if (!path.startsWith(`/accounts/${accountId}/statement`)) return false
          const after = new URL(path, "http://x").searchParams.get("after")
          asked.push(after)
          const from = after === "END" ? shown : Number(after ?? "0")
          const items = statement.slice(from, Math.min(from + size, shown))
          const hasNextPage = from + items.length < shown
          const endCursor = hasNextPage ? String(from + items.length) : "END"
          json(response, { items, pageInfo: { hasNextPage, endCursor } })
          return true
        }
        yield* sync(at.url)
        asked.length = 0
        yield* sync(at.url)
        expect(asked).toEqual([size === 2 ? "2" : null])
        shown = 5
        service.balance = "5"
        const third = yield* sync(at.url)
        expect(third.counters).toMatchObject({ entries: 1, held: 0 })
        expect(yield* postings).toHaveLength(5)
        expect(yield* findings).toEqual([])

        // As an earlier version has left it.
        yield* rows(`
          insert into sync.checkpoints (book_id, stream, cursor, complete, run_id)
          select book_id, 'statement:' || account_id, 'END', true, 1 from mirror.accounts
          on conflict (book_id, stream) do update set cursor = 'END'`)
        asked.length = 0
        yield* sync(at.url)
        yield* sync(at.url)
        expect(asked).toEqual(size === 2 ? ["END", null, "2", "4", "4"] : ["END", null, null])
      }).pipe(inOwnDatabase),
  )

  it.scoped.each([2, 100])(
    "is read from further back where each empty page leads to another one, as the number of a page does (%i entries a page) [C14]",
    (size) =>
      Effect.gen(function* () {
        const statement = [1, 2, 3, 4, 5, 6].map((n) => credit(20 + n, "1", String(n), id(10 + n)))
        const { held: service, service: at } = yield* partnership({
          balance: "3",
          deposits: [1, 2, 3].map((n) => deposit(10 + n, "1")),
        })
        let shown = 3
        service.interfere = (path, response) => {
          if (!path.startsWith(`/accounts/${accountId}/statement`)) return false
          const page = Number(new URL(path, "http://x").searchParams.get("after") ?? "1")
          const items = statement.slice((page - 1) * size, Math.min(page * size, shown))
          json(response, {
            items,
            pageInfo: { hasNextPage: page * size < shown, endCursor: String(page + 1) },
          })
          return true
        }
        yield* sync(at.url)
        yield* sync(at.url)
        for (const next of [4, 5, 6]) {
          shown = next
          service.balance = String(next)
          service.deposits.push(deposit(10 + next, "1"))
          const grown = yield* sync(at.url)
          expect(grown.counters).toMatchObject({ entries: 1, held: 0 })
          expect(yield* findings).toEqual([])
        }
        expect(yield* postings).toHaveLength(6)
      }).pipe(inOwnDatabase),
  )

  it.scoped(
    "shows entries that cancel each other out, where a page without end leads to another one [C14]",
    () =>
      Effect.gen(function* () {
        const { held: service, service: at } = yield* partnership({
          balance: "1",
          statement: [credit(21, "1", "1")],
        })
        service.interfere = (path, response) => {
          const { pathname, searchParams } = new URL(path, "http://x")
          if (pathname !== `/accounts/${accountId}/statement`) return false
          const items = searchParams.has("after") ? [] : service.statement
          json(response, { items, pageInfo: { hasNextPage: false, endCursor: "2" } })
          return true
        }
        yield* sync(at.url)
        service.statement.push(credit(22, "7", "8"), debit(23, "7", "1"))
        const second = yield* sync(at.url)
        expect(second.counters).toMatchObject({ entries: 2, held: 0 })
      }).pipe(inOwnDatabase),
  )

  it.scoped("whose last page is gone is read on from the page before it", () =>
    Effect.gen(function* () {
      const statement = [...threeDeposits.statement]
      const { held: service, service: at } = yield* partnership({ ...threeDeposits, statement, pageSize: 1 })
      const asked: Array<string | null> = []
      service.interfere = (path) => {
        const { pathname, searchParams } = new URL(path, "http://x")
        if (pathname === `/accounts/${accountId}/statement`) asked.push(searchParams.get("after"))
        return false
      }
      yield* sync(at.url, singlePages)
      expect(asked.splice(0)).toEqual([null, "1", "2"])
      service.statement.pop()
      yield* sync(at.url, singlePages)
      expect(asked).toEqual(["2", "1"])
    }).pipe(inOwnDatabase),
  )

  it.scoped("that stays broken holds the entries, and is not read from the start every night", () =>
    Effect.gen(function* () {
      const { held: service, service: at } = yield* partnership({
        balance: "11",
        deposits: [deposit(10, "1"), deposit(11, "10"), deposit(12, "5"), deposit(13, "1")],
        statement: [credit(20, "1", "1", id(10)), credit(21, "10", "11", id(11))],
        pageSize: 1,
      })
      yield* sync(at.url)
      service.statement.push(credit(23, "1", "17", id(13)))
      service.balance = "17"
      const fromTheStart: Array<string> = []
      service.interfere = (path) => {
        if (path.startsWith(`/accounts/${accountId}/statement`) && !path.includes("after="))
          fromTheStart.push(path)
        return false
      }
      yield* sync(at.url)
      expect(fromTheStart).toHaveLength(1)
      yield* sync(at.url)
      expect(fromTheStart).toHaveLength(1)
      expect(yield* held).toBe(1)
      expect(yield* findings).toContain("running-balance blocking")
    }).pipe(inOwnDatabase),
  )

  it.scoped("opens with the balance before the first entry", () =>
    Effect.gen(function* () {
      const { service: at } = yield* partnership({
        balance: "110",
        statement: [credit(21, "10", "110", id(11))],
        deposits: [deposit(11, "10")],
      })
      yield* sync(at.url)
      expect(yield* postings).toEqual([
        "opening_balance cash 100, opening_balance -100",
        "deposit cash 10, deposits_clearing -10",
      ])
      expect(yield* findings).toEqual([])
    }).pipe(inOwnDatabase),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("an entry that was read before", (it) => {
  it.scoped("and has another content now is kept in both, never replaced", () =>
    Effect.gen(function* () {
      const { held: service, service: at } = yield* partnership({
        balance: "10",
        deposits: [deposit(11, "10")],
        endCursorOnLastPage: false,
      })
      service.statement = [credit(21, "10", "10", id(11))]
      yield* sync(at.url)
      service.statement = [{ ...credit(21, "10", "10", id(11)), occurredAt: "2026-10-02T00:00:00Z" }]
      const second = yield* sync(at.url)
      expect(second.counters.contradictions).toBe(1)
      expect(yield* postings).toHaveLength(1)
      expect(yield* findings).toEqual(["contradiction blocking"])
    }).pipe(inOwnDatabase),
  )

  it.scoped(
    "is not booked twice where an expired cursor makes the run go on from an older page boundary [C14]",
    () =>
      Effect.gen(function* () {
        const deposits = [1, 2, 3, 4, 5].map((n) => deposit(10 + n, "1"))
        const statement = [1, 2, 3, 4, 5].map((n) => credit(20 + n, "1", String(n), id(10 + n)))
        const { held: service, service: at } = yield* partnership({ balance: "4", deposits, pageSize: 2 })
        service.statement = statement.slice(0, 4)
        yield* sync(at.url)
        service.statement = statement
        service.balance = "5"
        service.interfere = (path, response) => {
          const refused = path.startsWith(`/accounts/${accountId}/statement`) && path.includes("after=4")
          if (refused) json(response, { code: "cursor_expired" }, 410)
          return refused
        }
        const second = yield* Effect.either(sync(at.url))
        // The service refuses the boundary at 4 for good, so that the newest entry cannot be reached from 2 either.
        expect(Either.isLeft(second)).toBe(true)
        service.interfere = (path, response) => {
          const first = path.startsWith(`/accounts/${accountId}/statement`) && path.includes("after=4")
          if (first) service.interfere = () => false
          if (first) json(response, { code: "cursor_expired" }, 410)
          return first
        }
        yield* sync(at.url)
        expect(yield* postings).toHaveLength(5)
        expect(yield* findings).toEqual([])
      }).pipe(inOwnDatabase),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("[C14] a cursor of another day", (it) => {
  // The interface shows no status of a refusal but 409; a service that fails over what it does not know answers 500.
  for (const status of [403, 406, 416, 500]) {
    it.scoped(`that is refused with ${status} keeps no statement and no list from being read on`, () =>
      Effect.gen(function* () {
        const deposits = [1, 2, 3, 4, 5].map((n) => deposit(10 + n, "1"))
        const statement = [1, 2, 3, 4, 5].map((n) => credit(20 + n, "1", String(n), id(10 + n)))
        const { held: service, service: at } = yield* partnership({ balance: "3", pageSize: 2 })
        let day = "monday"
        service.interfere = (path, response) => {
          const url = new URL(path, "http://x")
          const after = url.searchParams.get("after")
          const items = url.pathname === "/deposits" ? service.deposits : service.statement
          if (url.pathname !== "/deposits" && !url.pathname.endsWith("/statement")) return false
          const [of, place = "0"] = (after ?? `${day} 0`).split(" ")
          if (of !== day) {
            json(response, { code: "not_of_this_session" }, status)
            return true
          }
          const from = Number(place)
          const endCursor = `${day} ${from + 2}`
          json(response, {
            items: items.slice(from, from + 2),
            pageInfo: { hasNextPage: from + 2 < items.length, endCursor },
          })
          return true
        }
        service.deposits = deposits.slice(0, 3)
        service.statement = statement.slice(0, 3)
        yield* sync(at.url)
        day = "tuesday"
        Object.assign(service, { balance: "5", deposits, statement })
        yield* sync(at.url)
        expect(yield* postings).toHaveLength(5)
        expect(yield* findings).toEqual([])
      }).pipe(inOwnDatabase),
    )
  }
})

layer(TestDatabase.layer, { excludeTestServices: true })("a cursor that no database can keep", (it) => {
  it.scoped("is followed, and the next run begins at the start", () =>
    Effect.gen(function* () {
      const deposits = [1, 2, 3, 4, 5].map((n) => deposit(10 + n, "1"))
      const statement = [1, 2, 3, 4, 5].map((n) => credit(20 + n, "1", String(n), id(10 + n)))
      const { held: service, service: at } = yield* partnership({ balance: "4" })
      service.interfere = (path, response) => {
        const url = new URL(path, "http://x")
        if (url.pathname !== "/deposits" && !url.pathname.endsWith("/statement")) return false
        const items = url.pathname === "/deposits" ? service.deposits : service.statement
        const from = Number((url.searchParams.get("after") ?? "0").replace("\u0000", ""))
        const pageInfo = { hasNextPage: from + 2 < items.length, endCursor: `\u0000${from + 2}` }
        json(response, { items: items.slice(from, from + 2), pageInfo })
        return true
      }
      Object.assign(service, { deposits: deposits.slice(0, 4), statement: statement.slice(0, 4) })
      yield* sync(at.url, { TIEOUT_LIMITS_PAGES_PER_TRANSACTION: "1" })
      expect(yield* postings).toHaveLength(4)
      Object.assign(service, { balance: "5", deposits, statement })
      yield* sync(at.url)
      expect(yield* postings).toHaveLength(5)
      expect(yield* findings).toEqual([])
    }).pipe(inOwnDatabase),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a run over everything", (it) => {
  it.scoped("reads from the start, books nothing twice and finds entries that were changed since", () =>
    Effect.gen(function* () {
      const { held: service, service: at } = yield* partnership({
        balance: "15",
        deposits: [deposit(11, "10"), deposit(12, "5")],
        statement: [credit(21, "10", "10", id(11)), credit(22, "5", "15", id(12))],
        pageSize: 1,
      })
      yield* sync(at.url)
      const [first, ...rest] = service.statement
      service.statement = [{ ...first, occurredAt: "2026-09-30T00:00:00Z" }, ...rest]
      const usual = yield* sync(at.url)
      expect(usual.counters.contradictions).toBe(0)
      const full = yield* sync(at.url, {}, true)
      expect(full.counters.contradictions).toBe(1)
      expect(yield* postings).toHaveLength(2)
    }).pipe(inOwnDatabase),
  )

  it.scoped("dates no book in a zone that the database does not know, or takes for a fixed offset", () =>
    Effect.gen(function* () {
      const { held: service, service: at } = yield* partnership({ balance: "10" })
      service.statement = [{ ...credit(21, "10", "10"), occurredAt: "2026-09-30T22:30:00Z" }]
      // Brussels, where it is summer; Los Angeles; no abbreviation in Postgres, and no zone of the IANA.
      for (const zone of ["CET", "wet", "PST", "SST"]) {
        const failed = yield* Effect.flip(sync(at.url, { TIEOUT_ACCOUNTING_TIME_ZONE: zone }))
        expect(failed, zone).toMatchObject({ _tag: "SettingsError", reason: "Invalid" })
        expect(failed.message).toContain(`accounting.timeZone: is ${zone}, `)
      }
      yield* sync(at.url, { TIEOUT_ACCOUNTING_TIME_ZONE: "Europe/Brussels" })
      const dated = yield* rows("select effective_date::text as text from ledger.journal_entries")
      expect(dated).toEqual([{ text: "2026-10-01" }])
    }).pipe(inOwnDatabase),
  )

  it.scoped("is refused in another time zone than the one that the book is dated in", () =>
    Effect.gen(function* () {
      const { service: at } = yield* partnership()
      yield* sync(at.url)
      const failed = yield* Effect.flip(sync(at.url, { TIEOUT_ACCOUNTING_TIME_ZONE: "Asia/Tokyo" }))
      expect(failed.message).toContain("dated in UTC")
      yield* sync(at.url)
    }).pipe(inOwnDatabase),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("resources", (it) => {
  it.scoped("that the service does not have leave the entry in suspense until it has them", () =>
    Effect.gen(function* () {
      const { held: service, service: at } = yield* partnership({
        balance: "10",
        statement: [credit(21, "10", "10", id(11))],
      })
      yield* sync(at.url)
      expect(yield* postings).toEqual(["unidentified cash 10, suspense -10"])
      expect(yield* findings).toContain("missing-resource blocking")
      service.deposits = [deposit(11, "10")]
      yield* sync(at.url)
      expect(yield* postings).toEqual([
        "unidentified cash 10, suspense -10",
        "reclassification suspense 10, deposits_clearing -10",
      ])
      expect(yield* findings).toEqual([])
    }).pipe(inOwnDatabase),
  )

  it.scoped(
    "that were open are read again by id, and their fee is put right when it turns out separate",
    () =>
      Effect.gen(function* () {
        const { held: service, service: at } = yield* partnership({
          balance: "-1000",
          statement: [debit(21, "1000", "-1000", id(11))],
          withdrawals: [withdrawal(11, "1000", "5", { status: "PENDING" })],
        })
        yield* sync(at.url)
        expect(yield* postings).toEqual(["withdrawal withdrawals_clearing 995, fees 5, cash -1000"])
        service.statement.push(debit(22, "5", "-1005", id(11)))
        service.balance = "-1005"
        service.withdrawals = [withdrawal(11, "1000", "5")]
        yield* sync(at.url)
        expect(yield* postings).toEqual([
          "withdrawal withdrawals_clearing 995, fees 5, cash -1000",
          "reclassification withdrawals_clearing 5, fees -5",
          "fee fees 5, cash -5",
        ])
        expect(yield* findings).toEqual([])
      }).pipe(inOwnDatabase),
  )

  it.scoped(
    "that change between their list and the statement are read again, where their entries are as new",
    () =>
      Effect.gen(function* () {
        const now = new Date().toISOString()
        const entries = [debit(21, "1000", "-1000", id(11)), debit(22, "5", "-1005", id(11))]
        let read = false
        const { held: service, service: at } = yield* partnership({
          balance: "-1005",
          statement: entries.map((entry) => ({ ...entry, occurredAt: now })),
          withdrawals: [withdrawal(11, "1000", "0")],
          interfere: (path) => {
            // The fee comes after the list was read, and before the statement is.
            if (path.startsWith("/withdrawals")) read = true
            else if (read && path.includes("/statement")) service.withdrawals = [withdrawal(11, "1000", "5")]
            return false
          },
        })
        yield* sync(at.url)
        expect(yield* postings).toEqual([
          "withdrawal withdrawals_clearing 1000, cash -1000",
          "fee fees 5, cash -5",
        ])
        expect(yield* findings).toEqual([])
      }).pipe(inOwnDatabase),
  )

  it.scoped("of a newest-first list are found without reading the history again", () =>
    Effect.gen(function* () {
      const newestFirst = (count: number) =>
        Array.from({ length: count }, (_, n) => deposit(30 + count - n, "1", { status: "REJECTED" }))
      const { held: service, service: at } = yield* partnership({ deposits: newestFirst(9), pageSize: 2 })
      yield* sync(at.url)
      service.deposits = newestFirst(12)
      const second = yield* sync(at.url)
      expect(yield* rows("select count(*)::integer as n from mirror.resources")).toEqual([{ n: 12 }])
      // Only two pages with news and one without are read: not all six, and none ahead.
      expect(second.requests.deposits).toBe(3)
    }).pipe(inOwnDatabase),
  )
})
