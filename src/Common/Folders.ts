import { mkdir, stat } from "node:fs/promises"
import { dirname } from "node:path"

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

/** Whether it was made; somebody else may have made it first. */
const makeOne = async (path: string): Promise<boolean> => {
  try {
    await mkdir(path)
    return true
  } catch (cause) {
    if (await isFolder(path)) return false
    throw cause
  }
}

const isAbsence = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && cause.code === "ENOENT"

/**
 * Makes a folder and those above it; returns the outermost that was made. The recursive mkdir of Node does not tell a
 * read-only file system (it says that all is well), and never ends where a folder is there and nothing can be made in it
 * because it "does not exist", as in /proc.
 */
export const makeFolder = async (path: string): Promise<string | undefined> => {
  try {
    return (await makeOne(path)) ? path : undefined
  } catch (cause) {
    if (!isAbsence(cause) || dirname(path) === path) throw cause
    const first = await makeFolder(dirname(path))
    const made = await makeOne(path)
    return made ? (first ?? path) : first
  }
}
