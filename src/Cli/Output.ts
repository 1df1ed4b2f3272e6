/** The answer of a command: one JSON document or text for a person, and the exit code. */
import { Context, Effect } from "effect"
import type { TerminalService } from "../Terminal.ts"
import { type ExitCode, exitCodes, worst } from "./ExitCode.ts"
import {
  codeOf,
  documentPieces,
  documentText,
  type Failure,
  failureDocument,
  failureText,
} from "./FailureDocument.ts"

export interface Report {
  /** What `--json` prints: plain data, amounts as text. */
  readonly document: object
  /** What a person reads; of many rows as a function, since nobody reads it with `--json`. */
  readonly lines: ReadonlyArray<string> | (() => ReadonlyArray<string>)
  readonly code?: ExitCode
}

/** The exit code so far; the process reads it at the end. */
export class Outcome {
  code: ExitCode = exitCodes.done
  /** The exit code of an interrupt, which is a server's ordinary end. */
  interruptedCode: ExitCode = exitCodes.resumable
  /** With `--json`, whether the one document has been printed. */
  documented = false
}

/** `hide` removes secrets from the messages of failures. `jsonLog`: stderr has a JSON document per line. */
export const makeOutput = (
  json: boolean,
  terminal: TerminalService,
  outcome: Outcome,
  hide: (text: string) => string = (text) => text,
  jsonLog = json,
) => ({
  terminal,
  /** Whether the log is JSON lines. */
  logsJson: jsonLog,
  /** Reports the answer of a command that succeeded. Call it once. */
  report: ({ code, document, lines }: Report): Effect.Effect<void> =>
    Effect.sync(() => {
      outcome.code = worst([outcome.code, code ?? exitCodes.done])
      outcome.documented = true
      if (json) for (const piece of documentPieces(document)) terminal.writeOut(piece)
      else
        terminal.writeOut((typeof lines === "function" ? lines() : lines).map((line) => `${line}\n`).join(""))
    }),
  /** Reports failures on stderr, and with `--json` as the document, too, if there is none yet. */
  fail: (failures: ReadonlyArray<Failure>): Effect.Effect<void> =>
    Effect.sync(() => {
      outcome.code = worst([outcome.code, codeOf(failures)])
      const hidden = failures.map((failure) => ({ ...failure, message: hide(failure.message) }))
      for (const failure of hidden) terminal.writeError(failureText(failure, jsonLog, new Date()), "ERROR")
      if (json && !outcome.documented) terminal.writeOut(documentText(failureDocument(hidden)))
      outcome.documented = true
    }),
  /** For a server: makes an interrupt its ordinary end. */
  interruptIsTheEnd: Effect.sync(() => {
    outcome.interruptedCode = exitCodes.done
  }),
})

export class Output extends Context.Tag("tieout/Cli/Output")<Output, ReturnType<typeof makeOutput>>() {}
