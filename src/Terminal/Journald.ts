/**
 * systemd's journal takes the priority of a line from `<N>` at its beginning, as sd-daemon(3) describes. Without it all that a
 * service says is "info", and `journalctl -p warning` shows nothing of it.
 */
import { fstatSync } from "node:fs"

const priorities = { FATAL: 3, ERROR: 3, WARN: 4, DEBUG: 7, TRACE: 7 } as const
const info = 6

const priorityOf = (level: string): number =>
  Object.entries(priorities).find(([name]) => name === level)?.[1] ?? info

/** Whether stderr is the journal's: `JOURNAL_STREAM` names its device and inode, also to programs that write elsewhere. */
export const isJournal = (variables: Readonly<Record<string, string | undefined>>): boolean => {
  if ((variables.JOURNAL_STREAM ?? "") === "") return false
  const { dev, ino } = fstatSync(process.stderr.fd)
  return variables.JOURNAL_STREAM === `${dev}:${ino}`
}

/** Every line of the text, with the priority of a level of the log. */
export const withPriority = (level: string, text: string): string =>
  text.replace(/^(?=.)/gm, `<${priorityOf(level)}>`)
