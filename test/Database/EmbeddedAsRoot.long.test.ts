import { spawn } from "node:child_process"
import {
  chmod,
  chown,
  lstat,
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
import { Cause, Effect } from "effect"
import { afterAll, afterEach, describe, expect, it } from "vitest"
import { failuresOf } from "../../src/Cli/Failure.ts"
import { findBinaries, program } from "../../src/Database/Embedded/Binaries.ts"
import { run } from "../../src/Database/Embedded/Command.ts"
import { EmbeddedError } from "../../src/Database/Embedded/EmbeddedError.ts"
import { maySignal, runningPostmaster } from "../../src/Database/Embedded/PidFile.ts"
import { findPlace } from "../../src/Database/Embedded/Place.ts"
import { serverAccount } from "../../src/Database/Embedded/ServerAccount.ts"
import { embedded } from "../../src/Database/Embedded.ts"
import { asRoot, Cleanups, clusterOf, startClient, stopServerOf } from "../support/EmbeddedProcess.ts"

/*
 * What the server's user could do to root, whose files and folders lie around the server's. Skipped unless the tests run as
 * root, who alone can be attacked in this way.
 */

const cleanups = new Cleanups()

afterEach(() => cleanups.run())

/** Starts the server and stops it, as a client does that does nothing in between. */
const startAndStop = (dataDir: string): Promise<void> =>
  Effect.runPromise(Effect.asVoid(Effect.scoped(embedded({ dataDir }))))

const refusal = (dataDir: string): Promise<EmbeddedError> =>
  Effect.runPromise(Effect.flip(Effect.scoped(embedded({ dataDir }))))

/** A file of root's that nobody else may read, with what it must still hold afterwards. */
const rootsFile = async (folder: string): Promise<{ path: string; unchanged: () => Promise<void> }> => {
  const path = join(folder, "roots-own")
  await writeFile(path, "only root may read this\n", { mode: 0o640 })
  const before = await stat(path)
  return {
    path,
    unchanged: async () => {
      expect(await readFile(path, "utf8")).toBe("only root may read this\n")
      const { gid, mode, uid } = await stat(path)
      expect({ gid, mode, uid }).toEqual({ gid: before.gid, mode: before.mode, uid: before.uid })
    },
  }
}

const uidOf = async (name: string): Promise<number> =>
  Number.parseInt((await run("id", ["-u", name], { cwd: "/" })).output, 10)

let visited: Promise<string> | undefined

/** A data folder that one client has used and left; made once, since creating a database takes longest. */
const used = (): Promise<string> => {
  visited ??= (async () => {
    const folder = join(await mkdtemp(join(tmpdir(), "tieout-embedded-")), "data")
    await chmod(join(folder, ".."), 0o755)
    const first = await startClient(folder)
    await first.leave()
    return folder
  })()
  return visited
}

afterAll(async () => {
  if (visited !== undefined) await rm(join(await visited, ".."), { recursive: true, force: true })
})

const usedData = async (folder: string): Promise<void> => {
  await run("cp", ["-a", await used(), folder], { cwd: "/" })
}

/** Data as earlier versions left them: all of it, and the folder around it, belongs to an account of the distribution. */
const formerData = async (folder: string): Promise<number> => {
  await usedData(folder)
  const former = await uidOf("nobody")
  const home = join(folder, "postgres")
  await run("chown", ["-R", String(former), home], { cwd: "/" })
  await chmod(home, 0o700)
  return former
}

describe.runIf(asRoot)("the embedded Postgres for root", () => {
  it("runs as the user tieout, who can write nowhere that root writes", async () => {
    const folder = await cleanups.dataFolder()
    const only = await cleanups.client(folder)
    const account = await uidOf("tieout")
    const server = await runningPostmaster(clusterOf(folder))
    expect((await stat(`/proc/${server?.pid}`)).uid).toBe(account)
    const home = join(folder, "postgres")
    const owners = await Promise.all(
      ["", "password", "server.log", "cluster", "socket"].map(async (name) => {
        const { mode, uid } = await lstat(join(home, name))
        return [name, uid === 0 ? "root" : uid === account ? "tieout" : uid, (mode & 0o777).toString(8)]
      }),
    )
    expect(owners).toEqual([
      ["", "root", "710"],
      ["password", "root", "600"],
      ["server.log", "root", "600"],
      ["cluster", "tieout", "700"],
      ["socket", "tieout", "700"],
    ])
    await only.leave()
  })

  it("takes over data that the distribution's accounts own, and none that another user owns", async () => {
    const folder = await cleanups.dataFolder()
    await formerData(folder)
    const second = await cleanups.client(folder)
    expect(second.seen.visits).toBe(2)
    await second.leave()
    const account = await uidOf("tieout")
    const foreign = (await run("find", [clusterOf(folder), "!", "-uid", String(account)], { cwd: "/" }))
      .output
    expect(foreign).toBe("")
    expect((await stat(join(folder, "postgres"))).uid).toBe(0)

    await chown(clusterOf(folder), 12_345, 12_345)
    expect((await refusal(folder)).message).toContain("belongs to the user 12345")
  })

  it("shares the server of an earlier version while it runs, and takes the data over afterwards", async () => {
    const folder = await cleanups.dataFolder()
    const former = await formerData(folder)
    const home = join(folder, "postgres")
    const binaries = await findBinaries(folder, (await serverAccount())?.account)
    const options = ["-c", "listen_addresses=", "-c", `unix_socket_directories=${join(home, "socket")}`]
    await rm(join(home, "socket", ".s.PGSQL.5432.lock"), { force: true })
    const old = spawn(program(binaries, "postgres"), ["-D", clusterOf(folder), ...options], {
      uid: former,
      gid: 65_534,
      env: { LC_ALL: "C" },
      stdio: "ignore",
      cwd: "/",
    })
    cleanups.push(async () => void old.kill("SIGKILL"))
    while ((await runningPostmaster(clusterOf(folder)))?.status !== "ready") await sleep(20)
    const guest = await cleanups.client(folder)
    expect(guest.seen.visits).toBe(2)
    expect((await stat(home)).uid).toBe(former)
    await guest.leave()
    expect(await runningPostmaster(clusterOf(folder))).toBeUndefined()
    const next = await cleanups.client(folder)
    expect(next.seen.visits).toBe(3)
    expect((await stat(home)).uid).toBe(0)
    await next.leave()
  })

  it("does not share the server of another user, whose data it would be given", async () => {
    const folder = await cleanups.dataFolder()
    const former = await formerData(folder)
    const home = join(folder, "postgres")
    const other = 12_345
    for (const path of [home, join(home, "socket")]) await chown(path, other, other)
    await run("chown", ["-R", String(other), clusterOf(folder)], { cwd: "/" })
    const binaries = await findBinaries(folder, (await serverAccount())?.account)
    await rm(join(home, "socket", ".s.PGSQL.5432.lock"), { force: true })
    const options = ["-c", "listen_addresses=", "-c", `unix_socket_directories=${join(home, "socket")}`]
    const server = spawn(program(binaries, "postgres"), ["-D", clusterOf(folder), ...options], {
      ...{ uid: other, gid: 65_534, env: { LC_ALL: "C" }, stdio: "ignore", cwd: "/" },
    })
    cleanups.push(async () => void server.kill("SIGKILL"))
    expect(former).not.toBe(other)
    expect((await refusal(folder)).message).toContain("belongs to the user 12345")
  })

  it("removes nothing through a link that looks like a half-made database, or in folders of others", async () => {
    const elsewhere = await cleanups.dataFolder()
    await (await cleanups.client(elsewhere)).leave()
    for (const owner of [0, 12_345]) {
      const folder = await cleanups.openFolder()
      await symlink(join(elsewhere, "postgres"), join(folder, ".initdb-999999-y"))
      await chown(folder, owner, owner)
      await (await cleanups.client(folder)).leave()
    }
    // A folder of ours is removed where we alone could have put it there.
    const own = await cleanups.openFolder()
    for (const at of [own, await cleanups.openFolder()]) {
      await mkdir(join(at, ".initdb-999999-y", "cluster"), { recursive: true })
      if (at !== own) await chown(at, 12_345, 12_345)
      await (await cleanups.client(at)).leave()
      expect((await readdir(at)).includes(".initdb-999999-y")).toBe(at !== own)
    }
    const again = await cleanups.client(elsewhere)
    expect(again.seen.visits).toBe(2)
    await again.leave()
  })

  it("follows no link of another user to data of root's", async () => {
    const elsewhere = await cleanups.dataFolder()
    await (await cleanups.client(elsewhere)).leave()
    const folder = await cleanups.openFolder()
    const link = join(folder, "postgres")
    await symlink(join(elsewhere, "postgres"), link)
    await run("chown", ["-h", "12345", link], { cwd: "/" })
    expect((await refusal(folder)).message).toContain("is a link that the user 12345 made")
  })

  it("writes no log through a link", async () => {
    const folder = await cleanups.dataFolder()
    const secret = await rootsFile(await cleanups.openFolder())
    await formerData(folder)
    await rm(join(folder, "postgres", "server.log"))
    await symlink(secret.path, join(folder, "postgres", "server.log"))
    await startAndStop(folder)
    await secret.unchanged()
    expect((await lstat(join(folder, "postgres", "server.log"))).isFile()).toBe(true)
  })

  it("neither reads nor changes a password through a link", async () => {
    const folder = await cleanups.dataFolder()
    const secret = await rootsFile(await cleanups.openFolder())
    await formerData(folder)
    await rm(join(folder, "postgres", "password"))
    await symlink(secret.path, join(folder, "postgres", "password"))
    const error = await refusal(folder)
    expect(error.message).toContain(`${join(folder, "postgres", "password")} is a link`)
    expect(error.message).not.toContain("only root")
    await secret.unchanged()
  })

  it("gives nothing away through a link in the place of the socket's folder, of the cluster, or within it", async () => {
    for (const name of ["socket", "cluster/base", "cluster/PG_VERSION"]) {
      const folder = await cleanups.dataFolder()
      const target = await cleanups.openFolder()
      const secret = await rootsFile(target)
      await formerData(folder)
      const path = join(folder, "postgres", name)
      await rm(path, { recursive: true, force: true })
      await symlink(name.endsWith("VERSION") ? secret.path : target, path)
      const error = await refusal(folder)
      expect(error.reason).toBe("Folder")
      expect(error.message).not.toContain("only root")
      await secret.unchanged()
      expect((await stat(target)).uid).toBe(0)
    }
  })

  it("is held up by no pipe or link in the place of the pid file", async () => {
    const folder = await cleanups.dataFolder()
    const secret = await rootsFile(await cleanups.openFolder())
    await usedData(folder)
    const account = await uidOf("tieout")
    for (const plant of [
      async (path: string) => void (await run("mkfifo", [path], { cwd: "/" })),
      (path: string) => symlink(secret.path, path),
      (path: string) => mkdir(path),
    ]) {
      for (const file of [
        join(clusterOf(folder), "postmaster.pid"),
        join(folder, "postgres", "socket", ".s.PGSQL.5432.lock"),
      ]) {
        await plant(file)
        await run("chown", ["-h", String(account), file], { cwd: "/" })
      }
      await startAndStop(folder)
      await secret.unchanged()
    }
  })

  it("sends no signal to a process that is not the server: another user's, or begun at another time", async () => {
    const folder = await cleanups.dataFolder()
    await usedData(folder)
    const cluster = clusterOf(folder)
    const account = await uidOf("tieout")
    const imitation = async (uid: number) => {
      // Its command line reads as the server's.
      const child = spawn("sleep", ["1000"], {
        argv0: `/x/postgres -D ${cluster}`,
        uid,
        stdio: "ignore",
        cwd: "/",
      })
      cleanups.push(async () => void child.kill("SIGKILL"))
      await new Promise((resolve) => child.once("spawn", resolve))
      return child.pid ?? 0
    }
    const claim = async (pid: number, startedAt: number) => {
      await writeFile(
        join(cluster, "postmaster.pid"),
        `${pid}\n${cluster}\n${startedAt}\n5432\n\n\n\nready\n`,
      )
      await chown(join(cluster, "postmaster.pid"), account, account)
      return runningPostmaster(cluster)
    }
    const now = Math.floor(Date.now() / 1000)
    expect(await claim(await imitation(0), now)).toBeUndefined()
    const later = await claim(await imitation(account), now - 3600)
    if (later === undefined) throw new Error("not taken for the server")
    expect(await maySignal(later, cluster)).toBe(false)
    expect(await maySignal({ ...later, startedAt: now }, cluster)).toBe(true)
    await rm(join(cluster, "postmaster.pid"))
  })

  it("takes no location of data from anything but a file that it could have written", async () => {
    const home = await mkdtemp(join(tmpdir(), "tieout-home-"))
    cleanups.push(() => rm(home, { recursive: true, force: true }))
    const { path } = await rootsFile(await cleanups.openFolder())
    const account = (await serverAccount())?.account
    const pointer = join(home, "data", "postgres.location")
    await mkdir(join(home, "data"))
    await symlink(path, pointer)
    await expect(findPlace(join(home, "data"), account)).rejects.toMatchObject({ reason: "Folder" })
    await rm(pointer)
    await writeFile(pointer, "/etc\n")
    const refused = await findPlace(join(home, "data"), account).then(String, String)
    expect(refused).toContain("names no folder of ours below /var/lib/tieout-root or /var/tmp/tieout")
  })

  it("keeps the data of a folder that the user tieout may write to, or cannot enter, where root alone writes", async () => {
    const account = (await serverAccount())?.account
    const writable = await cleanups.openFolder()
    await chmod(writable, 0o777)
    const root = join(await cleanups.openFolder(), "shared")
    const place = await findPlace(join(writable, "data"), account, [root])
    expect(place).toMatchObject({
      moved: "now",
      home: expect.stringMatching(new RegExp(`^${root}/[0-9a-f]{16}$`)),
    })
    expect(await findPlace(join(writable, "data"), account, [root])).toMatchObject({
      moved: "before",
      home: place.home,
    })

    await rm(place.home, { recursive: true })
    const gone = await findPlace(join(writable, "data"), account, [root]).then(String, String)
    expect(gone).toContain(`says that the data are in ${place.home}, and there is no such folder`)
    await mkdir(place.home)

    // As systemd does with a folder that is a unit's StateDirectory, too.
    if (account === undefined) throw new Error("no account")
    await chown(root, account.uid, account.gid)
    const handedOver = await findPlace(join(writable, "data"), account, [root]).then(String, String)
    expect(handedOver).toContain(`The data in ${place.home} lie where the user tieout may write (${root})`)
    await chown(root, 0, 0)

    await mkdir(join(writable, "other", "postgres"), { recursive: true })
    const refused = await findPlace(join(writable, "other"), account, [root]).then(String, String)
    expect(refused).toContain(`lie where the user tieout may write (${writable})`)
  })

  it("keeps the data of a project that this user cannot enter where it can, and says where", async () => {
    const home = await mkdtemp(join(tmpdir(), "tieout-home-"))
    cleanups.push(() => rm(home, { recursive: true, force: true }))
    await chmod(home, 0o700)
    const folder = join(home, "project", "data")
    const first = await cleanups.client(folder)
    const [place] = (await readFile(join(folder, "postgres.location"), "utf8")).split("\n")
    if (place === undefined) throw new Error("no place")
    cleanups.push(() => rm(place, { recursive: true, force: true }))
    expect(place).toMatch(/^\/var\/(lib\/tieout-root|tmp\/tieout)\/[0-9a-f]{16}$/)
    expect(first.said()).toContain(`is kept in ${place}`)
    expect(await readdir(folder)).toEqual(["postgres.location"])
    await first.leave()
    // Opened up later, the project still finds its data.
    await chmod(home, 0o755)
    const second = await cleanups.client(folder)
    expect(second.seen.visits).toBe(2)
    await second.leave()
  })
})

/** A small disk of its own; undefined where even root may mount none, as in most containers. */
const smallDisk = async (size: string): Promise<string | undefined> => {
  const folder = await cleanups.openFolder()
  const mounted = await run("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder], { cwd: "/" })
  if (mounted.code !== 0) return undefined
  cleanups.push(() => run("umount", ["-l", folder], { cwd: "/" }))
  return folder
}

describe.runIf(asRoot)("a full disk", () => {
  it("is named, with what is free on it and what to do, where a database cannot be begun", async (context) => {
    const disk = await smallDisk("30m")
    if (disk === undefined) return context.skip()
    const error = await refusal(join(disk, "data"))
    expect(error.reason).toBe("FullDisk")
    expect(error.message).toMatch(
      /^The disk that holds \S+\/data has too little room \(\d+ MB of \d+ MB free\): a database could not be begun there/,
    )
    expect(error.message).toContain("Free some space on it, or make it larger, and run the command again")
    expect(await readdir(join(disk, "data"))).toEqual([])
  })

  it("is named where the server cannot start, which it does again once there is room", async (context) => {
    const disk = await smallDisk("200m")
    if (disk === undefined) return context.skip()
    const data = join(disk, "data")
    cleanups.push(() => stopServerOf(data))
    await startAndStop(data)
    for (const block of ["1M", "1k"]) {
      await run("dd", ["if=/dev/zero", `of=${join(disk, block)}`, `bs=${block}`], { cwd: "/" })
    }
    const error = await refusal(data)
    expect(error.reason).toBe("FullDisk")
    expect(error.message).toContain(`The disk that holds ${clusterOf(data)} is full (`)
    expect(error.message).toContain("Postgres does not start")
    await rm(join(disk, "1M"))
    await startAndStop(data)
  })
})

describe("the account that the server runs as for root", () => {
  const answering =
    (
      known: ReadonlyMap<string, string>,
      useradd: () => Promise<{ code: number | null; output: string }>,
    ): typeof run =>
    async (file, [, name]) => {
      if (file !== "id") return useradd()
      const id = known.get(name ?? "")
      return id === undefined ? { code: 1, output: "no such user" } : { code: 0, output: id }
    }

  it("is tieout where there is one, and made where there is none", async () => {
    expect(await serverAccount(1000)).toBeUndefined()
    const users = new Map([["tieout", "998"]])
    const present = answering(users, () => Promise.reject(new Error("not needed")))
    expect(await serverAccount(0, present)).toEqual({
      account: { name: "tieout", uid: 998, gid: 998 },
      made: false,
    })
    const missing = new Map<string, string>()
    const making = answering(missing, async () => {
      missing.set("tieout", "997")
      return { code: 0, output: "" }
    })
    expect(await serverAccount(0, making)).toEqual({
      account: { name: "tieout", uid: 997, gid: 997 },
      made: true,
    })
  })

  it("is never the distribution's: where none can be added it ends with 2, and says what to do", async () => {
    const users = new Map([
      ["postgres", "101"],
      ["nobody", "65534"],
    ])
    const error = await serverAccount(
      0,
      answering(users, () => Promise.reject(new Error("ENOENT"))),
    ).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(EmbeddedError)
    const [failure] = failuresOf(Cause.fail(error), false)
    expect(failure).toMatchObject({ code: 2, reason: "NoAccount" })
    expect(failure?.message).toBe(
      "Postgres does not run as root, this machine has no user tieout to run it as, and none could be added (there is no " +
        "/usr/sbin/useradd). Add a system user named tieout that nobody logs in as, or run Tieout as an ordinary user, or " +
        "set DATABASE_URL to a server of your own.",
    )
  })
})
