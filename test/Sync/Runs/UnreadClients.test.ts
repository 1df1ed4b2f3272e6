/** The list of clients, or the organization's list of accounts, cannot be read: nothing that it leads to is. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { json } from "../../Partner/Service.ts"
import { inOwnDatabase, TestDatabase } from "../../support/TestDatabase.ts"
import { clientId, lending, move } from "../Lending.ts"
import { bothSurfaces } from "../Partnership.ts"
import { rows, sync } from "../Runs.ts"

const failing = (path: string) =>
  Effect.gen(function* () {
    const { held, service } = yield* lending()
    yield* sync(service.url, bothSurfaces)
    move(held, "", { type: "CREDIT", amount: 10 })
    move(held, clientId(1), { type: "CREDIT", amount: 10 })
    held.interfere = (asked, response) => {
      if (!asked.startsWith(`${path}?`)) return false
      json(response, { code: "odd" }, 400)
      return true
    }
    const { message } = yield* Effect.flip(sync(service.url, bothSurfaces))
    const entries = yield* rows("select account_id from mirror.statement_entries")
    return { lines: message.split("\n"), entries: entries.length }
  })

const why = "answered 400: the request is refused (odd)."

layer(TestDatabase.layer, { excludeTestServices: true })("a sync that cannot read", (it) => {
  it.scoped("the list of clients says that no client was read", () =>
    Effect.gen(function* () {
      const { entries, lines } = yield* failing("/clients")
      expect(entries).toBe(1)
      expect(lines).toEqual([
        expect.stringMatching(`^clients: GET /clients ${why.replace(/[().]/g, "\\$&")}.*[^.]$`),
        "Everything else was read and is committed; run the command again to go on from there.",
      ])
      expect(lines[0]).toContain("No client was read")
    }).pipe(inOwnDatabase),
  )

  it.scoped("the organization's list of accounts says that nothing of it was read", () =>
    Effect.gen(function* () {
      const { entries, lines } = yield* failing("/accounts")
      expect(entries).toBe(1)
      expect(lines[0]).toContain("Nothing of the organization was read")
    }).pipe(inOwnDatabase),
  )
})
