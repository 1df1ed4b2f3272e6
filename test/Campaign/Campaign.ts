/**
 * `npm run campaign -- --histories N --seed S [--kills K] [--workers W]`: plays N histories of the seed, shrinks each that fails,
 * and prints the counts. Ends with exit code 1 where anything failed.
 */
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { createInterface } from "node:readline"
import { Effect, Exit, Logger, LogLevel } from "effect"
import { startTestServer } from "../support/TestServer.ts"
import { type Asked, argumentsOf } from "./Arguments.ts"
import { bundled } from "./Bundled.ts"
import type { History } from "./History.ts"
import { isKilled, killCampaign } from "./Killing/Campaign.ts"
import { serverTime } from "./Processor.ts"
import { freshDatabase, inDatabase } from "./Server.ts"
import { say, Tally } from "./Tally.ts"
import { playAndShrink } from "./Worker.ts"
import type { Line } from "./WorkerProcess.ts"

/** Without logs and tracing, as the program runs where nobody asks for them. */
const quiet = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(Logger.withMinimumLogLevel(LogLevel.None), Effect.withTracerEnabled(false))

const isLine = (value: unknown): value is Line =>
  typeof value === "object" && value !== null && "told" in value && "spent" in value

/** A large young generation, which V8 collects seldom: a worker makes many objects and keeps few. */
const memory = "--max-semi-space-size=64"

const spawned = (program: string, worker: number, url: string, tally: Tally): Promise<number> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [memory, program, ...process.argv.slice(2)], {
      env: { ...process.env, CAMPAIGN_WORKER: String(worker), CAMPAIGN_DATABASE: url },
      stdio: ["ignore", "pipe", "inherit"],
    })
    createInterface({ input: child.stdout }).on("line", (text) => {
      const line: unknown = JSON.parse(text)
      if (isLine(line)) tally.take(line.told, line.spent)
    })
    child.once("exit", (code) => resolve(code ?? 1))
  })

/** A line of progress is printed after so many histories, or after each quarter of a smaller campaign. */
const every = 200

const campaign = (asked: Asked) =>
  Effect.gen(function* () {
    const server = yield* startTestServer()
    const again: History | null =
      asked.replay === undefined ? null : JSON.parse(readFileSync(asked.replay, "utf8"))
    if (asked.kills > 0 || (again !== null && isKilled(again))) {
      return yield* killCampaign(asked, server, again)
    }
    const url = yield* freshDatabase(server)
    const tally = new Tally(Math.min(every, asked.histories / 4), yield* serverTime(server), asked.show)
    if (again !== null) {
      tally.take(yield* Effect.provide(playAndShrink(again, false, asked.shrink, url), inDatabase(url)), 0)
    } else {
      const program = yield* bundled("WorkerProcess.ts")
      const codes = yield* Effect.promise(() =>
        Promise.all(
          Array.from({ length: asked.workers }, (_, worker) => spawned(program, worker, url, tally)),
        ),
      )
      tally.failed += codes.filter((code) => code !== 0).length
    }
    say(tally.line)
    return tally.failed
  }).pipe(Effect.scoped, quiet)

const exit = await Effect.runPromiseExit(campaign(argumentsOf(process.argv.slice(2))))
if (Exit.isFailure(exit)) process.stderr.write(`${String(exit.cause)}\n`)
process.exit(Exit.isFailure(exit) || exit.value > 0 ? 1 : 0)
