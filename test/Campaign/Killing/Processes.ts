/** Processes that are started in advance and wait for an operation in which to be killed. */
import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { Effect } from "effect"
import { type Command, isLine, type Line } from "./Command.ts"

export interface Process {
  readonly begin: (command: Command) => void
  readonly signal: (signal: "SIGKILL" | "SIGCONT") => void
  /** Called for every line. */
  onLine: (line: Line) => void
  /** Resolves once the process has ended. */
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
  // The process may be killed while the line is written.
  child.stdin?.on("error", () => undefined)
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on("line", (text) => {
      const line: unknown = JSON.parse(text)
      if (isLine(line)) one.onLine(line)
    })
  }
  return one
}

/** Answers the next process, and starts one in reserve while that works. All end with the scope. */
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
