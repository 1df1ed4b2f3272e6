import { expect, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { client, clientId, lending, move } from "../../Sync/Lending.ts"
import { variablesFor } from "../../Sync/Runs.ts"
import { program } from "../../support/Program.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { unruled } from "../../support/unruled.ts"

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

  it.scoped("names events that wait for a person, as alerts do, of the connection that is asked for", () =>
    Effect.gen(function* () {
      const { service } = yield* lending()
      const { url } = yield* TestDatabase
      const { run } = yield* program
      const variables = {
        ...variablesFor(service.url),
        TIEOUT_CONNECTIONS: "{ default: { surfaces: [organization] }, other: { surfaces: [organization] } }",
        DATABASE_URL: url,
      }
      yield* run(["sync", "--connection", "default"], variables)
      const said = (...more: ReadonlyArray<string>) =>
        Effect.map(run(["status", ...more], variables), ({ out }) => out)
      expect(yield* said()).not.toContain("given up")
      yield* unruled(`
        insert into webhook.inbox (connection, event_id, digest, body, key_id, algorithm, state, received_at)
        select 'default', state || days, '', '', 'k', 'a', state, now() - make_interval(days => days)
        from unnest(array['dead', 'dead', 'poison', 'done'], array[1, 8, 6, 1]) as t (state, days)`)
      const sentence =
        "Of the events of the last seven days 1 was given up and 1 cannot be read. See tieout webhook events."
      expect(yield* said()).toContain(sentence)
      expect(yield* said("--connection", "other")).not.toContain("given up")
      expect(JSON.parse(yield* said("--json"))).toMatchObject({ events: { givenUp: 1, unreadable: 1 } })
    }),
  )
})
