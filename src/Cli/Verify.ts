import { Args, Command } from "@effect/cli"
import { Effect } from "effect"
import { counted, harmless } from "../Terminal/Text.ts"
import { run, type Verification } from "../Verify.ts"
import { exitCodes } from "./ExitCode.ts"
import { Output } from "./Output.ts"

const wholeLine = ({ folder, manifest, report }: Verification): string =>
  report === undefined
    ? `${folder} is whole: ${counted(manifest?.files.length ?? 0, "file")}, ${counted(manifest?.entries ?? 0, "entry", "entries")}; checksums, totals and balances agree.`
    : `${folder} is whole: the ${report.draft ? "draft of a " : ""}report of ${report.book.code} ${report.period}, ${counted(report.files.length, "file")}; checksums and totals agree.`

const linesOf = (verification: Verification): ReadonlyArray<string> => {
  const { folder, problemCount, problems } = verification
  return [
    ...problems.map(({ file, line, message }) => `${file}${line === null ? "" : `:${line}`}: ${message}`),
    ...(problemCount > problems.length ? [`… and ${problemCount - problems.length} more.`] : []),
    problemCount === 0
      ? wholeLine(verification)
      : `${folder} is not what was written: ${counted(problemCount, "problem")}. Do not use it; write it again.`,
  ]
}

export const verify = Command.make(
  "verify",
  { folder: Args.text({ name: "DIR" }) },
  Effect.fn("Cli.verify")(function* ({ folder }) {
    const output = yield* Output
    const found = yield* run(folder)
    const { ok, problemCount, problems } = found
    yield* output.report({
      document: { folder, ok, problemCount, problems },
      lines: linesOf(found).map(harmless),
      code: ok ? exitCodes.done : exitCodes.failed,
    })
  }),
)
