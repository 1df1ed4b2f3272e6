import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import { runningPostmaster } from "../../src/Database/Embedded/PidFile.ts"
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
  /** The messages that it wrote for people. */
  readonly said: () => string
  /** Ends its input, so that it leaves in order. */
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

/** Whether these tests run as root, for whom the server runs as another user. */
export const asRoot = process.getuid?.() === 0

export const clusterOf = (dataDir: string): string => join(dataDir, "postgres", "cluster")

/** Waits until no server runs on a data folder. */
export const serverGone = async (dataDir: string): Promise<void> => {
  while ((await runningPostmaster(clusterOf(dataDir))) !== undefined) await sleep(20)
}

/** Stops the server that runs on a data folder, if one does, without waiting for its clients. */
export const stopServerOf = async (dataDir: string): Promise<void> => {
  const server = await runningPostmaster(clusterOf(dataDir))
  if (server === undefined) return
  process.kill(server.pid, "SIGQUIT")
  await serverGone(dataDir)
}

/** What is to be undone after each test, in reverse order. */
export class Cleanups {
  readonly #all: Array<() => Promise<unknown>> = []

  push(cleanup: () => Promise<unknown>): void {
    this.#all.push(cleanup)
  }

  async run(): Promise<void> {
    for (const cleanup of this.#all.splice(0).reverse()) await cleanup()
  }

  /** A folder that everybody can enter. */
  async openFolder(): Promise<string> {
    const made = await mkdtemp(join(tmpdir(), "tieout-embedded-"))
    this.push(() => rm(made, { recursive: true, force: true }))
    await chmod(made, 0o755)
    return made
  }

  /** A data folder of the test's own. Whatever still runs on it afterwards is stopped. */
  async dataFolder(): Promise<string> {
    const folder = join(await this.openFolder(), "data")
    this.push(() => stopServerOf(folder))
    return folder
  }

  /** A client of a data folder, which is killed afterwards if it has not left. */
  async client(dataDir: string): Promise<EmbeddedProcess> {
    const started = await startClient(dataDir)
    this.push(started.kill)
    return started
  }
}
