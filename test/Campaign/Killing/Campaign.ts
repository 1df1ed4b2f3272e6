/** `npm run campaign -- --kills K`: two workers, each with a database and a process in reserve. It also replays one history. */
import { spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import type { Asked } from "../Arguments.ts"
import { bundled } from "../Bundled.ts"
import { type History, lineOf } from "../History.ts"
import { freshDatabase, inDatabase } from "../Server.ts"
import { failuresFolder, say } from "../Tally.ts"
import { type KillsTold, playKilled, tools } from "./Killing.ts"

const counted = (words: ReadonlyArray<string>): string => {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([word, count]) => `${count} ${word}`)
    .join(", ")
}

class Tally {
  failed = 0
  private histories = 0
  private readonly kills: Array<KillsTold["kills"][number]> = []
  private readonly began = performance.now()
  private next = 100
  private readonly show: boolean

  constructor(show: boolean) {
    this.show = show
  }

  take({ books, history, kills, problem, seed, told }: KillsTold): void {
    this.histories += books
    this.kills.push(...kills)
    if (this.show || problem !== null) for (const line of told) say(`  ${seed}: ${line}`)
    if (problem !== null) {
      this.failed += 1
      say(`FAILED seed ${seed}: ${problem.slice(0, 2_000)}`)
      if (history !== null) this.keep(seed, history)
    }
    if (this.kills.length < this.next) return
    this.next += 100
    say(this.line)
  }

  private keep(seed: string, history: History): void {
    mkdirSync(failuresFolder, { recursive: true })
    const file = join(failuresFolder, `kill-${seed.replaceAll(/[^A-Za-z0-9-]/g, "_")}.json`)
    writeFileSync(file, JSON.stringify(history, null, 1))
    say(`  ${JSON.stringify(history.settings)}`)
    for (const step of history.steps) say(`  ${lineOf(step)}`)
    say(`  again, with its kills: npm run campaign -- --replay ${file}`)
  }

  get line(): string {
    const stopped = this.kills.filter(({ by }) => by !== "kill").length
    const kinds = counted(this.kills.map(({ what }) => what))
    const seconds = ((performance.now() - this.began) / 1_000).toFixed(0)
    const kills = this.kills.length - stopped
    return `${kills} kills and ${stopped} stops (${kinds}) in ${this.histories} histories, ${this.failed} failed, ${seconds} s`
  }
}

const isTold = (value: unknown): value is KillsTold =>
  typeof value === "object" && value !== null && "kills" in value

const spawned = (worker: number, url: string, program: string, tally: Tally): Promise<number> =>
  new Promise((resolve) => {
    const child = spawn(
      process.execPath,
      [...process.execArgv, fileURLToPath(new URL("./Worker.ts", import.meta.url)), ...process.argv.slice(2)],
      {
        env: {
          ...process.env,
          CAMPAIGN_WORKER: String(worker),
          CAMPAIGN_DATABASE: url,
          CAMPAIGN_KILLED: program,
        },
        stdio: ["ignore", "pipe", "inherit"],
      },
    )
    createInterface({ input: child.stdout }).on("line", (line) => {
      const told: unknown = JSON.parse(line)
      if (isTold(told)) tally.take(told)
    })
    child.once("exit", (code) => resolve(code ?? 1))
  })

/** Whether the history names operations that are killed. */
export const isKilled = ({ steps }: History): boolean => steps.some((step) => "kills" in step)

/** Plays the campaign, or only the history `again`. Answers the number of failures. */
export const killCampaign = (asked: Asked, server: string, again: History | null) =>
  Effect.gen(function* () {
    const program = yield* bundled("Killing/Killed.ts")
    const tally = new Tally(asked.show)
    if (again !== null) {
      const url = yield* freshDatabase(server)
      const played = Effect.flatMap(tools(url, program), (using) =>
        playKilled(again, using, null, asked.shrink),
      )
      tally.take(yield* Effect.provide(Effect.scoped(played), inDatabase(url)))
    } else {
      const urls = yield* Effect.forEach(Array.from({ length: asked.workers }), () => freshDatabase(server))
      const codes = yield* Effect.promise(() =>
        Promise.all(urls.map((url, worker) => spawned(worker, url, program, tally))),
      )
      tally.failed += codes.filter((code) => code !== 0).length
    }
    say(tally.line)
    return tally.failed
  })
