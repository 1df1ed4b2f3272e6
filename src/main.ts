/** Where the program begins. Help, version and wrong names are answered before anything else is loaded. */
import { ArgumentMistake, readArguments } from "./Cli/Arguments.ts"
import { exitCodes } from "./Cli/ExitCode.ts"
import { documentText, failureDocument } from "./Cli/FailureDocument.ts"
import { helpFor, overview } from "./Cli/Help.ts"
import { loadManual } from "./Cli/ManualFile.ts"
import { productVersion } from "./Common/Version.ts"

const args = process.argv.slice(2)

// `tieout … | head` closes our stdout early; that is no failure of ours.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? 0 : 1)
})

const refuse = ({ message }: ArgumentMistake): void => {
  const failure = { code: exitCodes.usage, error: "UsageError", reason: null, message }
  process.stderr.write(`${message}\n`)
  if (args.includes("--json")) process.stdout.write(documentText(failureDocument([failure])))
  process.exitCode = exitCodes.usage
}

const manual = await loadManual()
const help = helpFor(args, manual)
if (help !== undefined) {
  process.stdout.write(`${help}\n`)
} else if (args.includes("--version")) {
  process.stdout.write(`${productVersion()}\n`)
} else if (args.length === 0) {
  process.stderr.write(`${overview(manual)}\n`)
  process.exitCode = exitCodes.usage
} else {
  const read = readArguments(args, process.env, manual)
  if (read instanceof ArgumentMistake) refuse(read)
  else {
    const { launch } = await import("./Cli.ts")
    launch(read, manual, process.env)
  }
}
