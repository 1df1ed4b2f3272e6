/**
 * The exit codes, which a scheduler acts on. A command reports its own (`Output.report`); `Failure.ts` maps errors to codes,
 * and `src/Cli.ts` ends the process with the worst. Source: `docs/design.md`, "Command line".
 */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  /** Done, but something is in quarantine, or a blocking finding is open that no close has accepted for good. */
  attention: 3,
  /** Another command has what this one needs: mostly a sync of the connection. */
  busy: 4,
  /** Stopped early, also by an outage; a sync goes on where it stopped, most others begin anew. */
  resumable: 75,
} as const

export type ExitName = keyof typeof exitCodes
export type ExitCode = (typeof exitCodes)[ExitName]

const names: ReadonlyArray<ExitName> = ["done", "failed", "usage", "attention", "busy", "resumable"]

/** The meanings for help and documents, of any command. */
export const exitCodeTexts: Readonly<Record<ExitName, string>> = {
  done: "done",
  failed: "failed; the message says what to do",
  usage: "usage or settings, or not possible as asked",
  attention: "done, with quarantine or blocking findings",
  busy: "another sync, export or report has it",
  resumable: "stopped early, or an outage; run it again",
}

/** Rows of a table of exit codes; `texts` replaces some meanings. */
export const exitCodeRows = (
  texts: Partial<Record<ExitName, string>> = {},
  wanted: ReadonlyArray<ExitName> = names,
): ReadonlyArray<readonly [code: string, what: string]> =>
  names
    .filter((name) => wanted.includes(name) || texts[name] !== undefined)
    .map((name) => [String(exitCodes[name]), texts[name] ?? exitCodeTexts[name]])

/** From the least to the worst: of several codes the last one here counts. */
const order: ReadonlyArray<ExitCode> = [0, 3, 4, 75, 1, 2]

/** The worst of several codes. */
export const worst = (codes: Iterable<ExitCode>): ExitCode => {
  let found: ExitCode = 0
  for (const code of codes) if (order.indexOf(code) > order.indexOf(found)) found = code
  return found
}
