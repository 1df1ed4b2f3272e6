/** The folders of batches and reports at and below a folder that someone names, such as all of a book or of a whole export tree. */
import { type Dirent, existsSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { manifestFile } from "../Export/Batch/Manifest.ts"
import { batchName } from "./FolderPlace.ts"

/** An export tree is three levels deep, and whoever keeps several puts them into folders of their own. */
const levelsBelow = 6

const isBatchLeft = (name: string, entries: ReadonlyArray<Dirent>): boolean =>
  batchName.test(name) && entries.some((entry) => !entry.isDirectory())

const walk = async (folder: string, name: string, levels: number): Promise<ReadonlyArray<string>> => {
  if (existsSync(join(folder, manifestFile))) return [folder]
  const entries = await readdir(folder, { withFileTypes: true })
  if (isBatchLeft(name, entries)) return [folder]
  // Batch 10 stands after batch 9.
  const { compare } = new Intl.Collator("en", { numeric: true })
  const folders = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .toSorted(compare)
  const found: Array<string> = []
  if (levels > 0)
    for (const each of folders) found.push(...(await walk(join(folder, each), each, levels - 1)))
  return found
}

/**
 * In the order of their names; none where `folder` is not there or holds none. A folder with a batch's name that has files but no
 * manifest is among them: it was never finished, or lost its manifest. Links are not followed. Rejects where a folder cannot be read.
 */
export const foldersBelow = async (folder: string): Promise<ReadonlyArray<string>> =>
  existsSync(folder) ? walk(folder, "", levelsBelow) : []
