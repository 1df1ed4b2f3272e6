/** Checks an exported folder from its files alone: no database, no network. */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { Data, Effect, Either } from "effect"
import { isTable } from "./Export/Formats.ts"
import { decode, isSealed, type Manifest, manifestFile } from "./Export/Manifest.ts"
import { nativeMovements } from "./Export/NativeMovements.ts"
import { checkArithmetic, expectedAccounts } from "./Verify/Accounts.ts"
import { checkFiles } from "./Verify/Files.ts"
import { checkJournal } from "./Verify/Journal.ts"
import { checkNativeMovements } from "./Verify/NativeMovements.ts"
import { checkPlainText, syntaxOf } from "./Verify/PlainText.ts"
import { type Problem, Problems } from "./Verify/Problems.ts"
import { checkTrialBalance } from "./Verify/TrialBalance.ts"

/** The folder cannot be read at all, or holds no batch. `message` says what, where and what to do. */
export class VerifyError extends Data.TaggedError("VerifyError")<{
  readonly reason: "NoManifest" | "Unreadable"
  readonly message: string
}> {}

export interface Verification {
  readonly folder: string
  /** The batch is what was written, and adds up. */
  readonly ok: boolean
  /** At most 50; `problemCount` counts all of them. */
  readonly problems: ReadonlyArray<Problem>
  readonly problemCount: number
  readonly manifest: Manifest | undefined
}

const checkBatch = async (folder: string, manifest: Manifest, problems: Problems): Promise<void> => {
  const there = await checkFiles(folder, manifest, problems)
  const accounts = expectedAccounts(manifest)
  checkArithmetic(manifest, accounts, problems)
  for (const file of manifest.files.filter(({ name }) => there.has(name))) {
    const syntax = syntaxOf(file.format)
    if (syntax !== undefined) await checkPlainText(folder, file, syntax, accounts, problems)
    else if (file.format === "journal") await checkJournal(folder, file, manifest, accounts, problems)
    else if (file.format === "trial-balance") await checkTrialBalance(folder, file, accounts, problems)
    else if (file.format === nativeMovements.name)
      await checkNativeMovements(folder, file, manifest, problems)
    // An accounting system's file is proved by its checksum alone: the manifest was made from the lines that it holds.
    else if (!isTable(file.format))
      problems.add(file.name, null, `has the format "${file.format}", which this version does not know`)
  }
}

const isMissing = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && (cause.code === "ENOENT" || cause.code === "ENOTDIR")

const readManifest = (folder: string): Effect.Effect<string, VerifyError> =>
  Effect.tryPromise({
    try: () => readFile(join(folder, manifestFile), "utf8"),
    catch: (cause) =>
      isMissing(cause)
        ? new VerifyError({
            reason: "NoManifest",
            message: `${join(folder, manifestFile)} is not there: name a batch's own folder, such as exports/default-org/2026-10/1. A batch without a manifest was never finished; export again.`,
          })
        : new VerifyError({ reason: "Unreadable", message: `${folder} cannot be read: ${String(cause)}` }),
  })

/** Re-checks one batch's folder: checksums, sizes, rows, balances, journal numbers and control totals. */
export const run = Effect.fn("Verify.run")(function* (
  folder: string,
): Effect.fn.Return<Verification, VerifyError> {
  const text = yield* readManifest(folder)
  const problems = new Problems()
  const decoded = decode(text)
  if (Either.isLeft(decoded)) {
    problems.add(manifestFile, null, `cannot be read: ${decoded.left.message}`)
  } else {
    if (!isSealed(decoded.right, text)) {
      problems.add(
        manifestFile,
        null,
        "has changed since it was written: its digest is not that of its content",
      )
    }
    yield* Effect.tryPromise({
      try: () => checkBatch(folder, decoded.right, problems),
      catch: (cause) =>
        new VerifyError({ reason: "Unreadable", message: `${folder} cannot be read: ${String(cause)}` }),
    })
  }
  return {
    folder,
    ok: problems.count === 0,
    problems: problems.found,
    problemCount: problems.count,
    manifest: Either.getOrUndefined(decoded),
  }
})
