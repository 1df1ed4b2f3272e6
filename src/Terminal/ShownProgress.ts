/**
 * Shows the progress of long work: on a terminal one line that is rewritten in place; elsewhere a plain line every few seconds,
 * so that a log shows the work going on.
 */
import { Effect, type Scope } from "effect"
import type { ProgressService, Stage } from "../Common/Progress.ts"
import { harmless, truncate } from "../Common/Text.ts"
import type { TerminalService } from "../Terminal.ts"

export interface ShownProgress extends ProgressService {
  /** Writes a line of log above the progress line. */
  readonly writeAbove: (line: string, level?: string) => void
}

interface Begun extends Stage {
  readonly at: number
}

const redrawEveryMillis = 200
const lineEveryMillis = 5_000
const eraseLine = "\r\u001b[2K"

const elapsed = (millis: number): string => {
  const seconds = Math.floor(millis / 1_000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`
}

const stageText = ({ name, text }: Stage): string => {
  const how = text()
  return how === "" ? name : `${name}: ${how}`
}

/** Shows stages on stderr, if `wanted`, until the scope closes; leaves no unfinished line behind. */
export const showProgress = (
  terminal: TerminalService,
  wanted: boolean,
): Effect.Effect<ShownProgress, never, Scope.Scope> => {
  const { interactive, width } = terminal.stderr
  const stages = new Set<Begun>()
  let timer: NodeJS.Timeout | undefined
  let shownAt = 0
  let line = ""
  const erase = () => {
    if (line !== "") terminal.writeError(eraseLine)
    line = ""
  }
  /** The outermost stage, and the one that began last within it. */
  const draw = () => {
    const [outermost, ...within] = stages
    if (outermost === undefined) return
    const now = performance.now()
    const last = within.at(-1)
    const parts = [outermost, ...(last === undefined ? [] : [last])].map(stageText)
    const full = harmless(`${parts.join(" · ")} · ${elapsed(now - outermost.at)}`)
    if (!interactive) {
      if (now - shownAt < lineEveryMillis) return
      shownAt = now
      return terminal.writeError(`${full}\n`)
    }
    line = truncate(full, width - 1)
    terminal.writeError(eraseLine + line)
  }
  const begin: ProgressService["begin"] = (stage) => {
    const begun = { ...stage, at: performance.now() }
    if (!wanted) return () => {}
    stages.add(begun)
    if (timer === undefined) {
      shownAt = begun.at
      timer = setInterval(draw, redrawEveryMillis).unref()
    }
    return () => {
      stages.delete(begun)
      if (stages.size > 0) return
      clearInterval(timer)
      timer = undefined
      erase()
    }
  }
  const writeAbove = (above: string, level?: string): void => {
    if (line === "") terminal.writeError(`${above}\n`, level)
    else terminal.writeError(`${eraseLine}${above}\n${line}`)
  }
  const end = Effect.sync(() => {
    clearInterval(timer)
    erase()
  })
  return Effect.as(
    Effect.addFinalizer(() => end),
    { begin, writeAbove },
  )
}
