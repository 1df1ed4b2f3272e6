/** Lists whose items move while they are read: of other lists than statements no order is promised. */
import { expect, layer } from "@effect/vitest"
import { Effect, Either } from "effect"
import { organizationBook } from "../../src/Book.ts"
import { notReadBySync } from "../../src/Reconcile/Unread.ts"
import { Settings } from "../../src/Settings.ts"
import { json } from "../Partner/Service.ts"
import { inOwnDatabase, TestDatabase } from "../support/TestDatabase.ts"
import { id, partnership } from "./Partnership.ts"
import { rows, sync, variablesFor } from "./Runs.ts"

const accountOf = (accountId: string) => ({
  accountId,
  currency: "USD",
  paymentRails: "SEPA",
  balance: "0",
  status: "ACTIVE",
})

const [a, b, c, d] = [id(1), id(2), id(3), id(4)]

/** What a sync makes of a list of accounts with two pages. `pages`: what its requests are answered with, one after the other. */
const listing = (...pages: ReadonlyArray<ReadonlyArray<string>>) =>
  Effect.gen(function* () {
    const { held, service } = yield* partnership()
    let asked = 0
    held.interfere = (path, response) => {
      const { pathname, searchParams } = new URL(path, "http://x")
      const ofAccounts = pathname === "/accounts"
      if (!ofAccounts && !pathname.endsWith("/statement")) return false
      const items = ofAccounts ? (pages[asked] ?? []).map(accountOf) : []
      if (ofAccounts) asked += 1
      const hasNextPage = ofAccounts && !searchParams.has("after")
      json(response, { items, pageInfo: { hasNextPage, endCursor: "2" } })
      return true
    }
    yield* sync(service.url)
    const accounts = yield* rows(
      "select account_id as id, unlisted_since is null as listed from mirror.accounts order by 1",
    )
    const reads = yield* rows(
      "select 1 from sync.stream_reads where stream = 'accounts' and ended_at is not null",
    )
    return {
      asked,
      listed: accounts.flatMap((row) => (row.listed === true ? [row.id] : [])),
      isRead: reads.length === 1,
    }
  })

layer(TestDatabase.layer, { excludeTestServices: true })("[C14] a list whose cursor has expired", (it) => {
  const night = (refusals: number) =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership()
      const asked: Array<string | null> = []
      held.interfere = (path, response) => {
        const { pathname, searchParams } = new URL(path, "http://x")
        if (pathname !== "/accounts") return false
        const after = searchParams.get("after")
        asked.push(after)
        if (after !== null && asked.filter((one) => one !== null).length <= refusals) {
          json(response, { code: "cursor_expired" }, 400)
          return true
        }
        const items = after === null ? [] : [{ ...accountOf(a), balance: held.balance }]
        json(response, { items, pageInfo: { hasNextPage: after === null, endCursor: "2" } })
        return true
      }
      const ended = yield* Effect.either(sync(service.url))
      return { asked, failed: Either.isLeft(ended) }
    })

  it.scoped("starts over once", () =>
    Effect.gen(function* () {
      expect(yield* night(1)).toEqual({ asked: [null, "2", null, "2"], failed: false })
    }).pipe(inOwnDatabase),
  )

  it.scoped("is an error where it expires again", () =>
    Effect.gen(function* () {
      expect(yield* night(2)).toEqual({ asked: [null, "2", null, "2"], failed: true })
    }).pipe(inOwnDatabase),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a list of accounts that shifts", (it) => {
  it.scoped("has lost no account where a row says not even which one it is", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership()
      let spoilt: ReadonlyArray<object> = []
      held.interfere = (path, response) => {
        const { pathname } = new URL(path, "http://x")
        if (pathname === `/accounts/${b}/statement` || pathname === `/accounts/${c}/statement`) {
          json(response, { items: [], pageInfo: { hasNextPage: false } })
          return true
        }
        if (pathname !== "/accounts") return false
        const items = [{ ...accountOf(a), balance: held.balance }, accountOf(b)].slice(0, 2 - spoilt.length)
        json(response, { items: [...items, ...spoilt], pageInfo: { hasNextPage: false } })
        return true
      }
      const unlisted = rows("select account_id as id from mirror.accounts where unlisted_since is not null")
      yield* sync(service.url)
      spoilt = [{ ...accountOf(b), accountId: 7 }]
      yield* sync(service.url)
      expect(yield* unlisted).toEqual([])
      spoilt = [{ ...accountOf(c) }]
      yield* sync(service.url)
      expect(yield* unlisted).toEqual([{ id: b }])
    }).pipe(inOwnDatabase),
  )

  it.scoped("is read again when an account came twice, since another was passed over", () =>
    Effect.gen(function* () {
      const found = yield* listing([a, b], [b], [c, a], [b])
      expect(found).toEqual({ asked: 4, listed: [a, b, c], isRead: true })
    }).pipe(inOwnDatabase),
  )

  it.scoped("was read to its end where the same accounts come twice every time", () =>
    Effect.gen(function* () {
      const found = yield* listing([a, b], [b], [a, b], [b])
      expect(found).toEqual({ asked: 4, listed: [a, b], isRead: true })
    }).pipe(inOwnDatabase),
  )

  it.scoped("was not read to its end where the same accounts come twice in another order", () =>
    Effect.gen(function* () {
      const found = yield* listing([a, b], [b], [b, a], [a], [a, b], [a])
      expect(found).toEqual({ asked: 6, listed: [a, b], isRead: false })
    }).pipe(inOwnDatabase),
  )

  it.scoped("was not read to its end while every reading shows others", () =>
    Effect.gen(function* () {
      const found = yield* listing([a, b], [b], [c, a], [a], [d, a], [a])
      expect(found).toEqual({ asked: 6, listed: [a, b, c, d], isRead: false })
      // So no sentence about the book says that everything ties out.
      const notRead = notReadBySync([yield* organizationBook("default")])
      const settings = Settings.from({ variables: variablesFor("http://127.0.0.1:1") })
      expect(yield* Effect.provide(notRead, settings)).toContainEqual({
        what: "accounts",
        count: 1,
        leftOut: false,
      })
    }).pipe(inOwnDatabase),
  )
})
