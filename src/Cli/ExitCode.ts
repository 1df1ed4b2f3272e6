/** What the process ends with; a scheduler acts on it. Source: `docs/design.md`, "Command line". */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  /** Done, but something is in quarantine or a blocking finding is open. */
  attention: 3,
  /** Another sync of that connection runs. */
  busy: 4,
  /** Stopped early; the same command goes on where it stopped. */
  resumable: 75,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

const order: ReadonlyArray<ExitCode> = [0, 3, 4, 75, 1, 2]

/** The code of a run that had several outcomes: 1 beats 75 beats 3. */
export const worst = (codes: Iterable<ExitCode>): ExitCode => {
  let found: ExitCode = 0
  for (const code of codes) if (order.indexOf(code) > order.indexOf(found)) found = code
  return found
}
