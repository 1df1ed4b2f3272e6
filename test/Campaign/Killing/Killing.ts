/** `--kills`: each operation is first started in a process of its own, which is killed at some statement, and then done again. */
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import type { Database } from "../../../src/Database.ts"
import type { Asked } from "../Arguments.ts"
import { generate } from "../Generator.ts"
import type { History, Kill, Operation, Step } from "../History.ts"
import * as Invariants from "../Invariants.ts"
import { noteMoved } from "../Operations/Moving.ts"
import { books, type Outcome } from "../Operations.ts"
import { type Around, type Played, play } from "../Play.ts"
import { type Random, random } from "../Random.ts"
import { shrink } from "../Shrink.ts"
import { booksOf, type Told } from "../Worker.ts"
import { Aim, type Counted, type Counts } from "./Aim.ts"
import { fate } from "./Fate.ts"
import { type Process, processes } from "./Processes.ts"
import { watchSockets } from "./Sockets.ts"

/** The number of kills, by operation and kind. */
export interface KillsTold extends Told {
  readonly kills: ReadonlyArray<{ readonly what: Operation["do"]; readonly by: Kill["by"] }>
}

/**
 * Operations that are interrupted or cut anyway are not killed as well, and Tieout has no part in a change of the settings or the clock.
 * A process that is killed beside ours would not find our database after a restore, and a killed backup leaves nothing.
 */
const spared: ReadonlySet<Operation["do"]> = new Set([
  "stopped",
  "cut",
  "rules",
  "clock",
  "backup",
  "restore",
])
const killable = ({ do: what }: Operation): boolean => !spared.has(what)

/** How much an operation of each kind sent when it was last done: places are chosen within that. */
class Usual {
  private readonly known = new Map<Operation["do"], Array<Counts>>()

  note(what: Operation["do"], counts: Counts): void {
    this.known.set(what, [...(this.known.get(what) ?? []), counts].slice(-30))
  }

  /** A place within about as many as the operation sends; where it lies beyond the end, the operation simply ends. */
  place(what: Operation["do"], of: Counted, chance: Random): number {
    const [first, ...more] = this.known.get(what) ?? []
    const counts =
      first === undefined
        ? { statement: 60, write: 12, commit: 8, request: 8 }
        : chance.pick([first, ...more])
    return chance.whole(1, Math.max(1, counts[of]))
  }
}

const chosen = (what: Operation["do"], usual: Usual, chance: Random): ReadonlyArray<Kill> => {
  const reads = what === "sync" || what === "events" || what === "backfill" || what === "both"
  const one = (): Kill => {
    const of = chance.weighted<Kill["of"]>([
      [3, "statement"],
      [4, "write"],
      [3, "commit"],
      [reads ? 1 : 0, "request"],
      [1, "millisecond"],
    ])
    const side = chance.pick<Kill["side"]>(["before", "after"])
    if (of === "millisecond") return { of, nth: chance.whole(0, 250), side, by: "kill" }
    const by = chance.weighted<Kill["by"]>([
      [8, "kill"],
      [0.4, "stop"],
      [0.8, "stop, locks cut"],
      [0.4, "stop, all cut"],
      [0.6, "stop, lease taken"],
    ])
    return { of, nth: usual.place(what, of, chance), side, by }
  }
  return Array.from(
    {
      length: chance.weighted([
        [1, 0],
        [4, 1],
        [3, 2],
        [1, 3],
      ]),
    },
    one,
  )
}

interface Tools {
  readonly url: string
  readonly next: () => Process
  readonly usual: Usual
  readonly ours: { aim: Aim }
}

/** Counts what this process sends to the database from here on. */
export const tools = (url: string, program: string) =>
  Effect.map(processes(program), (next): Tools => {
    const ours = { aim: new Aim(null, () => () => undefined) }
    watchSockets({ before: (text) => ours.aim.before(text), after: () => null })
    return { url, next, usual: new Usual(), ours }
  })

/** Kills at the places that the steps name. Where a step names none yet, it chooses one by chance and notes it in the step. */
class Killer {
  readonly kills: Array<KillsTold["kills"][number]> = []
  readonly steps: Array<Step>
  private readonly history: History
  private readonly tools: Tools
  private readonly chance: Random | null

  constructor(history: History, tools: Tools, chance: Random | null) {
    this.history = history
    this.steps = [...history.steps]
    this.tools = tools
    this.chance = chance
  }

