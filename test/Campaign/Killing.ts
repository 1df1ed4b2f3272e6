/** `--kills`: every operation runs in a process of its own first, which is killed with -9 at a random moment. */
import { spawn } from "node:child_process"
import { writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import type { Database } from "../../src/Database.ts"
import type { Asked } from "./Arguments.ts"
import { generate } from "./Generator.ts"
import type { History, Operation } from "./History.ts"
import { play } from "./Play.ts"
import { random } from "./Random.ts"
import { booksOf, type Told } from "./Worker.ts"

/** Operations that may be killed and then run again as if nothing had been. */
const killable: ReadonlySet<Operation["do"]> = new Set(["sync", "events", "backfill", "close"])

const program = fileURLToPath(new URL("./Killed.ts", import.meta.url))

/** Plays a history up to a step in another process, and kills that within so many milliseconds of the step's start. */
const killedAt = (
  file: string,
  connection: string,
  step: number,
  url: string,
  within: number,
): Promise<boolean> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [...process.execArgv, program, file, connection, String(step)], {
      env: { ...process.env, CAMPAIGN_DATABASE: url },
      stdio: ["ignore", "pipe", "inherit"],
    })
    let killed = false
    child.stdout.once("data", () => {
      setTimeout(() => {
        killed = child.kill("SIGKILL")
      }, within)
    })
    child.once("exit", () => resolve(killed))
  })

/** Plays histories until so many operations were killed. */
export const killing = (
  { from, kills, seed, shape }: Asked,
  url: string,
  tell: (told: Told) => void,
): Effect.Effect<void, never, Database> =>
  Effect.gen(function* () {
    let done = 0
    for (let n = from; done < kills; n++) {
      const history: History = generate(`${seed}-${n}`, shape)
      const chance = random(`kill ${history.seed}`)
      const connection = `k${n}`
      const file = join(tmpdir(), `tieout-kill-${process.pid}.json`)
      writeFileSync(file, JSON.stringify(history))
      const before = (step: number): Effect.Effect<void> => {
        const one = history.steps[step]
        if (one === undefined || !("operation" in one) || !killable.has(one.operation.do)) return Effect.void
        return Effect.promise(async () => {
          if (await killedAt(file, connection, step, url, chance.whole(0, 250))) done += 1
        })
      }
      const out = join(tmpdir(), `tieout-kill-${process.pid}`)
      const { problem, told } = yield* play(history, { connection, out, before })
      tell({
        seed: history.seed,
        books: booksOf(history),
        problem,
        history: problem === null ? null : history,
        told,
      })
    }
  })
