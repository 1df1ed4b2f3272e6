import { Args, Command } from "@effect/cli"
import { Effect } from "effect"
import { counted, harmless } from "../Terminal/Text.ts"
import { run, type Verification } from "../Verify.ts"
import { exitCodes } from "./ExitCode.ts"
import { Output } from "./Output.ts"

const linesOf = ({ folder, manifest, problemCount, problems }: Verification): ReadonlyArray<string> => [
  ...problems.map(({ file, line, message }) => `${file}${line === null ? "" : `:${line}`}: ${message}`),
  ...(problemCount > problems.length ? [`… and ${problemCount - problems.length} more.`] : []),
  problemCount === 0
    ? `${folder} is whole: ${counted(manifest?.files.length ?? 0, "file")}, ${counted(manifest?.entries ?? 0, "entry", "entries")}; checksums, totals and balances agree.`
    : `${folder} is not what was exported: ${counted(problemCount, "problem")}. Do not import it; export again.`,
]

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