  private places(place: number, step: Extract<Step, { operation: Operation }>): ReadonlyArray<Kill> {
    if (this.chance === null || !killable(step.operation)) return step.kills ?? []
    const kills = chosen(step.operation.do, this.tools.usual, this.chance)
    if (kills.length > 0) this.steps[place] = { ...step, kills }
    return kills
  }

  readonly around: Around = (site, place, run, tell) => {
    const { history, tools } = this
    const step = history.steps[place]
    if (step === undefined || !("operation" in step)) return run
    const { operation } = step
    const kills = this.kills
    const places = this.places(place, step)
    const chance = random(`hurry ${history.seed} ${place}`)
    return Effect.gen(function* () {
      for (const kill of places) {
        const { signalled, told } = yield* fate({
          ...{ process: tools.next(), history, site, step: place, url: tools.url, kill },
          ...{ hurried: chance.chance(0.3), meanwhile: run },
        }).pipe(Effect.orDie)
        if (signalled) kills.push({ what: operation.do, by: kill.by })
        tell(`${operation.do}: ${told}`)
        yield* noteMoved(site, yield* books(site), operation)
        const broken = yield* Invariants.broken(yield* books(site))
        if (broken.length > 0) return yield* Effect.dieMessage(`${told}: ${broken.join("; ")}`)
      }
      const ours = new Aim(null, () => () => undefined)
      tools.ours.aim = ours
      const hook = site.hook
      site.hook = Effect.sync(() => void ours.request())
      const outcome: Outcome = yield* run
      site.hook = hook
      tools.usual.note(operation.do, ours.counts)
      return outcome
    })
  }

  get played(): History {
    return { ...this.history, steps: this.steps }
  }
}

let places = 0

const playOnce = (
  history: History,
  database: string,
  killer: Killer | null,
): Effect.Effect<Played, never, Database> => {
  places += 1
  const connection = `k${places}`
  const out = join(tmpdir(), `tieout-campaign-${process.pid}`, connection)
  return play(history, { connection, out, database, ...(killer === null ? {} : { around: killer.around }) })
}

const most = { tries: 60, seconds: 150 }

/** The shortest history that still fails: without its kills where it fails in the same way without them. */
const shortest = (history: History, problem: string, using: Tools) => {
  const again = (one: History) =>
    Effect.map(playOnce(one, using.url, new Killer(one, using, null)), (played) => played.problem)
  const bare = {
    ...history,
    steps: history.steps.map((step) => ("event" in step ? step : { at: step.at, operation: step.operation })),
  }
  return Effect.flatMap(again(bare), (found) =>
    shrink(found === null ? history : bare, found ?? problem, again, most),
  )
}

/** Plays a history with its own kills, or with kills by chance. */
export const playKilled = (history: History, using: Tools, chance: Random | null, shrinking: boolean) =>
  Effect.gen(function* () {
    const killer = new Killer(history, using, chance)
    const { problem, told } = yield* playOnce(history, using.url, killer)
    const base = { seed: history.seed, books: booksOf(history), told, kills: killer.kills }
    if (problem === null) return { ...base, problem, history: null } satisfies KillsTold
    if (!shrinking) return { ...base, problem, history: killer.played } satisfies KillsTold
    const shorter = yield* shortest(killer.played, problem, using)
    return { ...base, problem: shorter.problem, history: shorter.history } satisfies KillsTold
  })

/** How many more operations than usual a history with kills has, and its most books. */
const shapeOf = ({ shape }: Asked): Asked["shape"] => ({
  ...shape,
  books: Math.min(shape.books, 4),
  busier: 8,
})

/** Plays one worker's share: histories until so many operations were killed. */
export const killing = (
  asked: Asked,
  worker: number,
  using: Tools,
  tell: (told: KillsTold) => void,
): Effect.Effect<void, never, Database> =>
  Effect.gen(function* () {
    const until = performance.now() + asked.seconds * 1_000
    let done = 0
    for (
      let n = asked.from + worker;
      done < asked.kills / asked.workers && performance.now() < until;
      n += asked.workers
    ) {
      const history = generate(`${asked.seed}-${n}`, shapeOf(asked))
      const told = yield* playKilled(history, using, random(`kill ${history.seed}`), asked.shrink)
      done += told.kills.length
      tell(told)
    }
  }).pipe(Effect.withTracerEnabled(false))
