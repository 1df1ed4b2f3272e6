/** Notes which statements a process runs, for `statementNames.ts`. */
import { appendFileSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { statements } from "../../src/Database/RunStatement.ts"

const listening = new Set<string>()

/** Notes the names from here on, in a file of this process. */
export const noteStatements = (folder: string): void => {
  if (listening.has(folder)) return
  listening.add(folder)
  mkdirSync(folder, { recursive: true })
  const known = new Set<unknown>()
  statements.subscribe((name) => {
    if (known.has(name)) return
    known.add(name)
    appendFileSync(join(folder, String(process.pid)), `${String(name)}\n`)
  })
}
