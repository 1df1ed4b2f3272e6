/** The folders of batches and reports at and below a folder that someone names, such as all of a book or of a whole export tree. */
import { type Dirent, existsSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { isMissing } from "../Common/Files/RegularFile.ts"
import { manifestFile } from "../Export/Batch/Manifest.ts"
import { batchName, reportName, scopeName } from "./FolderPlace.ts"

/** A link where a folder of batches or reports would stand. */
const isLinkedPlace = (entry: Dirent): boolean =>
  entry.isSymbolicLink() &&
  (batchName.test(entry.name) || scopeName.test(entry.name) || reportName.test(entry.name))

/** By its name and its files a batch or a report, though it has no manifest. A scope's folder has the name of a month, and folders in it. */
const isLeft = (name: string, entries: ReadonlyArray<Dirent>): boolean =>
  entries.some((entry) => !(entry.isDirectory() || isLinkedPlace(entry))) &&
  (batchName.test(name) || (reportName.test(name) && !entries.some((entry) => entry.isDirectory())))

export interface Below {
  /** In the order of their names. */
  readonly folders: ReadonlyArray<string>
  /** Links with the name of a batch, a scope or a report: nothing behind them was looked at. */
  readonly links: ReadonlyArray<string>
}

const walk = async (folder: string, name: string): Promise<Below> => {
  if (existsSync(join(folder, manifestFile))) return { folders: [folder], links: [] }
  const entries = await readdir(folder, { withFileTypes: true })
  const links = entries.filter(isLinkedPlace).map((entry) => join(folder, entry.name))
  if (isLeft(name, entries)) return { folders: [folder], links }
  // Batch 10 stands after batch 9.
  const { compare } = new Intl.Collator("en", { numeric: true })
  const names = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .toSorted(compare)
  const folders: Array<string> = []
  for (const each of names) {
    const path = join(folder, each)
    // One that cannot be read is said when it is its turn, and keeps no other from being checked.
    const below = await walk(path, each).catch(
      (cause): Below => ({ folders: isMissing(cause) ? [] : [path], links: [] }),
    )
    folders.push(...below.folders)
    links.push(...below.links)
  }
  return { folders, links }
}

/**
 * None where `folder` is not there or holds none. A folder with the name of a batch or a report that has files but no manifest is
 * among them: it was never finished, or lost its manifest. Links are not followed, but said; so is a folder that cannot be read. Rejects where `folder` itself cannot be.
 */
export const foldersBelow = async (folder: string): Promise<Below> =>
  existsSync(folder) ? walk(folder, "") : { folders: [], links: [] }
