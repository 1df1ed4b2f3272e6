import { type ChildProcess, spawn } from "node:child_process"
import { lstat, rename } from "node:fs/promises"
import { openRegular } from "../../Common/Files/RegularFile.ts"
import { program } from "./Binaries.ts"
import type { Cluster } from "./Cluster.ts"
import { environment, identity, run, sleep } from "./Command.ts"
import { EmbeddedError } from "./EmbeddedError.ts"
import { fullDisk, keepsFromStarting } from "./FullDisk.ts"
import { handOver } from "./HandOver.ts"
import { onWindows, openOwnLog } from "./OwnFiles.ts"
import { isPostmasterOf, maySignal, type Postmaster, removeStaleLocks, runningPostmaster } from "./PidFile.ts"
import { freePort, makeSocketFolder, socketFile, socketPort } from "./Socket.ts"

/** Milliseconds between two looks at a server that is starting or stopping. */
const pollEvery = 10

/** Milliseconds for a start to show in the pid file, without counting crash recovery. */
const startWithin = 60_000

/** Milliseconds for crash recovery, and for a stop with its last checkpoint. */
const recoverWithin = 600_000

const logLimit = 10_000_000

/**
 * Modest memory on any machine, and nothing traded for durability.
 *
 * Checkpoints are sized for a first sync of a million entries, which writes 3 GB of WAL (3.1 kB an entry): at 4 GB one begins every
 * 2.1 GB, and none by time meanwhile. After a checkpoint the first change of each page writes the whole page; one within 60,000
 * entries made 9,500 of those. They are not compressed: with pglz, which is all that this build has, 6,900 pages took 0.7 s of
 * processor time for 22 MB, without it 0.1 s for 50 MB. After a crash, at most what came after the last two checkpoints is
 * read again, in well under a minute.
 *
 * Buffers: with 128 MB, a sync of 100,000 entries (a database of 306 MB) threw out 54,000 pages and read 66,000.
 */
const settings: Readonly<Record<string, string>> = {
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  shared_buffers: "256MB",
  work_mem: "16MB",
  maintenance_work_mem: "128MB",
  max_connections: "64",
  max_wal_size: "4GB",
  checkpoint_timeout: "15min",
  checkpoint_completion_target: "0.9",
  wal_compression: "off",
  autovacuum: "on",
  jit: "off",
  // Parallel plans need more of /dev/shm than containers give.
  max_parallel_workers_per_gather: "0",
  max_parallel_maintenance_workers: "0",
  timezone: "UTC",
  log_timezone: "UTC",
  // Statements and the values in them stay out of the log.
  log_min_messages: "log",
  log_min_error_statement: "panic",
  log_error_verbosity: "terse",
  log_checkpoints: "off",
  cluster_name: "tieout",
  ...(process.platform === "linux"
    ? {
        client_connection_check_interval: "2s",
        // In the cluster's folder: what a user has in /dev/shm is removed at the end of their last session, or of a unit of theirs.
        dynamic_shared_memory_type: "mmap",
      }
    : {}),
}

const listening = async (cluster: Cluster): Promise<Readonly<Record<string, string>>> => {
  if (onWindows) return { listen_addresses: "127.0.0.1", port: String(await freePort()) }
  const folder = await makeSocketFolder(cluster.place.home, cluster.account)
  await removeStaleLocks(cluster.folder, `${socketFile(folder, socketPort)}.lock`, cluster.account)
  return {
    listen_addresses: "",
    port: String(socketPort),
    // A list of folders: quoted, so that commas in the path are no separators.
    unix_socket_directories: `"${folder.replaceAll('"', '""')}"`,
    unix_socket_permissions: "0700",
  }
}

