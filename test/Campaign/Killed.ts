/** The process that is killed: brings its world to a step of the history and does what the step says. */
import { readFileSync } from "node:fs"
import { Effect, Logger, LogLevel } from "effect"
import type { History } from "./History.ts"
import { operate } from "./Operations.ts"
import { inDatabase } from "./Server.ts"
import { siteOf } from "./Site.ts"

const [, , file = "", connection = "", at = "0"] = process.argv

const main = Effect.gen(function* () {
  const history: History = JSON.parse(readFileSync(file, "utf8"))
  const site = yield* siteOf(history, connection, `${file}.out`)
  const step = Number(at)
  for (const one of history.steps.slice(0, step)) {
    if ("event" in one) site.world.apply(one.event, one.at)
    else site.world.now = Math.max(site.world.now, Date.parse(one.at)) + 1_000
  }
  const one = history.steps[step]
  if (one === undefined || !("operation" in one)) return
  // What failed before does not fail again for a process that is to be killed.
  site.world.faults.length = 0
  site.world.now = Math.max(site.world.now, Date.parse(one.at)) + 1_000
  process.stdout.write("begins\n")
  yield* operate(site, false, one.operation)
}).pipe(
  Effect.scoped,
  Effect.provide(inDatabase(process.env.CAMPAIGN_DATABASE ?? "")),
  Logger.withMinimumLogLevel(LogLevel.None),
)

await Effect.runPromiseExit(main)
process.exit(0)
