/** A closed account, or one that has left the list, whose statement the service no longer shows. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Settings } from "../../src/Settings.ts"
import { Backfill } from "../../src/Sync/Backfill.ts"
import { json } from "../Partner/Service.ts"
import { inOwnDatabase, TestDatabase } from "../support/TestDatabase.ts"
import { unpaced } from "../support/Unpaced.ts"
import { accounts, exchange } from "./Exchange.ts"
import { findings, rows, sync, variablesFor } from "./Runs.ts"

const september = { from: "2026-09-01", to: "2026-09-30" }

const backfill = (url: string) =>
  Effect.flatMap(Backfill, (service) => service.run({ connection: "default", days: september })).pipe(
    Effect.provide(
      Backfill.Default.pipe(Layer.provideMerge(Settings.from({ variables: variablesFor(url) }))),
    ),
    Effect.scoped,
    unpaced,
  )

const unnumbered = rows(`
  select 1 from ledger.journal_entries e
  left join ledger.journal_numbers n on n.book_id = e.book_id and n.entry_id = e.entry_id where n.number is null`)

const refused = rows("select status from sync.stream_reads where trouble is not null")

layer(TestDatabase.layer, { excludeTestServices: true })("the statement of a closed account", (it) => {
  // The interface does not show how a service says that an account is closed.
  for (const status of [404, 403, 400, 401, 409, 410, 422]) {
    it.scoped(`that answers ${status} is noted, and keeps nothing else from being read and numbered`, () =>
      Effect.gen(function* () {
        const { held, service } = yield* exchange({ listed: ["usd", "eur"] })
        held.moves = [
          { on: "usd", at: "2026-09-05", amount: "10" },
          { on: "eur", at: "2026-09-05", amount: "0" },
        ]
        yield* sync(service.url)
        const { accountId } = accounts.eur
        let isListed = true
        held.interfere = (path, response) => {
          if (path.startsWith(`/accounts/${accountId}/statement`)) {
            json(response, { code: "account_closed" }, status)
            return true
          }
          if (!path.startsWith("/accounts?")) return false
          const usd = { ...accounts.usd, balance: "15", status: "ACTIVE" }
          const eur = { ...accounts.eur, balance: "0", status: "CLOSED" }
          json(response, { items: isListed ? [usd, eur] : [usd], pageInfo: { hasNextPage: false } })
          return true
        }
        held.moves.push({ on: "usd", at: "2026-09-06", amount: "5" })
        yield* sync(service.url)
        expect(yield* unnumbered).toEqual([])
        expect(yield* refused).toEqual([{ status }])
        expect(yield* findings).toContain("account-gone blocking")
        yield* backfill(service.url)
        isListed = false
        yield* sync(service.url)
        yield* backfill(service.url)
        expect(yield* refused).toEqual([{ status }])
        expect(yield* findings).toContain("account-gone blocking")
        expect(yield* findings).not.toContain("stream-unread blocking")
      }).pipe(inOwnDatabase),
    )
  }
})

layer(TestDatabase.layer, { excludeTestServices: true })("a token that is refused with a fresh one", (it) => {
  const refusing = (refuses: (path: string) => boolean) =>
    Effect.gen(function* () {
      const { held, service } = yield* exchange({ listed: ["usd", "eur"] })
      held.moves = [
        { on: "usd", at: "2026-09-05", amount: "10" },
        { on: "eur", at: "2026-09-05", amount: "20" },
      ]
      held.interfere = (path, response) => {
        if (!refuses(path)) return false
        json(response, { code: "no_access" }, 401)
        return true
      }
      const failed = yield* Effect.flip(sync(service.url))
      return { failed, booked: yield* rows("select account_id as id from mirror.statement_entries") }
    })

  it.scoped("for one statement keeps no other from being read", () =>
    Effect.gen(function* () {
      const { booked, failed } = yield* refusing((path) =>
        path.startsWith(`/accounts/${accounts.eur.accountId}/statement`),
      )
      expect(booked).toEqual([{ id: accounts.usd.accountId }])
      expect(failed._tag).toBe("SyncIncomplete")
      expect(failed.message).toContain(`statement ${accounts.eur.accountId}: GET`)
      expect(yield* refused).toEqual([{ status: 401 }])
    }).pipe(inOwnDatabase),
  )

  it.scoped("for everything is the credentials' trouble, and ends the run", () =>
    Effect.gen(function* () {
      const { booked, failed } = yield* refusing((path) => !path.startsWith("/accounts?"))
      expect([booked, failed._tag]).toEqual([[], "PartnerError"])
    }).pipe(inOwnDatabase),
  )
})
