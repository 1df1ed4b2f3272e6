/** How the content of each of a batch's files is proved, by its format, and what is compared once all have been read. */
import { join } from "node:path"
import type { Problems } from "../Common/Problems.ts"
import type { FileRecord, Manifest } from "../Export/Batch/Manifest.ts"
import { accompanyingFiles } from "../Format/AccompanyingFiles.ts"
import { bankStatementsOf, formatOf, tablesOf } from "../Format/Formats.ts"
import type { PlainReading } from "../Format/Reading/Plain.ts"
import { checkAccountFile } from "./AccountFilesProof.ts"
import type { ExpectedAccount } from "./AccountsProof.ts"
import { bankSide, checkBankStatements } from "./BankStatementProof.ts"
import { checkColumns } from "./ColumnsProof.ts"
import { Comparison } from "./JournalComparison.ts"
import { checkJournal } from "./JournalProof.ts"
import { checkNativeMovements } from "./NativeMovementsProof.ts"
import { checkPlainText, plainTextOf } from "./PlainText/PlainTextProof.ts"
import { RatedProof } from "./RatedProof.ts"
import { checkStatement, statementSide } from "./StatementProof.ts"
import { TableProof, tableProof } from "./TablesProof.ts"
import { checkTrialBalance } from "./TrialBalanceProof.ts"

/** Proves one file's content while it is read. */
type Proof = (chunks: AsyncIterable<Buffer>) => Promise<void>

const tableProofs = (
  folder: string,
  manifest: Manifest,
  accounts: ReadonlyArray<ExpectedAccount>,
  problems: Problems,
) =>
  new Map(
    tablesOf(manifest.formats).flatMap((format) => {
      const proof = tableProof(folder, format, manifest, accounts, problems)
      return proof === undefined ? [] : [[format.name, proof] as const]
    }),
  )

/** By file name. */
const statementSides = (folder: string, manifest: Manifest) =>
  new Map(
    manifest.files
      .filter(({ format }) => format === accompanyingFiles.statement.name)
      .map(({ name }) => [name, statementSide(folder, name, manifest)] as const),
  )

/** By format. */
const bankStatements = (folder: string, manifest: Manifest) =>
  new Map(
    bankStatementsOf(manifest.formats).map(
      ({ name, reader }) => [name, { reader, side: bankSide(folder, name, reader, manifest) }] as const,
    ),
  )

export class ContentProofs {
  private readonly folder: string
  private readonly manifest: Manifest
  private readonly accounts: ReadonlyArray<ExpectedAccount>
  private readonly tables: ReturnType<typeof tableProofs>
  private readonly statements: ReturnType<typeof statementSides>
  private readonly banks: ReturnType<typeof bankStatements>
  /** By journal file. */
  private readonly comparisons = new Map<string, Comparison>()

  constructor(
    folder: string,
    manifest: Manifest,
    accounts: ReadonlyArray<ExpectedAccount>,
    problems: Problems,
  ) {
    this.folder = folder
    this.manifest = manifest
    this.accounts = accounts
    this.tables = tableProofs(folder, manifest, accounts, problems)
    this.statements = statementSides(folder, manifest)
    this.banks = bankStatements(folder, manifest)
  }

  /** Undefined: only the file's checksum is verified. */
  proofOf(file: FileRecord, problems: Problems): Proof | undefined {
    const format = formatOf(file.format)
    if (format?.kind === "plain") return this.plainProof(format.reading, file, problems)
    const { accounts, manifest } = this
    const bank = this.banks.get(file.format)
    if (bank !== undefined) {
      return (chunks) => checkBankStatements(chunks, file, manifest, bank.reader, problems, bank.side)
    }
    const table = this.tables.get(file.format)
    if (table !== undefined) return (chunks) => table.read(chunks, file, problems)
    const statement = this.statements.get(file.name)
    if (statement !== undefined) {
      return (chunks) => checkStatement(chunks, file, manifest, accounts, problems, statement)
    }
    return this.accompanyingProof(file, format !== undefined, problems)
  }

  /** Once all files have been read; `read` are those that could be. */
  async finish(read: ReadonlySet<string>, problems: Problems): Promise<void> {
    for (const table of this.tables.values()) table.finish(problems)
    const compared = new Set([
      ...this.tables.keys(),
      ...this.banks.keys(),
      ...[...this.statements.keys()].filter((name) => read.has(name)),
    ])
    for (const [journal, comparison] of this.comparisons) {
      await comparison.finish(this.folder, journal, this.manifest, this.accounts, compared, problems)
    }
  }

  private plainProof(reading: PlainReading, file: FileRecord, problems: Problems): Proof {
    const { accounts, manifest } = this
    switch (reading.kind) {
      case "transactions":
        return (chunks) => checkPlainText(chunks, file, plainTextOf(reading.syntax, accounts), problems)
      case "columns":
        return (chunks) =>
          checkColumns(join(this.folder, file.name), chunks, file, reading, manifest, accounts, problems)
      case "balances":
        return (chunks) => checkTrialBalance(chunks, file, accounts, problems)
      case "postings":
        return this.journalProof(file, problems)
    }
  }

  private journalProof(file: FileRecord, problems: Problems): Proof {
    const sides = [
      ...this.statements.values(),
      ...[...this.tables.values(), ...this.banks.values()].map(({ side }) => side),
    ]
    return (chunks) => {
      const comparison = new Comparison(sides)
      this.comparisons.set(file.name, comparison)
      return checkJournal(chunks, file, this.manifest, this.accounts, problems, (row) => comparison.add(row))
    }
  }

  private accompanyingProof(file: FileRecord, isKnown: boolean, problems: Problems): Proof | undefined {
    const { accounts, manifest } = this
    /** The proof of the table whose format's name is part of the file's name. */
    const ownerBy = (pattern: string) =>
      [...this.tables.values()].find(({ side }) => pattern.replace("{format}", side.name) === file.name)
    switch (file.format) {
      case accompanyingFiles.nativeMovements.name: {
        const rated = [...this.tables.values()].filter((proof) => proof instanceof RatedProof)
        return (chunks) =>
          checkNativeMovements(chunks, file, manifest, problems, (row) => {
            for (const proof of rated) proof.addNative(row)
          })
      }
      case accompanyingFiles.rateDifferences.name: {
        const owner = ownerBy(accompanyingFiles.rateDifferences.file)
        return owner instanceof RatedProof
          ? (chunks) => owner.readDifferences(chunks, file, problems)
          : undefined
      }
      case accompanyingFiles.summaryEntries.name: {
        const owner = ownerBy(accompanyingFiles.summaryEntries.file)
        return owner instanceof TableProof ? (chunks) => owner.readEntries(chunks, file, problems) : undefined
      }
      case accompanyingFiles.chartOfAccounts.name:
      case accompanyingFiles.periodBalances.name:
        return (chunks) => checkAccountFile(chunks, file, manifest, accounts, problems)
      // Neither what was recorded since an as-of export nor what cancels is part of the export.
      case accompanyingFiles.difference.name:
      case accompanyingFiles.cancelledEntries.name:
        return undefined
      default:
        if (!isKnown) {
          problems.add(file.name, null, `has the format "${file.format}", which this version does not know`)
        }
        return undefined
    }
  }
}
