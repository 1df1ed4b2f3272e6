/** Checks exported folders from their files alone: no database, no network. */
import { realpathSync, statSync } from "node:fs"
import { join, resolve } from "node:path"
import { Data, Effect, Either } from "effect"
import { NotRegular, readManifestFile } from "./Common/Files/RegularFile.ts"
import { type Problem, Problems } from "./Common/Problems.ts"
import { inStage } from "./Common/Progress.ts"
import { changedLine, decode, isSealed } from "./Export/Batch/Manifest/ManifestSeal.ts"
import type { Manifest as ReportManifest } from "./Export/Batch/Manifest/ReportManifest.ts"
import { type Manifest, manifestFile } from "./Export/Batch/Manifest.ts"
import { chainMemory } from "./Verify/BatchChain.ts"
import { checkBatch, type VerifyOptions } from "./Verify/BatchProof.ts"
import { type Below, foldersBelow } from "./Verify/FolderTree.ts"
import { checkReport, isReport } from "./Verify/Report/ReportProof.ts"

/** The folder cannot be read at all, or holds no batch. `message` says what, where and what to do. */
export class VerifyError extends Data.TaggedError("VerifyError")<{
  readonly reason: "NoFolder" | "NoManifest" | "Unreadable"
  readonly message: string
}> {}

export interface Verification {
  readonly folder: string
  /** The batch is unchanged and its figures add up. */
  readonly ok: boolean
  /** At most 50; `problemCount` counts all of them. */
  readonly problems: ReadonlyArray<Problem>
  readonly problemCount: number
  /** What could not be checked, and what is worth knowing. */
  readonly notes: ReadonlyArray<string>
  readonly manifest: Manifest | undefined
  /** Set for a close package instead of a batch. */
  readonly report: ReportManifest | undefined
}

const isMissing = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && (cause.code === "ENOENT" || cause.code === "ENOTDIR")

const missing = (folder: string): VerifyError =>
  statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
    ? new VerifyError({
        reason: "NoManifest",
        message: `${join(folder, manifestFile)} is not there: name a batch's own folder, such as exports/default-ORG/2026-10/1. A batch without a manifest was never finished; export again.`,
      })
    : new VerifyError({
        reason: "NoFolder",
        message: `There is no folder ${folder}: name a batch's own, such as exports/default-ORG/2026-10/1.`,
      })

const readManifest = (folder: string): Effect.Effect<Buffer, VerifyError> =>
  Effect.tryPromise({
    try: () => readManifestFile(join(folder, manifestFile)),
    catch: (cause) =>
      isMissing(cause)
        ? missing(folder)
        : new VerifyError({
            reason: "Unreadable",
            message:
              cause instanceof NotRegular
                ? `${join(folder, manifestFile)} ${cause.message}.`
                : `${folder} cannot be read: ${String(cause)}`,
          }),
  })

const verification = (
  folder: string,
  problems: Problems,
  manifests: { readonly manifest?: Manifest | undefined; readonly report?: ReportManifest | undefined },
): Verification => ({
  folder,
  ok: problems.count === 0,
  problems: problems.found,
  problemCount: problems.count,
  notes: problems.notes,
  manifest: manifests.manifest,
  report: manifests.report,
})

const unreadable = (folder: string, cause: unknown): VerifyError =>
  new VerifyError({ reason: "Unreadable", message: `${folder} cannot be read: ${String(cause)}` })

