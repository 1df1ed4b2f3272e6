import { spawn } from "node:child_process"

/** An ordinary user to run a program as; `undefined` means the user we are. */
export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/** How a finished program ended; `code` is null when it was killed by a signal. */
export interface Outcome {
  readonly code: number | null
  readonly output: string
}

const outputLimit = 16_384

/**
 * The variables that a Postgres program gets: nothing of ours, because what a server process inherits is readable by
 * its user, and ours holds the partner's secrets. `PG*` would change what the programs do.
 */
export const environment = (): NodeJS.ProcessEnv => {
  const kept = ["PATH", "TMPDIR", "TEMP", "TMP", "SystemRoot", "LD_LIBRARY_PATH"]
  const entries = kept.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(entries), LC_ALL: "C" }
}

/** Spawn options for running as somebody else; only root may. */
export const identity = (account: Account | undefined) =>
  account === undefined ? {} : { uid: account.uid, gid: account.gid }

/** Runs a program to its end. Rejects only when it cannot be started at all. */
export const run = (
  file: string,
  args: ReadonlyArray<string>,
  options: { readonly cwd: string; readonly account?: Account | undefined },
): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      cwd: options.cwd,
      env: environment(),
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
      ...identity(options.account),
    })
    let output = ""
    const keep = (chunk: Buffer) => {
      output = (output + chunk.toString("utf8")).slice(-outputLimit)
    }
    child.stdout.on("data", keep)
    child.stderr.on("data", keep)
    child.once("error", reject)
    child.once("close", (code) => resolve({ code, output: output.trim() }))
  })

export const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))