/** Starts the server as a process of its own, which outlives us. Its messages go to the log only. */
const launch = async (cluster: Cluster): Promise<ChildProcess> => {
  await handOver(cluster)
  const chosen = { ...settings, ...(await listening(cluster)), ...cluster.settings }
  const logged = await lstat(cluster.log).then(
    ({ size }) => size,
    () => 0,
  )
  if (logged > logLimit) await rename(cluster.log, `${cluster.log}.old`).catch(() => undefined)
  const log = await openOwnLog(cluster.log)
  try {
    const options = Object.entries(chosen).flatMap(([name, value]) => ["-c", `${name}=${value}`])
    const child = spawn(program(cluster.binaries, "postgres"), ["-D", cluster.folder, ...options], {
      cwd: cluster.place.home,
      env: environment(),
      detached: true,
      windowsHide: true,
      stdio: ["ignore", log.fd, log.fd],
      ...identity(cluster.account),
    })
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve)
      child.once("error", reject)
    })
    child.unref()
    return child
  } finally {
    await log.close()
  }
}

/** Bytes of the log's end that an error looks at. */
const logEnd = 16_384

const lastLines = async (file: string): Promise<string> => {
  const handle = await openRegular(file)
  try {
    const { size } = await handle.stat()
    const { buffer, bytesRead } = await handle.read({
      buffer: Buffer.alloc(logEnd),
      position: Math.max(0, size - logEnd),
    })
    return buffer.subarray(0, bytesRead).toString("utf8").trim().split("\n").slice(-5).join("\n")
  } finally {
    await handle.close()
  }
}

const startFailed = async (cluster: Cluster, what: string): Promise<EmbeddedError> => {
  const said = await lastLines(cluster.log).catch(() => "")
  if (keepsFromStarting(cluster.folder, said)) return fullDisk(cluster.folder, `Postgres ${what}`)
  return new EmbeddedError({
    reason: "StartFailed",
    message: `Postgres on ${cluster.folder} ${what}. The end of its log, ${cluster.log}:\n${said}`,
  })
}

/**
 * Waits for the server to be ready, and starts it when nobody does. Several processes may do this at once: Postgres' own
 * lock lets one server start, and the others find it.
 */
export const ensureRunning = async (cluster: Cluster): Promise<Postmaster> => {
  const began = performance.now()
  let child: ChildProcess | undefined
  let failures = 0
  for (;;) {
    const found = await runningPostmaster(cluster.folder)
    if (found?.status === "ready") return found
    const waited = performance.now() - began
    if (
      found === undefined &&
      (child === undefined || child.exitCode !== null || child.signalCode !== null)
    ) {
      // Starts the server again if it lost the race, or if its predecessor's processes were still ending.
      if (child !== undefined) failures += 1
      if (failures > 0) await sleep(100 * failures)
      if (failures > 8) throw await startFailed(cluster, "does not start")
      if ((await runningPostmaster(cluster.folder)) === undefined) child = await launch(cluster)
    }
    if (waited > (found === undefined ? startWithin : recoverWithin)) {
      throw await startFailed(cluster, `was not ready after ${Math.round(waited / 1000)} s`)
    }
    await sleep(pollEvery)
  }
}

/**
 * Stops a server, letting its transactions roll back, and waits until it is gone. One whose process we do not see is left to those who do.
 */
export const stopServer = async (cluster: Cluster): Promise<void> => {
  const found = await runningPostmaster(cluster.folder)
  if (found === undefined || !found.isSeen) return
  if (onWindows) {
    const args = ["stop", "-D", cluster.folder, "-m", "fast", "-w"]
    await run(program(cluster.binaries, "pg_ctl"), args, {
      cwd: cluster.place.home,
      account: cluster.account,
    })
    return
  }
  if (!(await maySignal(found, cluster.folder))) {
    throw new EmbeddedError({
      reason: "StartFailed",
      message:
        `Process ${found.pid} looks like the server of ${cluster.folder}, but did not begin when postmaster.pid says. ` +
        "It was left running.",
    })
  }
  // What `pg_ctl stop -m fast` sends.
  process.kill(found.pid, "SIGINT")
  const began = performance.now()
  while (await isPostmasterOf(found.pid, cluster.folder)) {
    if (performance.now() - began > recoverWithin) throw await startFailed(cluster, "did not stop")
    await sleep(pollEvery)
  }
}
