/** File operations whose failures say what to do about them. */

import { Effect } from "effect"
import { codeOf } from "../../Common/ErrorCode.ts"
import { NotRegular } from "../../Common/Files/RegularFile.ts"
import { type ExportError, exportError } from "../ExportError.ts"

const advice: { readonly [code: string]: string } = {
  EACCES: "may not be written by this user: change its rights or choose another folder with --out",
  EPERM: "may not be written by this user: change its rights or choose another folder with --out",
  EROFS: "is on a read-only file system: choose another folder with --out",
  ENOSPC: "is on a full disk: free some space and run it again",
  EDQUOT: "is over the disk quota: free some space and run it again",
  ENOENT: "cannot be made: choose another folder with --out",
  ENOTDIR: "cannot be made, because a file stands in its way: choose another folder with --out",
  EEXIST: "cannot be made, because a file stands in its way: choose another folder with --out",
  EMFILE: "cannot be opened, too many files are open: raise the limit (ulimit -n) and export again",
}

/** What a failed file operation means; no partial file is left. */
const folderError = (path: string, cause: unknown): ExportError => {
  if (cause instanceof NotRegular) {
    return exportError("Folder", `${path} ${cause.message}. Nothing of it was kept.`)
  }
  const code = codeOf(cause) ?? "unknown error"
  return exportError(
    "Folder",
    `${path} ${advice[code] ?? "cannot be written"} [${code}]. Nothing of it was kept.`,
  )
}

export const attempt = <A>(path: string, work: () => Promise<A>): Effect.Effect<A, ExportError> =>
  Effect.tryPromise({ try: work, catch: (cause) => folderError(path, cause) })

/** What is done at once, without a thread. */
export const attemptNow = <A>(path: string, work: () => A): Effect.Effect<A, ExportError> =>
  Effect.try({ try: work, catch: (cause) => folderError(path, cause) })

export const quietly = (work: () => Promise<unknown>): Effect.Effect<void> =>
  Effect.promise(() =>
    work().then(
      () => undefined,
      () => undefined,
    ),
  )

/** A file operation that must end before anything else happens to its folder, so an interruption waits for it. */
export const steady = <A>(path: string, work: () => Promise<A>): Effect.Effect<A, ExportError> =>
  Effect.uninterruptible(attempt(path, work))
