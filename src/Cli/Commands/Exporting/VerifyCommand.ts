import { join } from "node:path"
import { Effect } from "effect"
import { count, counted, harmless } from "../../../Common/Text.ts"
import { prove } from "../../../Proof.ts"
import { mostRows } from "../../../Terminal/Table.ts"
import { runAll, type Verification } from "../../../Verify.ts"
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

/** `within` stands before what it names: the folder, where there are several. */
const linesOf = (verification: Verification, within: string): ReadonlyArray<string> => {
  const { folder, notes, problemCount, problems } = verification
  const ofFolder = within === "" ? "" : `${within}: `
  return [
    ...problems.map(
      ({ file, line, message }) => `${join(within, file)}${line === null ? "" : `:${line}`}: ${message}`,
    ),
    ...(problemCount > problems.length ? [`${ofFolder}… and ${problemCount - problems.length} more.`] : []),
    ...notes.map((note) => `Note: ${ofFolder}${note}`),
    problemCount === 0
      ? wholeLine(verification)
      : `${folder} is not what was written: ${counted(problemCount, "problem")}. Do not use it; write it again.`,
  ]
}

const documentOf = ({ folder, notes, ok, problemCount, problems }: Verification) => ({
  ...{ folder, ok, problemCount, problems, notes },
})

const allLine = (found: ReadonlyArray<Verification>): string => {
  const changed = found.filter(({ ok }) => !ok).length
  return changed === 0
    ? `All ${count(found.length)} folders are whole.`
    : `${count(changed)} of ${count(found.length)} folders ${changed === 1 ? "is" : "are"} not what was written: see above.`
}

/** Of several: everything that is wrong or to be noted, and the first of those that are whole; `--json` has all. */
export const folderLines = (found: ReadonlyArray<Verification>): ReadonlyArray<string> => {
  const plain = found.filter(({ notes, ok }) => ok && notes.length === 0)
  const unlisted = new Set(plain.slice(mostRows))
  return [
    ...found.filter((each) => !unlisted.has(each)).flatMap((each) => linesOf(each, each.folder)),
    ...(unlisted.size === 0 ? [] : [`… and ${count(unlisted.size)} more are whole; --json lists them all.`]),
    allLine(found),
  ]
}

const verifyFolders = Effect.fn("Cli.verify.folders")(function* (
  named: ReadonlyArray<string>,
  chain: boolean,
) {
  const output = yield* Output
  const found = yield* runAll(named, { chain })
  const [first] = found
  const ok = found.every((each) => each.ok)
  const code = ok ? exitCodes.done : exitCodes.failed
  if (found.length === 1 && first !== undefined)
    return yield* output.report({
      document: documentOf(first),
      lines: linesOf(first, "").map(harmless),
      code,
    })
  yield* output.report({
    document: {
      ok,
      problemCount: found.reduce((sum, each) => sum + each.problemCount, 0),
      folders: found.map(documentOf),
    },
    lines: folderLines(found).map(harmless),
    code,
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
    usage: "(DIR… [--chain] | --database)",
    summary:
      "Check folders of exports and reports from their files alone; or prove the whole database again.",
    about: [
      "DIR: checksums, row counts, control totals and balanced entries, against manifest.json; the statement's running balances;",
      "and every format converted back to the manifest's totals and the journal beside it. The folders' names must be those of",
      "the batch, its scope and its book; links and anything but regular files are refused. Where the batches before and after",
      "it stand beside it, their manifests are checked as a chain. Of a report: its files, and that their figures add up. A folder of",
      "batches or reports, such as a book's or all of exports, stands for every one below it; links in it are not followed, and one",
      "that stands where a batch, a scope or a report would is a problem, unless what it leads to is named as well.",
      "Needs no database. --database: every journal entry, date, balance, running balance, journal number, close, batch with its",
      "bytes, and the base-currency journal, from the rows themselves; what was read against the service's own words; that what",
      "the checks find is an open finding; and that every rule of the database is in place. Each of these rows that is wrong is named.",
      "Changes nothing.",
    ],
    takes: {
      folders: argument.repeated("DIR"),
      chain: flag(
        "chain",
        "A batch that is missing from the chain beside the folder is a problem, and no note",
      ),
      database: flag("database", "Prove the database of the settings instead of a folder"),
    },
    examples: [
      ["tieout verify exports/default-ORG/2026-10/1", "after copying it somewhere"],
      ["tieout verify exports reports", "everything that stands there"],
      ["tieout verify --database", "after restoring it, or once a month"],
    ],
    exits: { failed: "failed, or something is not what was written" },
  },
  Effect.fn("Cli.verify")(function* ({ chain, database: wanted, folders }) {
    const usage = (detail: string) =>
      new UsageError({ detail, advice: "Name a batch's folder, or say --database: tieout help verify." })
    if (wanted) {
      if (folders.length > 0 || chain) return yield* usage("--database goes with no folder and no --chain")
      return yield* verifyDatabase()
    }
    if (folders.length === 0) return yield* usage("There is nothing to verify")
    return yield* verifyFolders(folders, chain)
  }),
)
