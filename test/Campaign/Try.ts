import { Effect, Exit, Layer, Logger, LogLevel } from "effect"
import { migrate } from "../../src/Database/Migrate.ts"
import { probing } from "../../src/Database/DatabaseConfig.ts"
import { Database } from "../../src/Database.ts"
import { settingsFor } from "../support/DatabaseAddress.ts"
import { startTestServer } from "../support/TestServer.ts"
import type { History } from "./History.ts"
import { operate } from "./Operations.ts"
import { siteOf } from "./Site.ts"

const history: History = {
  seed: "x",
  settings: { timeZone: "Europe/Berlin", surfaces: ["organization"], view: "lender", repaymentAmount: "outstanding", interest: "as_stated", flatWithdrawalFee: "inside", method: "average", pageSize: 3, newestFirst: true, endCursorOnLastPage: true },
  end: "2025-04-01T00:00:00Z",
  steps: [
    { at: "2025-03-01T10:00:00Z", event: { what: "account", account: "a1", book: "org", currency: "USD", opening: "10.00" } },
    { at: "2025-03-01T10:00:00Z", event: { what: "account", account: "a2", book: "org", currency: "EUR", opening: "0.00" } },
    { at: "2025-03-01T10:01:00Z", event: { what: "resource", resource: "d1", content: { type: "DEPOSIT", account: "a1", amount: "100.00", fee: "1.00" }, status: "COMPLETED" } },
    { at: "2025-03-01T10:01:00Z", event: { what: "entry", entry: "e1", account: "a1", type: "CREDIT", amount: "99.00", related: { type: "DEPOSIT", of: "d1" } } },
    { at: "2025-03-01T10:02:00Z", operation: { do: "sync" } },
    { at: "2025-03-02T10:02:00Z", operation: { do: "sync" } },
    { at: "2025-03-02T10:02:00Z", operation: { do: "sync", full: true } },
  ],
}
const main = Effect.gen(function* () {
  const url = yield* startTestServer()
  yield* Effect.gen(function* () {
    yield* migrate()
    for (let n = 0; n < 30; n++) {
      const t0 = performance.now()
      const site = yield* siteOf(history, `h${n}`, "/tmp/x")
      const t1 = performance.now()
      const told: Array<string> = []
      for (const step of history.steps) {
        if ("event" in step) site.world.apply(step.event, step.at)
        else {
          site.world.now = Math.max(site.world.now, Date.parse(step.at))
          const t = performance.now()
          const o = yield* operate(site, false, step.operation)
          told.push(`${o.told} ${(performance.now() - t).toFixed(0)}ms`)
        }
      }
      console.log(n, (t1 - t0).toFixed(1), told.join("; "), process.cpuUsage().user / 1000)
    }
  }).pipe(Effect.scoped, Effect.provide(Database.layer({ ...settingsFor(url), session: probing })))
}).pipe(Effect.scoped, Logger.withMinimumLogLevel(LogLevel.Error))
const exit = await Effect.runPromiseExit(main)
if (Exit.isFailure(exit)) console.log(String(exit.cause))
