/** The folders of batches and reports at and below a folder that someone names, such as all of a book or of a whole export tree. */
import { type Dirent, existsSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { manifestFile } from "../Export/Batch/Manifest.ts"
import { batchName } from "./FolderPlace.ts"

/** The folder of a close package, also of one as of a time. */
const reportName = /^\d{4}-\d{2}(?:@.*)?$/

/** By its name and its files a batch or a report, though it has no manifest. A scope's folder has the name of a month, and folders in it. */
const isLeft = (name: string, entries: ReadonlyArray<Dirent>): boolean =>
  entries.some((entry) => !entry.isDirectory()) &&
  (batchName.test(name) || (reportName.test(name) && !entries.some((entry) => entry.isDirectory())))

const walk = async (folder: string, name: string): Promise<ReadonlyArray<string>> => {
  if (existsSync(join(folder, manifestFile))) return [folder]
  const entries = await readdir(folder, { withFileTypes: true })
  if (isLeft(name, entries)) return [folder]
  // Batch 10 stands after batch 9.
  const { compare } = new Intl.Collator("en", { numeric: true })
  const folders = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .toSorted(compare)
  const found: Array<string> = []
  for (const each of folders) found.push(...(await walk(join(folder, each), each)))
  return found
}

/**
 * In the order of their names; none where `folder` is not there or holds none. A folder with the name of a batch or a report that has files but no
 * manifest is among them: it was never finished, or lost its manifest. Links are not followed. Rejects where a folder cannot be read.
 */
export const foldersBelow = async (folder: string): Promise<ReadonlyArray<string>> =>
  existsSync(folder) ? walk(folder, "") : []