/** Re-checks one batch's folder, or a close package's: checksums, sizes, rows, balances, journal numbers and control totals. */
export const run = Effect.fn("Verify.run")(function* (
  folder: string,
  options: VerifyOptions = { chain: false },
): Effect.fn.Return<Verification, VerifyError> {
  const bytes = yield* readManifest(folder)
  const text = bytes.toString("utf8")
  const problems = new Problems()
  const because = (cause: unknown) => unreadable(folder, cause)
  if (isReport(text)) {
    const report = yield* Effect.tryPromise({
      try: () => checkReport(folder, bytes, problems),
      catch: because,
    })
    return verification(folder, problems, { report })
  }
  const decoded = decode(text)
  if (Either.isLeft(decoded)) {
    problems.add(manifestFile, changedLine(bytes), `cannot be read: ${decoded.left.message}`)
  } else {
    if (!(isSealed(decoded.right, text) && bytes.equals(Buffer.from(text, "utf8")))) {
      problems.add(
        manifestFile,
        changedLine(bytes),
        "has changed since it was written: its digest is not that of its content",
      )
    }
    let at = ""
    const begun = (file: string): void => {
      at = file
    }
    yield* Effect.tryPromise({
      try: () => checkBatch(folder, decoded.right, text, options, problems, begun),
      catch: because,
    }).pipe(inStage("verify", () => at))
  }
  return verification(folder, problems, { manifest: Either.getOrUndefined(decoded) })
})

/** Where a path leads to; undefined: nowhere. */
const realPath = (path: string): string | undefined => {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(join(folder, "/"))

/** Each named folder, or those of batches and reports below it, each once; and the links that lead out of what is named. */
const foldersOf = Effect.fn("Verify.foldersOf")(function* (
  named: ReadonlyArray<string>,
): Effect.fn.Return<Below, VerifyError> {
  const found = new Map<string, string>()
  const links = new Map<string, string>()
  for (const folder of named) {
    const below = yield* Effect.tryPromise({
      try: () => foldersBelow(folder),
      catch: (cause) => (isMissing(cause) ? missing(folder) : unreadable(folder, cause)),
    })
    if (below.folders.length + below.links.length === 0) return yield* missing(folder)
    for (const each of below.folders) if (!found.has(resolve(each))) found.set(resolve(each), each)
    for (const each of below.links) links.set(resolve(each), each)
  }
  const roots = named.flatMap((folder) => realPath(folder) ?? [])
  const leadsOut = (link: string): boolean => {
    const target = realPath(link)
    return target === undefined || !roots.some((root) => isWithin(target, root))
  }
  return { folders: [...found.values()], links: [...links.values()].filter(leadsOut) }
})

/** A batch that somebody may have put elsewhere, and changed: whoever opens it by its place gets that one. */
const behindLink = (link: string): Verification => {
  const problems = new Problems()
  problems.add(
    manifestFile,
    null,
    `stands behind the link ${link}, which is not followed: name the folder that it leads to as well`,
  )
  return verification(link, problems, {})
}

/** While one folder's tables are read here, another's plain-text journals are on a thread of their own. */
const sideBySide = 2

/**
 * The same for several folders, and for all below those that hold no batch themselves. Fails before anything is checked where one
 * of those named is not there or has none. Of several, one that cannot be read is one that is not what was written.
 */
export const runAll = Effect.fn("Verify.runAll")(function* (
  named: ReadonlyArray<string>,
  options: VerifyOptions = { chain: false },
): Effect.fn.Return<ReadonlyArray<Verification>, VerifyError> {
  const { folders, links } = yield* foldersOf(named)
  const [only, ...others] = folders
  if (only !== undefined && others.length + links.length === 0) return [yield* run(only, options)]
  let checked = 0
  const memory = chainMemory()
  const check = (folder: string): Effect.Effect<Verification> =>
    run(folder, { ...options, memory }).pipe(
      Effect.catchTag("VerifyError", ({ message }) => {
        const problems = new Problems()
        problems.add(manifestFile, null, message)
        return Effect.succeed(verification(folder, problems, {}))
      }),
      Effect.tap(() =>
        Effect.sync(() => {
          checked += 1
        }),
      ),
    )
  const found = yield* Effect.forEach(folders, check, { concurrency: sideBySide }).pipe(
    inStage("verify", () => `${checked} of ${folders.length} folders`),
  )
  return [...found, ...links.map(behindLink)]
})
