/**
 * The batches of a book as a chain: each manifest holds the SHA-256 of the one before. The batches beside the folder are
 * followed back and forth as far as they exist; what is missing between them is said.
 */
import { readdir } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { Either } from "effect"
import { readManifestFile } from "../Common/Files/RegularFile.ts"
import type { Problems } from "../Common/Problems.ts"
import { decode, isSealed, sha256Of } from "../Export/Batch/Manifest/ManifestSeal.ts"
import { type Manifest, manifestFile } from "../Export/Batch/Manifest.ts"
import { batchName } from "./FolderPlace.ts"

/** What the chain needs of a manifest. */
interface Link extends Pick<Manifest, "batch" | "book"> {
  readonly lineage: Manifest["lineage"] | undefined
  readonly sha256: string
  readonly sealed: boolean
}

/** Says that a batch is missing on one side of the chain: `batch`, which `next` follows. */
type Missed = (side: "beginning" | "end", batch: number, next: number) => void

/** The batches that stand beside a folder, whichever scope's folder each is in: their numbers, and the folders that bear them. */
type Standing = ReadonlyMap<number, ReadonlyArray<string>>

/**
 * What one run has read of the folders that it checks: each batch's chain is the whole book's, and without this a book of a
 * thousand batches would have a million manifests read.
 */
export interface ChainMemory {
  readonly standing: Map<string, Promise<Standing>>
  readonly links: Map<string, Promise<Link | undefined>>
}

export const chainMemory = (): ChainMemory => ({ standing: new Map(), links: new Map() })

const once = <A>(
  known: Map<string, Promise<A>>,
  key: string,
  make: (key: string) => Promise<A>,
): Promise<A> => {
  const found = known.get(key) ?? make(key)
  known.set(key, found)
  return found
}

/** The folders in a folder. What is behind a link does not stand there: nobody checks it. */
const foldersIn = async (folder: string): Promise<ReadonlyArray<string>> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

const standingIn = async (bookFolder: string): Promise<Standing> => {
  const standing = new Map<number, Array<string>>()
  for (const scope of await foldersIn(bookFolder)) {
    const scopeFolder = join(bookFolder, scope)
    for (const name of await foldersIn(scopeFolder)) {
      if (!batchName.test(name)) continue
      standing.set(Number(name), [...(standing.get(Number(name)) ?? []), join(scopeFolder, name)])
    }
  }
  return standing
}

const linkOf = async (folder: string): Promise<Link | undefined> => {
  const bytes = await readManifestFile(join(folder, manifestFile)).catch(() => undefined)
  const text = bytes?.toString("utf8")
  const decoded = text === undefined ? undefined : Either.getOrUndefined(decode(text))
  if (bytes === undefined || text === undefined || decoded === undefined) return undefined
  const { batch, book, lineage } = decoded
  const sealed = isSealed(decoded, text) && bytes.equals(Buffer.from(text, "utf8"))
  return { batch, book, lineage, sha256: sha256Of(text), sealed }
}

/** The batches beside a folder. */
interface Beside {
  readonly standing: Standing
  readonly links: ChainMemory["links"]
}

/** The manifest of a batch of the same book and database. */
const read = async ({ links, standing }: Beside, batch: number, own: Link): Promise<Link | undefined> => {
  for (const folder of standing.get(batch) ?? []) {
    const link = await once(links, folder, linkOf)
    if (link === undefined) continue
    if (link.book.knownSince !== own.book.knownSince || link.book.code !== own.book.code) continue
    if (link.batch === batch) return link
  }
  return undefined
}

const follows = ({ lineage }: Link, before: Link): string | undefined => {
  if (!before.sealed)
    return `the manifest of batch ${before.batch} beside it has changed since it was written`
  const stated = lineage?.previous?.manifestSha256
  return stated === before.sha256
    ? undefined
    : `does not follow the batch ${before.batch} beside it: that one's manifest is ${before.sha256}, not ${stated}`
}

