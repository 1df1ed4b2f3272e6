import { statSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { dirname } from "node:path"

const isFolder = (path: string): boolean => {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

/** Whether this call created the folder; another process may have been first. */
const makeOne = async (path: string, mode: number): Promise<boolean> => {
  try {
    await mkdir(path, { mode })
    return true
  } catch (cause) {
    if (isFolder(path)) return false
    throw cause
  }
}

const isAbsence = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && cause.code === "ENOENT"

/**
 * Creates a folder and its parents, for their owner alone; returns the outermost one that it created. Node's recursive mkdir reports success on a
 * read-only file system, and never ends below a folder that exists but in which creating anything fails with ENOENT, as in
 * /proc.
 */
export const makeFolder = async (path: string, mode = 0o700): Promise<string | undefined> => {
  try {
    return (await makeOne(path, mode)) ? path : undefined
  } catch (cause) {
    if (!isAbsence(cause) || dirname(path) === path) throw cause
    const first = await makeFolder(dirname(path), mode)
    const made = await makeOne(path, mode)
    return made ? (first ?? path) : first
  }
}
