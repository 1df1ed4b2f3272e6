/** Worker processes beside this one, for as long as it needs them. */
import { type ChildProcess, spawn } from "node:child_process"
import { Data, Effect, type Scope } from "effect"

/** The workers that were started ended again and again. */
export class WorkersEnded extends Data.TaggedError("WorkersEnded")<{ readonly message: string }> {}

/** How long a worker may take to end what it is at. Milliseconds. */
const patience = 15_000
/** A killed worker is replaced, up to this many times for each that was asked for; one that fails right at its start is not. */
const successors = 10
const pause = 500

/**
 * Undefined where the system refuses to start it, for lack of memory for instance: Node throws some of its errors and emits others.
 * Otherwise its input ends with this process, however that ends.
 */
const started = ([file = "", ...args]: ReadonlyArray<string>): ChildProcess | undefined => {
  try {
    return spawn(file, args, { stdio: ["pipe", "ignore", "inherit"] })
  } catch {
    return undefined
  }
}

/** A slot for one worker: as long as the slot is wanted, a process fills it. */
class Place {
  private child: ChildProcess | undefined
  private pausing: NodeJS.Timeout | undefined
  private left = successors
  private isWanted = true
  private readonly command: ReadonlyArray<string>
  private readonly given: () => void

  /** `given`: called when no further worker will be started. */
  constructor(command: ReadonlyArray<string>, given: () => void) {
    this.command = command
    this.given = given
    this.begin()
  }

  private begin(): void {
    const child = started(this.command)
    this.child = child
    if (child === undefined) {
      this.next()
      return
    }
    child.stdin?.on("error", () => undefined)
    child.once("error", () => this.ended(child))
    child.once("exit", () => this.ended(child))
  }

  private ended(child: ChildProcess): void {
    if (this.child !== child) return
    this.child = undefined
    this.next()
  }

  private next(): void {
    if (!this.isWanted) return
    if (this.left === 0) {
      this.given()
      return
    }
    this.left -= 1
    this.pausing = setTimeout(() => this.begin(), pause)
  }

  async stop(): Promise<void> {
    this.isWanted = false
    clearTimeout(this.pausing)
    const { child } = this
    if (child === undefined) return
    const gone = new Promise<void>((resolve) => {
      child.once("exit", () => resolve())
      child.once("error", () => resolve())
    })
    child.stdin?.end()
    const killing = setTimeout(() => child.kill("SIGKILL"), patience)
    await gone
    clearTimeout(killing)
  }
}

/** The command line that runs this program with other arguments. */
export const ownCommand = (...args: ReadonlyArray<string>): ReadonlyArray<string> => [
  process.execPath,
  ...process.execArgv,
  ...process.argv.slice(1, 2),
  ...args,
]

/**
 * Keeps so many workers running; `gone` fails when none can be kept running. They end with the scope, and with this process.
 */
export const workers = (
  count: number,
  command: ReadonlyArray<string>,
): Effect.Effect<{ readonly gone: Effect.Effect<never, WorkersEnded> }, never, Scope.Scope> =>
  Effect.gen(function* () {
    let left = count
    let allGone: (() => void) | undefined
    yield* Effect.acquireRelease(
      Effect.sync(() =>
        Array.from(
          { length: count },
          () =>
            new Place(command, () => {
              left -= 1
              if (left === 0) allGone?.()
            }),
        ),
      ),
      (places) => Effect.promise(() => Promise.all(places.map((place) => place.stop()))),
    )
    const gone = Effect.async<never, WorkersEnded>((resume) => {
      allGone = () =>
        resume(
          new WorkersEnded({
            message:
              "All workers have ended, and so did those that followed them; their messages above say why. What was committed stays: run it again.",
          }),
        )
    })
    return { gone }
  })
