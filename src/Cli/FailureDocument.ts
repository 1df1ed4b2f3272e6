/** The JSON document of a failed command. Imports no library, since the launcher reports wrong usage by itself. */
import { harmlessJson, harmlessLines } from "../Common/Text.ts"
import { jsonPieces } from "../Terminal/JsonPieces.ts"
import { type ExitCode, worst } from "./ExitCode.ts"

export interface Failure {
  readonly code: ExitCode
  /** The error's class and reason, for programs. */
  readonly error: string
  readonly reason: string | null
  /** What happened, where and what to do. The first line is the headline. */
  readonly message: string
}

/** The exit code of several failures. */
export const codeOf = (failures: ReadonlyArray<Failure>): ExitCode => worst(failures.map(({ code }) => code))

/** The failures as the document that `--json` prints. */
export const failureDocument = (failures: ReadonlyArray<Failure>): object => ({
  exitCode: codeOf(failures),
  errors: failures.map(({ error, message, reason }) => ({ error, reason, message })),
})

/**
 * The version of the documents in `docs/json.md`. It rises when a field that is described there is removed or changes its
 * meaning.
 */
const jsonSchema = 1

/** Characters that are printed at a time. */
const portion = 65_536

/** The text of any command's document, in pieces. */
export function* documentPieces(document: object): Generator<string> {
  let held = ""
  for (const piece of jsonPieces({ schema: jsonSchema, ...document })) {
    held += piece
    if (held.length < portion) continue
    yield harmlessJson(held)
    held = ""
  }
  yield `${harmlessJson(held)}\n`
}

export const documentText = (document: object): string => [...documentPieces(document)].join("")

/** A failure's output on stderr: text for a person, or a log line if the log is JSON. */
export const failureText = ({ error, message, reason }: Failure, asJson: boolean, now: Date): string =>
  asJson
    ? `${harmlessJson(JSON.stringify({ time: now.toISOString(), level: "ERROR", message, error, reason }))}\n`
    : `${harmlessLines(message)}\n`
