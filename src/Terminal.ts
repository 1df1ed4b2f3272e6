/** What the two output streams can show. Results go to stdout, everything else to stderr. */
import { Context } from "effect"
import { harmlessLines } from "./Common/Text.ts"
import { isJournal, withPriority } from "./Terminal/Journald.ts"

export interface Screen {
  /** It is a terminal, which a person watches. */
  readonly interactive: boolean
  /** Columns; infinite where it is not a terminal. */
  readonly width: number
  readonly color: boolean
}

type Variables = Readonly<Record<string, string | undefined>>

/** Source of the colour rules: no-color.org; `FORCE_COLOR` is its customary opposite. */
const screenOf = (stream: NodeJS.WriteStream, variables: Variables): Screen => {
  const interactive = stream.isTTY === true && variables.TERM !== "dumb"
  const refused = (variables.NO_COLOR ?? "") !== ""
  const forced = !["", "0"].includes(variables.FORCE_COLOR ?? "")
  return {
    interactive,
    width: stream.isTTY === true ? stream.columns || 80 : Number.POSITIVE_INFINITY,
    color: !refused && (interactive || forced),
  }
}

/** The lines of a file that goes to standard output: as they are, but for a terminal, whose cursor no text of it may move. */
export const fileLines = (lines: ReadonlyArray<string>, { width }: Screen): ReadonlyArray<string> =>
  Number.isFinite(width) ? lines.map(harmlessLines) : lines

export interface TerminalService {
  readonly stdout: Screen
  readonly stderr: Screen
  readonly writeOut: (text: string) => void
  /** `level` is that of a line of the log. */
  readonly writeError: (text: string, level?: string) => void
}

export const processTerminal = (variables: Variables): TerminalService => {
  const journal = isJournal(variables)
  return {
    stdout: screenOf(process.stdout, variables),
    stderr: screenOf(process.stderr, variables),
    writeOut: (text) => {
      process.stdout.write(text)
    },
    writeError: (text, level) => {
      process.stderr.write(journal && level !== undefined ? withPriority(level, text) : text)
    },
  }
}

export class Terminal extends Context.Reference<Terminal>()("tieout/Terminal", {
  defaultValue: (): TerminalService => processTerminal(process.env),
}) {}
