/**
 * `npm run campaign -- --histories N --seed S [--kills K] [--workers W]`: plays so many histories by seed, shrinks each that
 * fails, and says how many there were. Ends by itself; exit code 1 where anything failed.
 */
import { spawn } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { Effect, Exit, Logger, LogLevel } from "effect"
import { startTestServer } from "../support/TestServer.ts"
import { type Asked, argumentsOf } from "./Arguments.ts"
import { type History, lineOf } from "./History.ts"
import { isKilled, killCampaign } from "./Killing/Campaign.ts"
import { freshDatabase, inDatabase } from "./Server.ts"
import { playAndShrink, type Told, work } from "./Worker.ts"

const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Where failing histories are kept, to be played again with `--replay`. */
const kept = join(tmpdir(), "tieout-campaign")

/** Counts what is told, and prints what failed as it comes. */
class Tally {
  histories = 0
  failed = 0
  private readonly began = performance.now()
  private next = 200

  private get seconds(): number {
    return (performance.now() - this.began) / 1_000
  }

  take({ books, history, problem, seed, told }: Told, show: boolean): void {
    this.histories += books
    if (show) say(`${seed}: ${told.join(" / ")}`)
    if (problem !== null) {
      this.failed += 1
      say(`FAILED seed ${seed}: ${problem.slice(0, 2_000)}`)
      if (history !== null) {
        mkdirSync(kept, { recursive: true })
        const file = join(kept, `${seed.replaceAll(/[^A-Za-z0-9-]/g, "_")}.json`)
        writeFileSync(file, JSON.stringify(history, null, 1))
        say(`  ${JSON.stringify(history.settings)}`)
        for (const step of history.steps) say(`  ${lineOf(step)}`)
        say(`  again: npm run campaign -- --replay ${file}`)
      }
    }
    if (this.histories >= this.next) {
      this.next += 200
      say(this.line)
    }
  }

  get line(): string {
    const rate = (this.histories / this.seconds).toFixed(1)
    return `${this.histories} histories, ${this.failed} failed, ${this.seconds.toFixed(1)} s, ${rate} a second`
  }
}

const quiet = Logger.withMinimumLogLevel(LogLevel.None)

/** A worker's process: told of its database by the environment, tells a line of JSON for every history. */
const asWorker = (asked: Asked, worker: number, url: string): Promise<Exit.Exit<number>> =>
  Effect.runPromiseExit(
    work(asked, worker, (told) => say(JSON.stringify(told))).pipe(
      Effect.as(0),
      Effect.provide(inDatabase(url)),
      quiet,
    ),
  )

const isTold = (value: unknown): value is Told =>
  typeof value === "object" && value !== null && "seed" in value

const spawned = (worker: number, url: string, take: (told: Told) => void): Promise<number> =>
  new Promise((resolve) => {
    const child = spawn(
      process.execPath,
      [...process.execArgv, fileURLToPath(import.meta.url), ...process.argv.slice(2)],
      {
        env: { ...process.env, CAMPAIGN_WORKER: String(worker), CAMPAIGN_DATABASE: url },
        stdio: ["ignore", "pipe", "inherit"],
      },
    )
    createInterface({ input: child.stdout }).on("line", (line) => {
      const told: unknown = JSON.parse(line)
      if (isTold(told)) take(told)
    })
    child.once("exit", (code) => resolve(code ?? 1))
  })

const campaign = (asked: Asked) =>
  Effect.gen(function* () {
    const server = yield* startTestServer()
    const tally = new Tally()
    const take = (told: Told): void => tally.take(told, asked.show)
    const again: History | null =
      asked.replay === undefined ? null : JSON.parse(readFileSync(asked.replay, "utf8"))
    if (asked.kills > 0 || (again !== null && isKilled(again))) {
      return yield* killCampaign(asked, server, again)
    }
    if (again !== null) {
      const url = yield* freshDatabase(server)
      take(yield* Effect.provide(playAndShrink(again, false, asked.shrink), inDatabase(url)))
    } else {
      const urls = yield* Effect.forEach(Array.from({ length: asked.workers }), () => freshDatabase(server))
      const codes = yield* Effect.promise(() =>
        Promise.all(urls.map((url, worker) => spawned(worker, url, take))),
      )
      tally.failed += codes.filter((code) => code !== 0).length
    }
    say(tally.line)
    return tally.failed
  }).pipe(Effect.scoped, quiet)

const asked = argumentsOf(process.argv.slice(2))
const { CAMPAIGN_DATABASE: database, CAMPAIGN_WORKER: worker } = process.env
const exit: Exit.Exit<number, unknown> =
  database !== undefined && worker !== undefined
    ? await asWorker(asked, Number(worker), database)
    : await Effect.runPromiseExit(campaign(asked))
if (Exit.isFailure(exit)) process.stderr.write(`${String(exit.cause)}\n`)
process.exit(Exit.isFailure(exit) || exit.value > 0 ? 1 : 0)
