import { createHash } from "node:crypto"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { codeOf } from "../../Common/ErrorCode.ts"
import type { Account } from "./Command.ts"
import { EmbeddedError } from "./EmbeddedError.ts"
import { makeOwnFolder, serversOwn } from "./OwnFiles.ts"
import { sharedRoot } from "./Place.ts"

/** Only names the socket file: nothing listens on the network. */
export const socketPort = 5432

/** Longest path of a Unix socket in bytes: 107 on Linux, 103 on macOS and the BSDs. */
const longest = process.platform === "linux" ? 107 : 103

export const socketFile = (folder: string, port: number): string => join(folder, `.s.PGSQL.${port}`)

/** Where a server's socket is, unless that path is too long for one. */
export const ownSocketFolder = (home: string): string => join(home, "socket")

const fits = (folder: string): boolean => Buffer.byteLength(socketFile(folder, socketPort)) <= longest

/**
 * Where a server with this home puts its socket (Unix). A home whose own path is too long gets a short folder, the same for
 * everyone who asks; for root in a folder that is root's alone.
 */
const socketFolder = async (home: string, account: Account | undefined): Promise<string> => {
  const own = ownSocketFolder(home)
  if (fits(own)) return own
  const hash = createHash("sha256").update(home).digest("hex").slice(0, 12)
  if (account !== undefined) return join(await sharedRoot(account), `socket-${hash}`)
  const name = `tieout-${process.getuid?.() ?? 0}-${hash}`
  return [tmpdir(), "/tmp"].map((root) => join(root, name)).find(fits) ?? join("/tmp", name)
}

/** Makes the socket's folder, open to the server's account only, and refuses one that somebody else put there. */
export const makeSocketFolder = async (home: string, account: Account | undefined): Promise<string> => {
  const folder = await socketFolder(home, account)
  try {
    await makeOwnFolder(folder, serversOwn(account))
    return folder
  } catch (error) {
    if (error instanceof EmbeddedError) throw error
    const code = codeOf(error) ?? "unknown error"
    const advice = ["EACCES", "EPERM", "EROFS"].includes(code)
      ? `Let ${account?.name ?? "this account"} write in ${dirname(folder)}`
      : "Remove it"
    throw new EmbeddedError({
      reason: "Folder",
      message: `The folder ${folder} for the server's socket cannot be made (${code}). ${advice}.`,
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
