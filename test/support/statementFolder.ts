/** Where the processes of a test run note the statements that they run; nowhere unless the run is asked to (`STATEMENTS=1`). */
import { join } from "node:path"
import { inject } from "vitest"

export const statementFolder = (): string | undefined =>
  process.env.STATEMENTS === undefined ? undefined : join(inject("testFolder"), "statements")

/** For a process that is started, so that it notes them, too. */
export const statementVariables = (): Readonly<Record<string, string>> => {
  const folder = statementFolder()
  return folder === undefined ? {} : { STATEMENTS_FOLDER: folder }
}
