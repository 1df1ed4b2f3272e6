/**
 * The batches of a book as a chain: each manifest holds the SHA-256 of the one before. The batches beside the folder are
 * followed back as far as they exist, and the next batch must name this one's manifest.
 */
import { readdir } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { Either } from "effect"
import type { Problems } from "../Common/Problems.ts"
import { readManifestFile } from "../Common/RegularFile.ts"
import { decode, isSealed, sha256Of } from "../Export/Batch/Manifest/ManifestSeal.ts"
import { type Manifest, manifestFile } from "../Export/Batch/Manifest.ts"

interface Neighbour {
  readonly manifest: Manifest
  readonly sha256: string
  readonly sealed: boolean
}

/** The manifest of a batch of the same book and database, in whichever scope's folder it is. */
const read = async (
  bookFolder: string,
  scopes: ReadonlyArray<string>,
  batch: number,
  own: Manifest,
): Promise<Neighbour | undefined> => {
  for (const scope of scopes) {
    const path = join(bookFolder, scope, String(batch), manifestFile)
    const text = await readManifestFile(path).then(
      (bytes) => bytes.toString("utf8"),
      () => undefined,
    )
    const decoded = text === undefined ? undefined : Either.getOrUndefined(decode(text))
    if (text === undefined || decoded === undefined) continue
    if (decoded.book.knownSince !== own.book.knownSince || decoded.book.code !== own.book.code) continue
    if (decoded.batch === batch) {
      return { manifest: decoded, sha256: sha256Of(text), sealed: isSealed(decoded, text) }
    }
  }
  return undefined
}

const follows = ({ lineage }: Manifest, before: Neighbour): string | undefined => {
  if (!before.sealed)
    return `the manifest of batch ${before.manifest.batch} beside it has changed since it was written`
  const stated = lineage?.previous?.manifestSha256
  return stated === before.sha256
    ? undefined
    : `does not follow the batch ${before.manifest.batch} beside it: that one's manifest is ${before.sha256}, not ${stated}`
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

/** `text` is the folder's manifest. `whole`: a missing batch of the chain is a problem. */
export const checkChain = async (
  folder: string,
  manifest: Manifest,
  text: string,
  whole: boolean,
  problems: Problems,
): Promise<void> => {
  checkOwn(manifest, problems)
  const bookFolder = dirname(dirname(resolve(folder)))
  const scopes = await readdir(bookFolder).catch(() => [])
  const next = await read(bookFolder, scopes, manifest.batch + 1, manifest)
  const wrongNext =
    next?.manifest.lineage === undefined
      ? undefined
      : follows(next.manifest, { manifest, sha256: sha256Of(text), sealed: true })
  if (wrongNext !== undefined) {
    problems.add(
      manifestFile,
      null,
      `the next batch says otherwise: batch ${manifest.batch + 1} ${wrongNext}`,
    )
  }
  let current = manifest
  while (current.lineage !== undefined && current.lineage.previous !== null) {
    if (current.lineage.previous.batch >= current.batch) return
    const before = await read(bookFolder, scopes, current.lineage.previous.batch, current)
    if (before === undefined) {
      const missing = `batch ${current.lineage.previous.batch}, which batch ${current.batch} follows, does not stand beside it`
      if (whole) problems.add(manifestFile, null, missing)
      else problems.note(`The chain of batches was not followed to its beginning: ${missing}.`)
      return
    }
    const wrong = follows(current, before)
    if (wrong !== undefined) {
      const which = current === manifest ? "" : `batch ${current.batch} `
      problems.add(manifestFile, null, `${which}${wrong}`)
      return
    }
    current = before.manifest
  }
}
