import { createHash } from "node:crypto"
import { chmod, lstat, readFile, stat, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { makeFolder } from "../../Common/Folders.ts"
import type { Account } from "./Command.ts"
import { codeOf, EmbeddedError } from "./EmbeddedError.ts"
import { canEnter } from "./ServerAccount.ts"

/** Folders for root's data that every account can enter and that outlive a reboot. */
const sharedRoots: ReadonlyArray<string> = ["/var/lib/tieout", "/var/tmp/tieout"]

/** Where the embedded server of one data folder lives. */
export interface Place {
  /** The folder that was asked for, absolute. */
  readonly dataDir: string
  /** The server's own folder: cluster, password, log and socket. */
  readonly home: string
  /** Whether `home` is somewhere else than below `dataDir`, and if so, whether that was decided just now. */
  readonly moved: "no" | "before" | "now"
}

/** Names the folder that took the data when the server's account cannot enter the data folder. */
const pointerName = "postgres.location"

export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

export const notWritable = (folder: string, error: unknown): EmbeddedError =>
  new EmbeddedError({
    reason: "Folder",
    message:
      `The folder ${folder} cannot be made or written (${codeOf(error) ?? "unknown error"}). ` +
      "Make it writable, or set TIEOUT_DATA_DIR to a folder that is.",
  })

/** Makes a folder, turning a refusal into an error that names it. */
export const dataFolder = async (folder: string): Promise<void> => {
  try {
    await makeFolder(folder)
  } catch (error) {
    throw notWritable(folder, error)
  }
}

/** The first shared root that is ours alone and that the account can enter. */
export const sharedRoot = async (
  account: Account,
  roots: ReadonlyArray<string> = sharedRoots,
): Promise<string> => {
  for (const root of roots) {
    try {
      await makeFolder(root)
      const status = await lstat(root)
      // A folder that somebody else made or may write to could hold planted files.
      if (!status.isDirectory() || status.uid !== process.getuid?.()) continue
      await chmod(root, 0o755)
      if (await canEnter(root, account)) return root
    } catch {
      // Not here: the next one may do.
    }
  }
  throw new EmbeddedError({
    reason: "Folder",
    message:
      `None of the folders ${roots.join(", ")} can be used by the account ${account.name}. ` +
      "Run Tieout as an ordinary user, or set TIEOUT_DATA_DIR to a folder that this account can enter.",
  })
}

const pointedTo = async (pointer: string): Promise<string | undefined> =>
  readFile(pointer, "utf8").then(
    (text) => text.split("\n", 1)[0]?.trim() || undefined,
    () => undefined,
  )

/**
 * Decides where the data are. The first decision is final: data below `dataDir`, or where its `postgres.location` says,
 * are used whatever the permissions have become, so that books never seem to be gone.
 */
export const findPlace = async (
  dataDir: string,
  account: Account | undefined,
  roots: ReadonlyArray<string> = sharedRoots,
): Promise<Place> => {
  const folder = resolve(dataDir)
  await dataFolder(folder)
  const inside = { dataDir: folder, home: join(folder, "postgres"), moved: "no" } as const
  if (account === undefined) return inside
  if (await exists(inside.home)) {
    if (await canEnter(inside.home, account)) return inside
    throw new EmbeddedError({
      reason: "Folder",
      message:
        `The data in ${inside.home} cannot be entered by the account ${account.name}, which runs Postgres for root. ` +
        `Let others pass through the folders above it (chmod o+x), or set TIEOUT_DATA_DIR to where the data should be.`,
    })
  }
  const pointer = join(folder, pointerName)
  const pointed = await pointedTo(pointer)
  if (pointed !== undefined) return { dataDir: folder, home: pointed, moved: "before" }
  if (await canEnter(folder, account)) return inside
  const root = await sharedRoot(account, roots)
  const home = join(root, createHash("sha256").update(folder).digest("hex").slice(0, 16))
  await writeFile(
    pointer,
    `${home}\n\nThe account ${account.name}, which runs Postgres for root, cannot enter this folder.\n` +
      "The data are in the folder named in the first line. Keep this file: without it they are not found.\n",
  )
  return { dataDir: folder, home, moved: "now" }
}
