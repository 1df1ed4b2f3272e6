/** Checks an exported folder from its files alone: no database, no network. */
import { statSync } from "node:fs"
import { join } from "node:path"
import { Data, Effect, Either } from "effect"
import { type Problem, Problems } from "./Common/Problems.ts"
import { inStage } from "./Common/Progress.ts"
import { largestManifest, NotRegular, readRegular } from "./Common/RegularFile.ts"
import { type FileRecord, type Manifest, manifestFile } from "./Export/Batch/Manifest.ts"
import { changedLine, decode, isSealed } from "./Export/Batch/ManifestSeal.ts"
import type { Manifest as ReportManifest } from "./Export/Batch/ReportManifest.ts"
import { checkFiles } from "./Export/Batch/WrittenFiles.ts"
import { accompanyingFiles } from "./Format/AccompanyingFiles.ts"
import { bankStatementsOf, formatOf, tablesOf } from "./Format/Formats.ts"
import type { Reading } from "./Format/Reading/Plain.ts"
import { checkAccountFile } from "./Verify/AccountFilesProof.ts"
import { checkArithmetic, expectedAccounts } from "./Verify/AccountsProof.ts"
import { bankSide, checkBankStatements } from "./Verify/BankStatementProof.ts"
import { checkChain } from "./Verify/Chain.ts"
import { checkColumns } from "./Verify/ColumnsProof.ts"
import { checkPlace } from "./Verify/FolderPlace.ts"
import { Comparison } from "./Verify/JournalComparison.ts"
import { checkJournal } from "./Verify/JournalProof.ts"
import { checkNativeMovements } from "./Verify/NativeMovementsProof.ts"
import { checkPlainText, plainTextOf } from "./Verify/PlainTextProof.ts"
import { plainTextsOf, startThreads } from "./Verify/PlainTextThreads.ts"
import { RatedProof } from "./Verify/RatedProof.ts"
import { checkReport, isReport } from "./Verify/ReportProof.ts"
import { checkStatement, statementSide } from "./Verify/StatementProof.ts"
import { TableProof, tableProof } from "./Verify/TablesProof.ts"
import { checkTrialBalance } from "./Verify/TrialBalanceProof.ts"

/** The folder cannot be read at all, or holds no batch. `message` says what, where and what to do. */
export class VerifyError extends Data.TaggedError("VerifyError")<{
  readonly reason: "NoFolder" | "NoManifest" | "Unreadable"
  readonly message: string
}> {}

export interface VerifyOptions {
  /** A batch of the chain that is missing beside the folder is a problem, not just a note. */
  readonly chain: boolean
}

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

/** Proves one file's content while it is read. */
type Proof = (chunks: AsyncIterable<Buffer>, file: FileRecord, inside: Problems) => Promise<void>

