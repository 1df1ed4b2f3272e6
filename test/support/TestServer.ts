import { chmod, mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { isAlive, runningPostmaster } from "../../src/Database/Embedded/PidFile.ts"
import { embedded } from "../../src/Database/Embedded.ts"
import { urlOf } from "./DatabaseAddress.ts"

/** Folders are named after the run that made them, so that what a killed run leaves behind can be told. */
const prefix = "tieout-test-run-"

/** A folder for a run; the next run removes it if this one is killed. */
export const makeRunFolder = async (): Promise<string> => {
  const made = await mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`))
  // As root the server runs as another user, who must get in.
  await chmod(made, 0o755)
  return made
}

/** Stops the servers of test runs that were killed, and removes their data. */
const sweep = async (): Promise<void> => {
  for (const name of await readdir(tmpdir())) {
    const [, pid] = new RegExp(`^${prefix}(\\d+)-`).exec(name) ?? []
    if (pid === undefined || isAlive(Number.parseInt(pid, 10))) continue
    const folder = join(tmpdir(), name)
    const cluster = join(folder, "postgres", "cluster")
    const left = await runningPostmaster(cluster)
    if (left !== undefined) process.kill(left.pid, "SIGQUIT")
    while ((await runningPostmaster(cluster)) !== undefined) await new Promise((done) => setTimeout(done, 20))
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Without what keeps data over a crash: nothing here is worth keeping. A session plans each statement once, for most run
 * a few times in a database that lasts for one test, and planning is most of what the server does.
 */
const serverSettings: Readonly<Record<string, string>> = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  wal_level: "minimal",
  max_wal_senders: "0",
  wal_compression: "off",
  autovacuum: "off",
  plan_cache_mode: "force_generic_plan",
  max_connections: "200",
}

/** The embedded server in a folder of its own. Answers its URL. */
export const startTestServer = Effect.fn("Test.startServer")(function* () {
  yield* Effect.ignore(Effect.tryPromise(sweep))
  const folder = yield* Effect.acquireRelease(Effect.promise(makeRunFolder), (made) =>
    Effect.promise(() => rm(made, { recursive: true, force: true })),
  )
  const settings = yield* embedded({
    dataDir: folder,
    settings: serverSettings,
  })
  return urlOf(settings, "postgres")
})
