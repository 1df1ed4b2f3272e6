/** Processes that are ready to be told what to do before they are killed. */
import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { Effect } from "effect"
import { type Command, isLine, type Line } from "./Command.ts"

export interface Process {
  readonly begin: (command: Command) => void
  readonly signal: (signal: "SIGKILL" | "SIGCONT") => void
  /** Told of every line. */
  onLine: (line: Line) => void
  /** Once it is gone. */
  readonly gone: Promise<void>
  isGone: boolean
}

const started = (program: string): Process => {
  const child: ChildProcess = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] })
  const gone = new Promise<void>((resolve) =>
    child.once("close", () => {
      one.isGone = true
      resolve()
    }),
  )
  const one: Process = {
    begin: (command) => void child.stdin?.write(`${JSON.stringify(command)}\n`),
    signal: (signal) => void child.kill(signal),
    onLine: () => undefined,
    gone,
    isGone: false,
  }
  // It may be killed while it is told.
  child.stdin?.on("error", () => undefined)
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on("line", (text) => {
      const line: unknown = JSON.parse(text)
      if (isLine(line)) one.onLine(line)
    })
  }
  return one
}

/** The next one, and one in reserve while that works; they end with the scope. */
export const processes = (program: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => [started(program), started(program)]),
      (all) =>
        Effect.sync(() => {
          for (const one of all) one.signal("SIGKILL")
        }),
    ),
    (all) => (): Process => {
      const live = all.filter(({ isGone }) => !isGone)
      const [next = started(program), reserve = started(program)] = live
      all.splice(0, all.length, next, reserve)
      return next
    },
  )