const checkBatch = async (
  folder: string,
  manifest: Manifest,
  text: string,
  { chain }: VerifyOptions,
  problems: Problems,
  begun: (file: string) => void,
): Promise<void> => {
  checkPlace(folder, manifest, problems)
  await checkChain(folder, manifest, text, chain, problems)
  const accounts = expectedAccounts(manifest)
  checkArithmetic(manifest, accounts, problems)
  // Reported after problems with the files themselves.
  const inside = new Problems()
  const tables = new Map(
    tablesOf(manifest.formats).flatMap((format) => {
      const proof = tableProof(folder, format, manifest, accounts, inside)
      return proof === undefined ? [] : [[format.name, proof] as const]
    }),
  )
  const rated = [...tables.values()].filter((proof) => proof instanceof RatedProof)
  const statements = new Map(
    manifest.files
      .filter(({ format }) => format === accompanyingFiles.statement.name)
      .map(({ name }) => [name, statementSide(folder, name, manifest)] as const),
  )
  const banks = new Map(
    bankStatementsOf(manifest.formats).map(
      ({ name, reader }) => [name, { reader, side: bankSide(folder, name, reader, manifest) }] as const,
    ),
  )
  const sides = [...statements.values(), ...[...tables.values(), ...banks.values()].map(({ side }) => side)]
  const comparisons = new Map<string, Comparison>()

  const journalProof: Proof = (chunks, file, inside) => {
    const comparison = new Comparison(sides)
    comparisons.set(file.name, comparison)
    return checkJournal(chunks, file, manifest, accounts, inside, (row) => comparison.add(row))
  }
  const plainProof =
    (reading: Reading): Proof =>
    (chunks, file, inside) => {
      if (reading.kind === "transactions") {
        return checkPlainText(chunks, file, plainTextOf(reading.syntax, accounts), inside)
      }
      if (reading.kind === "columns") {
        return checkColumns(join(folder, file.name), chunks, file, reading, manifest, accounts, inside)
      }
      if (reading.kind === "balances") return checkTrialBalance(chunks, file, accounts, inside)
      return journalProof(chunks, file, inside)
    }
  const proofOf = ({ format: name, name: file }: FileRecord, inside: Problems): Proof | undefined => {
    const format = formatOf(name)
    const table = tables.get(name)
    const statement = statements.get(file)
    if (format?.kind === "plain") return plainProof(format.reading)
    const bank = banks.get(name)
    if (bank !== undefined) {
      return (chunks, record, inside) =>
        checkBankStatements(chunks, record, manifest, bank.reader, inside, bank.side)
    }
    if (table !== undefined) return (chunks, record, inside) => table.read(chunks, record, inside)
    if (statement !== undefined) {
      return (chunks, record, inside) => checkStatement(chunks, record, manifest, accounts, inside, statement)
    }
    if (name === accompanyingFiles.nativeMovements.name) {
      return (chunks, record, inside) =>
        checkNativeMovements(chunks, record, manifest, inside, (row) => {
          for (const proof of rated) proof.addNative(row)
        })
    }
    if (name === accompanyingFiles.rateDifferences.name) {
      const own = rated.find(
        (proof) => accompanyingFiles.rateDifferences.file.replace("{format}", proof.side.name) === file,
      )
      return own === undefined
        ? undefined
        : (chunks, record, inside) => own.readDifferences(chunks, record, inside)
    }
    if (name === accompanyingFiles.chartOfAccounts.name || name === accompanyingFiles.periodBalances.name) {
      return (chunks, record, inside) => checkAccountFile(chunks, record, manifest, accounts, inside)
    }
    if (name === accompanyingFiles.summaryEntries.name) {
      const own = [...tables.values()].find(
        (proof) => accompanyingFiles.summaryEntries.file.replace("{format}", proof.side.name) === file,
      )
      return own instanceof TableProof
        ? (chunks, record, inside) => own.readEntries(chunks, record, inside)
        : undefined
    }
    // The difference since an as-of export is not part of the export, nor is what cancels: only their checksums are verified.
    const { cancelledEntries, difference } = accompanyingFiles
    if (format === undefined && name !== difference.name && name !== cancelledEntries.name) {
      inside.add(file, null, `has the format "${name}", which this version does not know`)
    }
    return undefined
  }
  const records = new Map(manifest.files.map((file) => [file.name, file]))
  const contents = new Map<string, Problems>()
  const threads = startThreads(plainTextsOf(folder, manifest, accounts))
  const read = await checkFiles(folder, manifest, problems, {
    contentOf: (name) => {
      begun(name)
      const record = records.get(name)
      const content = new Problems()
      const proof = record === undefined ? undefined : proofOf(record, content)
      contents.set(name, content)
      return record === undefined || proof === undefined
        ? undefined
        : (chunks) => proof(chunks, record, content)
    },
    elsewhere: (name) =>
      threads.verdictOf(name)?.then((verdict) => {
        if (verdict !== undefined) contents.set(name, new Problems().absorb(verdict.content))
        return verdict
      }),
  }).finally(threads.end)
  for (const { name } of manifest.files) {
    const content = contents.get(name)
    if (content !== undefined) inside.absorb(content)
  }
  for (const table of tables.values()) table.finish(inside)
  const compared = new Set([
    ...tables.keys(),
    ...banks.keys(),
    ...[...statements.keys()].filter((name) => read.has(name)),
  ])
  for (const [journal, comparison] of comparisons) {
    await comparison.finish(folder, journal, manifest, accounts, compared, inside)
  }
  problems.absorb(inside)
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
    try: () => readRegular(join(folder, manifestFile), largestManifest),
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

/** Re-checks one batch's folder, or a close package's: checksums, sizes, rows, balances, journal numbers and control totals. */
export const run = Effect.fn("Verify.run")(function* (
  folder: string,
  options: VerifyOptions = { chain: false },
): Effect.fn.Return<Verification, VerifyError> {
  const bytes = yield* readManifest(folder)
  const text = bytes.toString("utf8")
  const problems = new Problems()
  const unreadable = (cause: unknown) =>
    new VerifyError({ reason: "Unreadable", message: `${folder} cannot be read: ${String(cause)}` })
  if (isReport(text)) {
    const report = yield* Effect.tryPromise({
      try: () => checkReport(folder, text, problems),
      catch: unreadable,
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
      catch: unreadable,
    }).pipe(inStage("verify", () => at))
  }
  return verification(folder, problems, { manifest: Either.getOrUndefined(decoded) })
})
