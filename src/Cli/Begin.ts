/**
 * The start of every command: help, the version and wrong usage are answered from the manual, which loads fast; only other
 * command lines load the program, which is large.
 */
import { productVersion } from "../Common/Package.ts"
import { wrappedText } from "../Common/Wrap.ts"
import { isJournal, withPriority } from "../Terminal/Journald.ts"
import { ArgumentMistake, type Arguments, readArguments } from "./Arguments.ts"
import { type ExitCode, exitCodes } from "./ExitCode.ts"
import { documentText, failureDocument, failureText } from "./FailureDocument.ts"
import { helpFor, overview } from "./Help.ts"
import type { Manual } from "./Manual.ts"
import { manualFile, readManualFile } from "./ManualFile.ts"
import type { launch, readManual } from "./Program.ts"

export interface Program {
  readonly launch: typeof launch
  readonly readManual: typeof readManual
}

/** An answer without loading the program. */
export interface Answer {
  readonly out: string
  readonly error: string
  readonly code: ExitCode
}

const refused = ({ message }: { readonly message: string }, args: ReadonlyArray<string>): Answer => {
  const failure = { code: exitCodes.usage, error: "UsageError", reason: null, message }
  const asJson = args.includes("--json")
  return {
    out: asJson ? documentText(failureDocument([failure])) : "",
    error: failureText(failure, asJson, new Date()),
    code: exitCodes.usage,
  }
}

const nowhere = {
  message:
    "The folder that this command was started in is no longer there.\nGo to another one, and start it again.",
}

/** Whether the working folder is still there: everything but help looks from it for the settings and the data. */
const isSomewhere = (): boolean => {
  try {
    return process.cwd() !== ""
  } catch {
    return false
  }
}

/** The answer, or the arguments for the program. */
export const answerOf = (
  args: ReadonlyArray<string>,
  variables: Readonly<Record<string, string | undefined>>,
  manual: Manual,
): Answer | Arguments => {
  const help = helpFor(args, manual)
  if (help !== undefined) return { out: `${help}\n`, error: "", code: exitCodes.done }
  if (args.includes("--version")) return { out: `${productVersion()}\n`, error: "", code: exitCodes.done }
  if (args.length === 0) return { out: "", error: `${overview(manual)}\n`, code: exitCodes.usage }
  const read = readArguments(args, variables, manual)
  return read instanceof ArgumentMistake ? refused(read, args) : read
}

/** A terminal breaks lines in the middle of a word. JSON stays as it is. */
const forScreen = (text: string, { columns, isTTY }: NodeJS.WriteStream): string =>
  isTTY === true && columns > 0 && !text.startsWith("{") ? wrappedText(text, columns) : text

const unwritable = ({ message }: Error, asJson: boolean): string =>
  failureText(
    {
      ...{ code: exitCodes.failed, error: "OutputError", reason: null },
      message: `The answer could not be written to standard output: ${message}. What the command did stays done.`,
    },
    asJson,
    new Date(),
  )

export const begin = async (
  args: ReadonlyArray<string>,
  variables: Readonly<Record<string, string | undefined>>,
  program: () => Promise<Program>,
): Promise<void> => {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // A terminal that is gone has sent SIGHUP, which ends the command in order.
    if (error.code === "EIO" && process.stdout.isTTY) return
    // `tieout … | head` closes our stdout early: the outcome stays what it is.
    if (error.code === "EPIPE") return process.exit()
    process.stderr.write(unwritable(error, args.includes("--json")))
    process.exit(exitCodes.failed)
  })
  // Where nothing can be said, the work goes on.
  process.stderr.on("error", () => undefined)
  // Without a build (running the TypeScript sources) the manual comes from the commands themselves, which takes a second.
  const manual = readManualFile(manualFile) ?? (await (await program()).readManual())
  const answered = answerOf(args, variables, manual)
  const found = "code" in answered || isSomewhere() ? answered : refused(nowhere, args)
  if (!("code" in found)) {
    // Loading the program takes a while, in which the signal would end the process, and systemd takes that for an end in order.
    if (found.command === "serve") process.on("SIGHUP", () => undefined)
    return (await program()).launch(found, manual, variables)
  }
  process.stdout.write(forScreen(found.out, process.stdout))
  const mistake = forScreen(found.error, process.stderr)
  process.stderr.write(isJournal(variables) ? withPriority("ERROR", mistake) : mistake)
  process.exitCode = found.code
}
