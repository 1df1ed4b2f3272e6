/**
 * The progress of long work: on a terminal one line that is rewritten in place; elsewhere a plain line every few seconds,
 * so that a log shows the work going on.
 */
import { Context, Effect, type Scope } from "effect"
import { harmless, truncate } from "../Common/Text.ts"
import type { TerminalService } from "../Terminal.ts"

export interface ProgressReport {
  /** The work: `sync`, `export journal`. */
  readonly stage: string
  /** How far it is: `12,345 entries, 3 of 12 accounts`. */
  readonly text: string
}

export interface ProgressService {
  /** Cheap: may be called for every page. */
  readonly report: (report: ProgressReport) => Effect.Effect<void>
  /** Writes a line of log above the progress line. */
  readonly writeAbove: (line: string) => void
}

/** Discards reports, unless the service of `showProgress` is provided. */
export class Progress extends Context.Reference<Progress>()("tieout/Progress", {
  defaultValue: (): ProgressService => ({
    report: () => Effect.void,
    writeAbove: (line) => {
      process.stderr.write(`${line}\n`)
    },
  }),
}) {}

const redrawEveryMillis = 100
const lineEveryMillis = 5_000
const eraseLine = "\r\u001b[2K"

const elapsed = (millis: number): string => {
  const seconds = Math.floor(millis / 1_000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`
}

/** Shows reports on stderr, if `wanted`, until the scope closes; leaves no unfinished line behind. */
export const showProgress = (
  terminal: TerminalService,
  wanted: boolean,
): Effect.Effect<ProgressService, never, Scope.Scope> => {
  const { interactive, width } = terminal.stderr
  const startedAt = performance.now()
  let lastAt = interactive ? Number.NEGATIVE_INFINITY : startedAt
  let line = ""
  const erase = () => {
    if (line !== "") terminal.writeError(eraseLine)
    line = ""
  }
  const service: ProgressService = {
    report: ({ stage, text }) =>
      Effect.sync(() => {
        const now = performance.now()
        if (!wanted || now - lastAt < (interactive ? redrawEveryMillis : lineEveryMillis)) return
        lastAt = now
        const full = harmless(`${stage}: ${text} · ${elapsed(now - startedAt)}`)
        if (!interactive) return terminal.writeError(`${full}\n`)
        line = truncate(full, width - 1)
        terminal.writeError(eraseLine + line)
      }),
    writeAbove: (above) => {
      if (line === "") terminal.writeError(`${above}\n`)
      else terminal.writeError(`${eraseLine}${above}\n${line}`)
    },
  }
  return Effect.as(
    Effect.addFinalizer(() => Effect.sync(erase)),
    service,
  )
}
