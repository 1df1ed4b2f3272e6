import { createHash } from "node:crypto"
import { chmod, chown, lstat, mkdir } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Account } from "./Command.ts"
import { EmbeddedError } from "./EmbeddedError.ts"

/** Only names the socket file: nothing listens on the network. */
export const socketPort = 5432

/** Longest path of a Unix socket in bytes: 107 on Linux, 103 on macOS and the BSDs. */
const longest = process.platform === "linux" ? 107 : 103

export const socketFile = (folder: string, port: number): string => join(folder, `.s.PGSQL.${port}`)

const fits = (folder: string): boolean => Buffer.byteLength(socketFile(folder, socketPort)) <= longest

/** A short folder for the socket of a home whose own path is too long; the same for everyone who asks. */
const shortFolder = (home: string, uid: number): string => {
  const name = `tieout-${uid}-${createHash("sha256").update(home).digest("hex").slice(0, 12)}`
  return [tmpdir(), "/tmp"].map((root) => join(root, name)).find(fits) ?? join("/tmp", name)
}

/** Where a server with this home puts its socket (Unix). */
export const socketFolder = (home: string, uid: number): string => {
  const own = join(home, "socket")
  return fits(own) ? own : shortFolder(home, uid)
}

/** Makes the socket's folder, open to the server's account only, and refuses one that somebody else put there. */
export const makeSocketFolder = async (folder: string, account: Account | undefined): Promise<void> => {
  const owner = account?.uid ?? process.getuid?.()
  try {
    await mkdir(folder, { mode: 0o700 })
    if (account !== undefined) await chown(folder, account.uid, account.gid)
    await chmod(folder, 0o700)
  } catch {
    const status = await lstat(folder).catch(() => undefined)
    if (status?.isDirectory() && status.uid === owner && (status.mode & 0o077) === 0) return
    // Another process of ours may be between making it and giving it away.
    if (status?.isDirectory() && status.uid === process.getuid?.() && account !== undefined) {
      await chown(folder, account.uid, account.gid)
      return
    }
    throw new EmbeddedError({
      reason: "Folder",
      message: `The folder ${folder} for the server's socket cannot be made or belongs to somebody else. Remove it.`,
    })
  }
}

/** A free TCP port on loopback, for platforms without Unix sockets. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(address !== null && typeof address === "object" ? address.port : 0))
    })
  })
