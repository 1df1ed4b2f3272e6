/** A worker's process. The environment names its database and its share; it prints a line of JSON per history. */
import { Effect, Exit, Logger, LogLevel } from "effect"
import { argumentsOf } from "./Arguments.ts"
import { ownTime } from "./Processor.ts"
import { say } from "./Tally.ts"
import { type Told, work } from "./Worker.ts"

/** The line of a history, with the milliseconds of processor time since the previous line. */
export interface Line {
  readonly told: Told
  readonly spent: number
}

const { CAMPAIGN_DATABASE: url = "", CAMPAIGN_WORKER: worker } = process.env

let before = 0
const tell = (told: Told): void => {
  const now = ownTime()
  say(JSON.stringify({ told, spent: now - before } satisfies Line))
  before = now
}

const share = work(argumentsOf(process.argv.slice(2)), Number(worker), url, tell)
const exit = await Effect.runPromiseExit(share.pipe(Logger.withMinimumLogLevel(LogLevel.None)))
if (Exit.isFailure(exit)) process.stderr.write(`${String(exit.cause)}\n`)
process.exit(Exit.isFailure(exit) ? 1 : 0)
