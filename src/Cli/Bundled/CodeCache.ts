/**
 * Caches V8's compiled code of the bundle between starts: compiling it takes longer than most commands run. The file belongs
 * to this user alone, and its name depends on the bundle and on Node's version, architecture and V8 flags. Without a cache
 * that can be trusted, the program only starts more slowly.
 */
import { createHash } from "node:crypto"
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import { cachedDataVersionTag } from "node:v8"

/** Bytes; a larger file is not our cache. */
const largest = 64 * 1024 * 1024

/** Milliseconds after which another version's cache counts as unused. */
const outdated = 30 * 24 * 60 * 60 * 1000

const digestOf = (bytes: Uint8Array): Buffer => createHash("sha256").update(bytes).digest()
const digestBytes = 32

type Variables = Readonly<Record<string, string | undefined>>

/** Whether a file belongs to the current user. Windows separates users by folder alone. */
const isOurs = (found: { readonly uid: number }): boolean =>
  process.getuid === undefined || found.uid === process.getuid()

/** Node's own `recursive` tries for ever where a folder is there in which the system makes none (`/proc`). */
const make = (folder: string): void => {
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) mkdirSync(folder, { mode: 0o700 })
}

/**
 * The cache folder, created if necessary; none where the home folder belongs to another user (`sudo` may keep `HOME`), or
 * others can write to the cache folder.
 */
const cacheFolder = (variables: Variables): string | undefined => {
  const named = process.platform === "win32" ? variables.LOCALAPPDATA : variables.XDG_CACHE_HOME
  const base = named || homedir()
  if (!isOurs(statSync(base))) return undefined
  const above = named ? base : join(base, ".cache")
  const folder = join(above, "tieout")
  if (above !== base) make(above)
  make(folder)
  const made = lstatSync(folder)
  const closed = process.platform === "win32" || (made.mode & 0o077) === 0
  return made.isDirectory() && isOurs(made) && closed ? folder : undefined
}

/** The path of the cache file; none where there is no place for one. Never fails. */
export const cacheFile = (source: Uint8Array, variables: Variables): string | undefined => {
  // The switch for Node's own compile cache.
  if (variables.NODE_DISABLE_COMPILE_CACHE) return undefined
  try {
    const folder = cacheFolder(variables)
    if (folder === undefined) return undefined
    const bundle = digestOf(source).toString("hex").slice(0, 24)
    const engine = cachedDataVersionTag().toString(16)
    return join(folder, `${bundle}-${process.version}-${process.arch}-${engine}.code`)
  } catch {
    return undefined
  }
}

/** The cached code, if it is complete and this user's. Never fails. */
export const readCache = (file: string): Buffer | undefined => {
  let opened: number | undefined
  try {
    // O_NOFOLLOW is missing on Windows, where it would be undefined.
    opened = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
    const found = fstatSync(opened)
    if (!found.isFile() || !isOurs(found) || found.nlink !== 1 || found.size > largest) return undefined
    const bytes = readFileSync(opened)
    const code = bytes.subarray(digestBytes)
    return digestOf(code).equals(bytes.subarray(0, digestBytes)) ? code : undefined
  } catch {
    return undefined
  } finally {
    if (opened !== undefined) closeSync(opened)
  }
}

const prune = (folder: string, now: number): void => {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (name.endsWith(".code") && now - lstatSync(path).mtimeMs > outdated) unlinkSync(path)
  }
}

/** Stores code for the next start, whole or not at all. Never fails. */
export const writeCache = (file: string, code: Buffer): void => {
  const partial = `${file}.${process.pid}`
  try {
    writeFileSync(partial, Buffer.concat([digestOf(code), code]), { flag: "wx", mode: 0o600 })
    renameSync(partial, file)
    prune(join(file, ".."), Date.now())
  } catch {
    try {
      unlinkSync(partial)
    } catch {
      // There is no such file, or it stays.
    }
  }
}
