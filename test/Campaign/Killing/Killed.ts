/**
 * The process that is killed. It is started in advance, waits for a line on its input and does what that says. At the named place
 * it sends the signal to itself, so that the server sees a client die as by kill -9. Where the operation ends before that place,
 * the process waits for another line.
 */
import { writeSync } from "node:fs"
import { createInterface } from "node:readline"
import { Cause, Effect, Exit, Logger, LogLevel, Option } from "effect"
import { DatabaseError } from "../../../src/Database/DatabaseError.ts"
import { operate } from "../Operations.ts"
import { inDatabase } from "../Server.ts"
import { changeRules, siteOf } from "../Site.ts"
import { Aim } from "./Aim.ts"
import type { Command, Line } from "./Command.ts"
import { watchSockets } from "./Sockets.ts"

/** Writes synchronously: the line must have left before the signal comes. */
const tell = (line: Line): void => void writeSync(1, `${JSON.stringify(line)}\n`)

let aim = new Aim(null, () => () => undefined)
watchSockets({ before: (text) => aim.before(text), after: (text) => aim.after(text) })

const done = ({ announced, connection, history, kill, moments, out, readToEnd, step, url }: Command) =>
  Effect.gen(function* () {
    const one = history.steps[step]
    if (one === undefined || !("operation" in one))
      return yield* Effect.dieMessage("there is no such operation")
    const site = yield* siteOf(history, { connection, database: url, out })
    for (const before of history.steps.slice(0, step)) {
      if ("event" in before) site.world.apply(before.event, before.at)
      else {
        site.world.now = Math.max(site.world.now, Date.parse(before.at)) + 1_000
        if (before.operation.do === "rules") yield* changeRules(site, before.operation.rules)
        if (before.operation.do === "clock") site.ahead = before.operation.minutes * 60_000
      }
    }
    site.world.now = Math.max(site.world.now, Date.parse(one.at)) + 1_000
    // The fault remains for the process that does the operation next.
    site.world.faults.length = 0
    for (const [stream, at] of readToEnd) site.world.readToEnd.set(stream, at)
    site.moments.push(...moments)
    site.announced = announced
    site.world.onServed = (served) => tell({ line: "served", served })
    const signal = kill.by === "kill" ? "SIGKILL" : "SIGSTOP"
    aim = new Aim(kill, (nth, text) => () => {
      tell({ line: "place", nth, text: text.replaceAll(/\s+/g, " ").trim().slice(0, 60) })
      process.kill(process.pid, signal)
    })
    site.hook = Effect.sync(() => aim.request()?.())
    tell({ line: "begins" })
    return yield* operate(site, false, one.operation)
  }).pipe(Effect.scoped)

const commanded = (command: Command) =>
  Effect.provide(done(command), inDatabase(command.url)).pipe(
    Effect.withTracerEnabled(false),
    Logger.withMinimumLogLevel(LogLevel.None),
  )

for await (const line of createInterface({ input: process.stdin })) {
  // The line is sent once every session is closed, as an ending process closes them.
  // Whose sessions were cut while it connected has done nothing, and says so.
  const exit = await Effect.runPromiseExit(
    Effect.catchSomeDefect(commanded(JSON.parse(line)), (defect) =>
      defect instanceof DatabaseError
        ? Option.some(Effect.succeed({ done: false, told: `DatabaseError: ${defect.message}` }))
        : Option.none(),
    ),
  )
  if (Exit.isFailure(exit)) tell({ line: "died", cause: Cause.pretty(exit.cause) })
  else tell({ line: "ended", ...exit.value })
}
process.exit(0)
