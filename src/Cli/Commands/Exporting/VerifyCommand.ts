import { Effect, Option } from "effect"
import { counted, harmless } from "../../../Common/Text.ts"
import { prove } from "../../../Proof.ts"
import { run, type Verification } from "../../../Verify.ts"
import { booksToRead } from "../../BookEnvironment.ts"
import { argument, command, flag } from "../../Declaration.ts"
import { exitCodes } from "../../ExitCode.ts"
import { UsageError } from "../../Failure.ts"
import { Output } from "../../Output.ts"
import { contentText } from "../../Tables/BatchContent.ts"
import { proofLines } from "../../Tables/ProofLines.ts"

const wholeLine = ({ folder, manifest, report }: Verification): string =>
  report === undefined
    ? `${folder} is whole: ${counted(manifest?.files.length ?? 0, "file")}${manifest === undefined ? "" : `, ${contentText(manifest)}`}; checksums, totals and balances agree.`
    : `${folder} is whole: the ${report.draft ? "draft of a " : ""}report of ${report.book.code} ${report.period}, ${counted(report.files.length, "file")}; checksums and totals agree.`

const linesOf = (verification: Verification): ReadonlyArray<string> => {
  const { folder, notes, problemCount, problems } = verification
  return [
    ...problems.map(({ file, line, message }) => `${file}${line === null ? "" : `:${line}`}: ${message}`),
    ...(problemCount > problems.length ? [`… and ${problemCount - problems.length} more.`] : []),
    ...notes.map((note) => `Note: ${note}`),
    problemCount === 0
      ? wholeLine(verification)
      : `${folder} is not what was written: ${counted(problemCount, "problem")}. Do not use it; write it again.`,
  ]
}

const verifyFolder = Effect.fn("Cli.verify.folder")(function* (folder: string, chain: boolean) {
  const output = yield* Output
  const found = yield* run(folder, { chain })
  const { notes, ok, problemCount, problems } = found
  yield* output.report({
    document: { folder, ok, problemCount, problems, notes },
    lines: linesOf(found).map(harmless),
    code: ok ? exitCodes.done : exitCodes.failed,
  })
})

const verifyDatabase = Effect.fn("Cli.verify.database")(function* () {
  const output = yield* Output
  const proof = yield* prove()
  yield* output.report({
    document: proof,
    lines: proofLines(proof).map(harmless),
    code: proof.ok ? exitCodes.done : exitCodes.failed,
  })
}, Effect.provide(booksToRead))

export const verify = command(
  {
    name: "verify",
    usage: "(DIR [--chain] | --database)",
    summary:
      "Check an export folder, or a report's, from its files alone; or prove the whole database again.",
    about: [
      "DIR: checksums, row counts, control totals and balanced entries, against manifest.json; the statement's running balances;",
      "and every format converted back to the manifest's totals and the journal beside it. The folders' names must be those of",
      "the batch, its scope and its book; links and anything but regular files are refused. Where the batches before and after",
      "it stand beside it, their manifests are checked as a chain. Of a report: its files, and that its totals add up.",
      "Needs no database. --database: every journal entry, date, balance, running balance, journal number, close, batch with its",
      "bytes, and the base-currency journal, from the rows themselves; what was read against the service's own words; that what",
      "the checks find is an open finding; and that every rule of the database is in place. Every row that is wrong is named.",
      "Changes nothing.",
    ],
    takes: {
      folder: argument.optional("DIR"),
      chain: flag(
        "chain",
        "A batch that is missing from the chain beside the folder is a problem, and no note",
      ),
      database: flag("database", "Prove the database of the settings instead of a folder"),
    },
    examples: [
      ["tieout verify exports/default-ORG/2026-10/1", "after copying it somewhere"],
      ["tieout verify --database", "after restoring it, or once a month"],
    ],
    exits: { failed: "failed, or something is not what was written" },
  },
  Effect.fn("Cli.verify")(function* ({ chain, database: wanted, folder }) {
    const usage = (detail: string) =>
      new UsageError({ detail, advice: "Name a batch's folder, or say --database: tieout help verify." })
    if (wanted) {
      if (Option.isSome(folder) || chain) return yield* usage("--database goes with no folder and no --chain")
      return yield* verifyDatabase()
    }
    if (Option.isNone(folder)) return yield* usage("There is nothing to verify")
    return yield* verifyFolder(folder.value, chain)
  }),
)
