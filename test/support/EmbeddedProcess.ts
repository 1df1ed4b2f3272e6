import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { compiled } from "./Compiled.ts"

export interface Seen {
  readonly visits: number
  readonly version: string
  readonly fsync: string
  readonly user: string
  readonly path: string
  readonly milliseconds: number
}

/** A client process that is using the embedded database. */
export interface EmbeddedProcess {
  readonly child: ChildProcessWithoutNullStreams
  readonly seen: Seen
  /** What it wrote for people. */
  readonly said: () => string
  /** Lets it leave in order. */
  readonly leave: () => Promise<void>
  readonly kill: () => Promise<void>
}

const ended = (child: ChildProcessWithoutNullStreams): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once("exit", () => resolve()))

/** Starts a client process on a data folder and waits until it has used the database. */
export const startClient = async (dataDir: string): Promise<EmbeddedProcess> => {
  const child = spawn(process.execPath, [compiled("test/support/embeddedClient.mjs")], {
    env: { ...process.env, DATABASE_URL: "", TIEOUT_DATA_DIR: dataDir },
  })
  let errors = ""
  child.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString("utf8")
  })
  let said = ""
  const seen = await new Promise<Seen>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line.startsWith("{")) resolve(JSON.parse(line))
      else said += `${line}\n`
    })
    child.once("exit", (code) => reject(new Error(`the client ended with ${code}: ${errors}`)))
  })
  return {
    child,
    seen,
    said: () => said + errors,
    leave: async () => {
      child.stdin.end()
      await ended(child)
    },
    kill: async () => {
      child.kill("SIGKILL")
      await ended(child)
    },
  }
}
