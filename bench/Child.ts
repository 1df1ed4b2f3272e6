/** Runs one stage of the benchmark as a process of its own and reads its time and its peak memory. */
import { type ChildProcess, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { endedChildren } from "./Processor.ts"

const root = fileURLToPath(new URL("..", import.meta.url))

export interface Finished {
  readonly stdout: string
  readonly seconds: number
  /** User and system time. No other child of this process may end meanwhile. */
  readonly processorSeconds: number
  /** The highest resident set size of the process itself, in megabytes (10^6 bytes). */
  readonly peakMegabytes: number
  /** The same of each process that it started: its workers. */
  readonly ofChildren: ReadonlyArray<number>
}

/** Peak resident set size so far; 0 where the system does not say (anything but Linux). */
const peakOf = (pid: number | undefined): number => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8")
    return (Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1_024) / 1e6
  } catch {
    return 0
  }
}

/** Processes that a process has started and that still run; none where the system does not say. */
const childrenOf = (pid: number | undefined): ReadonlyArray<number> => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
      .trim()
      .split(" ")
      .map(Number)
      .filter((child) => child > 0)
  } catch {
    return []
  }
}

/** Another program than Node, another folder than the project's, other exit codes that are fine. */
interface Where {
  readonly codes?: ReadonlyArray<number>
  readonly cwd?: string
  readonly program?: string
}

const start = (
  args: ReadonlyArray<string>,
  env: Record<string, string>,
  { cwd = root, program = process.execPath }: Where = {},
): ChildProcess =>
  spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  })

/** Runs a program, Node unless another is named, with the arguments to its end. Throws where it ends with a code that is not expected. */
export const run = async (
  args: ReadonlyArray<string>,
  env: Record<string, string>,
  where?: Where,
): Promise<Finished> => {
  const started = performance.now()
  const before = endedChildren()
  const child = start(args, env, where)
  let stdout = ""
  let stderr = ""
  let peak = 0
  const ofChildren = new Map<number, number>()
  const watch = setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid))
    for (const own of childrenOf(child.pid))
      ofChildren.set(own, Math.max(ofChildren.get(own) ?? 0, peakOf(own)))
  }, 20)
  child.stdout?.on("data", (text: Buffer) => {
    stdout += text.toString()
  })
  child.stderr?.on("data", (text: Buffer) => {
    stderr += text.toString()
  })
  const code = await new Promise<number | null>((resolve) => child.once("exit", resolve))
  clearInterval(watch)
  if (!(where?.codes ?? [0, 3]).includes(code ?? -1))
    throw new Error(`${args.join(" ")} ended with ${code}:\n${stderr}${stdout}`)
  return {
    stdout,
    seconds: (performance.now() - started) / 1_000,
    processorSeconds: endedChildren() - before,
    peakMegabytes: peak,
    ofChildren: [...ofChildren.values()],
  }
}

/** Starts Node with the arguments and waits for its first whole JSON document on stdout. */
export const serve = async (
  args: ReadonlyArray<string>,
  env: Record<string, string> = {},
): Promise<{ answer: unknown; pid: number; stop: () => void }> => {
  const child = start(args, env)
  let text = ""
  const answer = await new Promise<unknown>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`${args.join(" ")} ended with ${code}`)))
    child.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString()
      try {
        resolve(JSON.parse(text))
      } catch {
        // The document is not complete yet.
      }
    })
  })
  return { answer, pid: child.pid ?? 0, stop: () => child.kill("SIGTERM") }
}
