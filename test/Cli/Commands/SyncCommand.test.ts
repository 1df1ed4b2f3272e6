import { expect, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { json } from "../../Partner/Service.ts"
import { credit, partnership } from "../../Sync/Partnership.ts"
import { variablesFor } from "../../Sync/Runs.ts"
import { program } from "../../support/Program.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const Accounts = Schema.parseJson(
  Schema.Struct({
    accounts: Schema.Array(Schema.Struct({ book: Schema.String, newEntries: Schema.Number })),
  }),
)

layer(TestDatabase.layer, { excludeTestServices: true })("tieout sync", (it) => {
  it.scoped("counts what each of two connections to one organization brought by itself", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership({ statement: [credit(1, "5.00", "5.00")], balance: "5.00" })
      const { url } = yield* TestDatabase
      const { run } = yield* program
      const own = variablesFor(service.url)
      const variables = {
        ...own,
        ...Object.fromEntries(
          Object.entries(own).map(([name, text]) => [name.replace("TIEOUT_", "TIEOUT_SECOND_"), text]),
        ),
        TIEOUT_CONNECTIONS: "{ default: { surfaces: [organization] }, second: { surfaces: [organization] } }",
        DATABASE_URL: url,
      }
      expect((yield* run(["sync", "--connection", "default"], variables)).code).toBe(0)
      const { out } = yield* run(["sync", "--json"], variables)
      const { accounts } = yield* Schema.decode(Accounts)(out)
      expect(new Map(accounts.map(({ book, newEntries }) => [book, newEntries]))).toEqual(
        new Map([
          ["ORG", 0],
          ["SECOND-ORG", 1],
        ]),
      )
    }),
  )

  it.scoped("advises to sync for what was left out, and not for what it could not read itself", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({
        statement: [credit(1, "5.00", "5.00")],
        balance: "5.00",
      })
      const { url } = yield* TestDatabase
      const { run } = yield* program
      const variables = { ...variablesFor(service.url), DATABASE_URL: url }
      yield* run(["sync"], variables)
      held.interfere = (path, response) => {
        if (!path.startsWith("/deposits")) return false
        json(response, { code: "Refused" }, 400)
        return true
      }
      const { code, out } = yield* run(["sync"], variables)
      expect(code).toBe(1)
      expect(out).toContain("not read by the last sync: the list of deposits")
      expect(out).not.toContain("tieout sync reads all of it")
      expect((yield* run(["status"], variables)).out).toContain("tieout sync reads all of it")
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped(
    "refuses a client over another surface than its own, which it would leave out without a word",
    () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const { run } = yield* program
        for (const command of [["sync"], ["backfill", "--period", "2026-10"]]) {
          const { code, error, out } = yield* run(
            [...command, "--client", "C-17", "--surface", "organization"],
            {
              ...variablesFor("http://127.0.0.1:9/api/v1"),
              DATABASE_URL: url,
            },
          )
          expect([code, out]).toEqual([2, ""])
          expect(error).toContain("--client and --surface organization exclude each other")
        }
      }),
  )
})