/** Checks the chain's figures in this manifest alone. */
const checkOwn = ({ batch, formatVersion, lineage }: Manifest, problems: Problems): void => {
  if (lineage === undefined) {
    if (formatVersion > 1) problems.add(manifestFile, null, "does not say which batch came before it")
    return
  }
  const { delta, follows: followed, previous, supersedes } = lineage
  if ((previous?.batch ?? 0) !== batch - 1) {
    problems.add(manifestFile, null, `batch ${batch} follows batch ${previous?.batch ?? "none"}`)
  }
  if (delta !== followed.length > 0 || [...followed, ...supersedes].some((other) => other >= batch)) {
    problems.add(manifestFile, null, "the batches that it follows or supersedes make no sense")
  }
}

/** The batches after it: each follows the one before, as far as they stand there. */
const checkAfter = async (beside: Beside, own: Link, missed: Missed, problems: Problems) => {
  let current = own
  for (const number of [...beside.standing.keys()].sort((a, b) => a - b)) {
    if (number <= own.batch) continue
    const after = await read(beside, number, own)
    if (after === undefined) continue
    if (number !== current.batch + 1) return missed("end", number - 1, number)
    const wrong = after.lineage === undefined ? undefined : follows(after, current)
    if (wrong !== undefined) {
      const whose = current === own ? "the next batch differs: " : ""
      problems.add(manifestFile, null, `${whose}batch ${number} ${wrong}`)
      return
    }
    current = after
  }
}

/** The batches before it. */
const checkBefore = async (beside: Beside, own: Link, missed: Missed, problems: Problems) => {
  let current = own
  while (current.lineage !== undefined && current.lineage.previous !== null) {
    const { batch } = current.lineage.previous
    if (batch >= current.batch) return
    const before = await read(beside, batch, current)
    if (before === undefined) return missed("beginning", batch, current.batch)
    const wrong = follows(current, before)
    if (wrong !== undefined) {
      const which = current === own ? "" : `batch ${current.batch} `
      problems.add(manifestFile, null, `${which}${wrong}`)
      return
    }
    current = before
  }
}

/** A batch's number is given once. Two that differ were written before and after a restore, or one of them was not written by Tieout. */
const checkOther = async (folder: string, { links, standing }: Beside, own: Link, problems: Problems) => {
  for (const other of standing.get(own.batch) ?? []) {
    if (other === folder) continue
    const link = await once(links, other, linkOf)
    if (link === undefined || link.batch !== own.batch || link.sha256 === own.sha256) continue
    if (link.book.knownSince !== own.book.knownSince || link.book.code !== own.book.code) continue
    problems.add(
      manifestFile,
      null,
      `another batch ${own.batch} of the book stands in ${other}: only one of the two is the book's`,
    )
  }
}

/** `text` is the folder's manifest. `whole`: a missing batch of the chain is a problem. */
export const checkChain = async (
  folder: string,
  manifest: Manifest,
  text: string,
  { memory, whole }: { readonly memory: ChainMemory; readonly whole: boolean },
  problems: Problems,
): Promise<void> => {
  checkOwn(manifest, problems)
  const standing = await once(memory.standing, dirname(dirname(resolve(folder))), standingIn)
  const missed: Missed = (side, batch, next) => {
    const missing = `batch ${batch}, which batch ${next} follows, does not stand beside it`
    if (whole) problems.add(manifestFile, null, missing)
    else problems.note(`The chain of batches was not followed to its ${side}: ${missing}.`)
  }
  const { batch, book, lineage } = manifest
  const own: Link = { batch, book, lineage, sha256: sha256Of(text), sealed: true }
  const beside = { standing, links: memory.links }
  await checkOther(resolve(folder), beside, own, problems)
  await checkAfter(beside, own, missed, problems)
  await checkBefore(beside, own, missed, problems)
}
