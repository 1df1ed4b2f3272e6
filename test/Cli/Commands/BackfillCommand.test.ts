import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { client, clientId, lending, move } from "../../Sync/Lending.ts"
import { credit, partnership } from "../../Sync/Partnership.ts"
import { variablesFor } from "../../Sync/Runs.ts"
import { program } from "../../support/Program.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const proved = "Every running balance carries from the opening to the closing balance."

layer(TestDatabase.layer, { excludeTestServices: true })("tieout backfill", (it) => {
  it.scoped("names the findings behind its exit code, and the command that shows them", () =>
    Effect.gen(function* () {
      // The statement never reaches the balance that the service reports.
      const { held, service } = yield* partnership({
        statement: [credit(1, "5.00", "5.00")],
        balance: "6.00",
      })
      const { url } = yield* TestDatabase
      const { run } = yield* program
      const backfill = run(["backfill", "--period", "2026-10"], {
        ...variablesFor(service.url),
        DATABASE_URL: url,
      })
      const first = yield* backfill
      expect(first.out).toContain(
        `${proved}\n1 blocking finding open (2 findings opened, 0 closed by this backfill)`,
      )
      expect(first.out).toContain("See: tieout reconcile")
      expect(first.code).toBe(3)
      held.balance = "5.00"
      const second = yield* backfill
      expect(second.out).toContain(proved)
      expect(second.out).not.toContain("blocking")
      expect(second.code).toBe(0)
    }),
  )

  it.scoped("shows no balance of an account that has no entries", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership({ balance: "0.00" })
      const { run } = yield* program
      const { url } = yield* TestDatabase
      const { out } = yield* run(["backfill", "--period", "2026-10"], {
        ...variablesFor(service.url),
        DATABASE_URL: url,
      })
      expect(out).toMatch(/ USD +0 +no entries$/m)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("names the clients that it does not read, and proves nothing where it reads nothing", () =>
    Effect.gen(function* () {
      const { service } = yield* lending({ clients: [client(1, { status: "DISABLED" })] })
      const { url } = yield* TestDatabase
      const { run } = yield* program
      const { out } = yield* run(["backfill", "--period", "2026-10", "--client", "C1"], {
        ...variablesFor(service.url),
        TIEOUT_CONNECTIONS: "{default: {surfaces: [client]}}",
        DATABASE_URL: url,
      })
      expect(out).toContain("Not read because of their status: C1 (DISABLED).\nNo statement was read.")
      expect(out).not.toContain(proved)
    }),
  )

  it.scoped("does not call proved what could not be read", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1), client(2)] })
      move(held, clientId(1), { type: "CREDIT", amount: 5 })
      held.interfere = (path, response) => {
        if (!path.includes(`/clients/${clientId(2)}/`) || !path.includes("/statement")) return false
        response.writeHead(409).end()
        return true
      }
      const { url } = yield* TestDatabase
      const { run } = yield* program
      const backfill = run(["backfill", "--period", "2026-10"], {
        ...variablesFor(service.url),
        TIEOUT_CONNECTIONS: "{default: {surfaces: [client]}}",
        DATABASE_URL: url,
      })
      const part = yield* backfill
      expect(part.out).not.toContain(proved)
      expect(part.out).toContain("Every running balance that was read carries from the opening")
      expect(part.code).toBe(3)
      held.interfere = () => false
      expect((yield* backfill).out).toContain(proved)
    }),
  )

  it.scoped("proves nothing of days that lie ahead, and says so", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership({ statement: [credit(1, "5.00", "5.00")], balance: "5.00" })
      const { url } = yield* TestDatabase
      const { run } = yield* program
      const backfill = (...days: ReadonlyArray<string>) =>
        run(["backfill", ...days], { ...variablesFor(service.url), DATABASE_URL: url })
      const month = yield* backfill("--period", "2999-02")
      expect([month.code, month.out]).toEqual([2, ""])
      expect(month.error).toContain("2999-02-01 to 2999-02-28 lies ahead. Nothing was read.")
      const days = yield* backfill("--from", "2999-03-05", "--to", "2999-03-06", "--json")
      expect([days.code, days.out]).toEqual([2, expect.stringContaining("lies ahead")])
      // Days of which some have begun are read.
      expect((yield* backfill("--from", "2026-10-01", "--to", "2999-12-31")).code).toBe(0)
    }),
  )

  it.scoped("ends with 75 at the deadline of a run", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership({ statement: [credit(1, "5.00", "5.00")], balance: "5.00" })
      const { url } = yield* TestDatabase
      const { run } = yield* program
      const { code, error } = yield* run(["backfill", "--period", "2026-10"], {
        ...variablesFor(service.url),
        DATABASE_URL: url,
        TIEOUT_LIMITS_RUN_DEADLINE: "1 ms",
      })
      expect(error).toContain(
        "The backfill of connection default took longer than limits.runDeadline (1ms) and was stopped.",
      )
      expect(code).toBe(75)
    }),
  )
})
