import { access, chmod, constants, mkdtemp, readdir, rm, statfs } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { isAlive, runningPostmaster } from "../../src/Database/Embedded/PidFile.ts"
import { embedded } from "../../src/Database/Embedded.ts"
import { urlOf } from "./DatabaseAddress.ts"

/** Folders are named after the run that made them, so that the leftovers of a killed run can be recognized. */
const prefix = "tieout-test-run-"

/** A file system in memory, where the system has one. */
const memory = "/dev/shm"

/** Bytes that must be free in memory: many times the size of a run's databases. */
const room = 4 * 2 ** 30

/**
 * Where the server keeps its files: in memory if there is room. A database is some 500 files that are soon deleted
 * again, and a disk's file system takes as long over them as the server over a test's statements.
 */
const serverParent = async (): Promise<string> => {
  try {
    const { bavail, bsize } = await statfs(memory)
    await access(memory, constants.W_OK)
    return bavail * bsize < room ? tmpdir() : memory
  } catch {
    return tmpdir()
  }
}

/** A folder for a run; the next run removes it if this one is killed. */
export const makeRunFolder = async (parent: string = tmpdir()): Promise<string> => {
  const made = await mkdtemp(join(parent, `${prefix}${process.pid}-`))
  // As root the server runs as another user, who must get in.
  await chmod(made, 0o755)
  return made
}

/** Stops the servers of test runs that were killed, and removes their data. */
const sweep = async (parent: string): Promise<void> => {
  for (const name of await readdir(parent)) {
    const [, pid] = new RegExp(`^${prefix}(\\d+)-`).exec(name) ?? []
    if (pid === undefined || isAlive(Number.parseInt(pid, 10))) continue
    const folder = join(parent, name)
    const cluster = join(folder, "postgres", "cluster")
    const left = await runningPostmaster(cluster)
    if (left !== undefined) process.kill(left.pid, "SIGQUIT")
    while ((await runningPostmaster(cluster)) !== undefined) await new Promise((done) => setTimeout(done, 20))
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Nothing protects the data against a crash, because they are not worth keeping. A session plans each statement once: most run
 * only a few times in a database that lasts for one test, and planning is most of the server's work.
 */
const serverSettings: Readonly<Record<string, string>> = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  wal_level: "minimal",
  max_wal_senders: "0",
  wal_compression: "off",
  max_wal_size: "256MB",
  autovacuum: "off",
  plan_cache_mode: "force_generic_plan",
  max_connections: "200",
}

/** The embedded server in a folder of its own. Answers its URL. */
export const startTestServer = Effect.fn("Test.startServer")(function* () {
  for (const parent of [tmpdir(), memory]) yield* Effect.ignore(Effect.tryPromise(() => sweep(parent)))
  const folder = yield* Effect.acquireRelease(
    Effect.promise(async () => makeRunFolder(await serverParent())),
    (made) => Effect.promise(() => rm(made, { recursive: true, force: true })),
  )
  const settings = yield* embedded({
    dataDir: folder,
    role: "owner",
    settings: serverSettings,
  })
  return urlOf(settings, "postgres")
})
