import { expect, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { client, clientId, lending, move } from "../../Sync/Lending.ts"
import { variablesFor } from "../../Sync/Runs.ts"
import { program } from "../../support/Program.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const Unread = Schema.parseJson(
  Schema.Struct({
    unread: Schema.Array(
      Schema.Struct({ connection: Schema.String, book: Schema.String, what: Schema.String }),
    ),
  }),
)

layer(TestDatabase.layer, { excludeTestServices: true })("tieout status", (it) => {
  it.scoped("names the books that cannot be read, what of them, since when and why", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1), client(2)] })
      move(held, clientId(2), { type: "CREDIT", amount: 5 })
      const { url } = yield* TestDatabase
      const { run } = yield* program
      const variables = {
        ...variablesFor(service.url),
        TIEOUT_CONNECTIONS: "{ default: { surfaces: [organization, client] } }",
        TIEOUT_LIMITS_TRIES: "1",
        DATABASE_URL: url,
      }
      yield* run(["sync"], variables)
      expect((yield* run(["status"], variables)).out).not.toContain("Not readable")

      held.interfere = (path, response) => {
        if (!path.startsWith(`/clients/${clientId(2)}/accounts`)) return false
        response.writeHead(500).end()
        return true
      }
      expect((yield* run(["sync"], variables)).code).toBe(3)
      const { out } = yield* run(["status"], variables)
      expect(out).toMatch(
        /\nNot readable: book C2 \(the list of accounts answers 500, since \d{4}-\d\d-\d\dT[\d:]{8}Z\)\.\n/,
      )
      const { unread } = yield* Schema.decode(Unread)((yield* run(["status", "--json"], variables)).out)
      expect(unread).toEqual([
        { connection: "default", book: "C2", what: "the list of accounts answers 500" },
      ])
      // A later run of another book changes nothing about it.
      yield* run(["sync", "--surface", "organization"], variables)
      expect((yield* run(["status"], variables)).out).toContain("Not readable: book C2 (")

      held.interfere = () => false
      yield* run(["sync", "--client", "C2"], variables)
      expect((yield* run(["status"], variables)).out).not.toContain("Not readable")
    }),
  )
})
