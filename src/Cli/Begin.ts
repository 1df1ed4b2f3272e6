/**
 * How every start begins: help, the version and a command line that is wrong by itself are answered from what is small; only
 * then is the program loaded, which is not.
 */
import { productVersion } from "../Common/Version.ts"
import { ArgumentMistake, readArguments } from "./Arguments.ts"
import { exitCodes } from "./ExitCode.ts"
import { documentText, failureDocument } from "./FailureDocument.ts"
import { helpFor, overview } from "./Help.ts"
import { manualFile, readManualFile } from "./ManualFile.ts"
import type { launch, readManual } from "./Program.ts"

export interface Program {
  readonly launch: typeof launch
  readonly readManual: typeof readManual
}

const refuse = ({ message }: ArgumentMistake, args: ReadonlyArray<string>): void => {
  const failure = { code: exitCodes.usage, error: "UsageError", reason: null, message }
  process.stderr.write(`${message}\n`)
  if (args.includes("--json")) process.stdout.write(documentText(failureDocument([failure])))
  process.exitCode = exitCodes.usage
}

export const begin = async (
  args: ReadonlyArray<string>,
  variables: Readonly<Record<string, string | undefined>>,
  program: () => Promise<Program>,
): Promise<void> => {
  // `tieout … | head` closes our stdout early; that is no failure of ours.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    process.exit(error.code === "EPIPE" ? 0 : 1)
  })
  // Where nothing has been built (TypeScript is run as it stands) the commands themselves are read, which takes a second.
  const manual = readManualFile(manualFile) ?? (await (await program()).readManual())
  const help = helpFor(args, manual)
  if (help !== undefined) {
    process.stdout.write(`${help}\n`)
  } else if (args.includes("--version")) {
    process.stdout.write(`${productVersion()}\n`)
  } else if (args.length === 0) {
    process.stderr.write(`${overview(manual)}\n`)
    process.exitCode = exitCodes.usage
  } else {
    const read = readArguments(args, variables, manual)
    if (read instanceof ArgumentMistake) refuse(read, args)
    else (await program()).launch(read, manual, variables)
  }
}
