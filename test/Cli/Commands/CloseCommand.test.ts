import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { client, clientId, lending, move } from "../../Sync/Lending.ts"
import { variablesFor } from "../../Sync/Runs.ts"
import { program } from "../../support/Program.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { unruled } from "../../support/unruled.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("tieout close", (it) => {
  it.scoped("of all books names those without any account that cannot be read, or never were", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1), client(2)] })
      move(held, clientId(1), { type: "CREDIT", amount: 5 })
      const { url } = yield* TestDatabase
      const { run } = yield* program
      const variables = {
        ...variablesFor(service.url),
        TIEOUT_CONNECTIONS: "{ default: { surfaces: [client] } }",
        TIEOUT_LIMITS_TRIES: "1",
        DATABASE_URL: url,
      }
      held.interfere = (path, response) => {
        if (!path.startsWith(`/clients/${clientId(2)}/accounts`)) return false
        response.writeHead(500).end()
        return true
      }
      expect((yield* run(["sync"], variables)).code).toBe(3)
      const close = (...more: ReadonlyArray<string>) =>
        run(["close", "2026-09", "--dry-run", ...more], variables)
      const { out } = yield* close()
      expect(out).toMatch(
        /\nWithout any account to close, and not read: book C2 \(the list of accounts answers 500, since \d{4}-\d\d-\d\dT[\d:]{8}Z\)\.\n/,
      )
      expect(JSON.parse((yield* close("--json")).out)).toMatchObject({
        unread: [{ connection: "default", book: "C2", what: "the list of accounts answers 500" }],
      })
      expect((yield* close("--book", "C1")).out).not.toContain("Without any account")

      // As an event leaves it that made the book, and did not come to its accounts.
      yield* unruled(
        `delete from sync.stream_reads s using mirror.books b where b.book_id = s.book_id and b.code = 'C2'`,
      )
      expect((yield* close()).out).toMatch(
        /\nWithout any account to close, and not read: book C2 \(it was never read whole, since [\dTZ:-]{20}\)\.\n/,
      )

      held.interfere = () => false
      yield* run(["sync"], variables)
      expect((yield* close()).out).not.toContain("Without any account")
      expect(JSON.parse((yield* close("--json")).out)).toMatchObject({ unread: [] })
    }),
  )
})
