/** Where the processes of a test run note the statements that they run: the folder that `STATEMENTS` names, or else nowhere. */
export const statementFolder = (): string | undefined => process.env.STATEMENTS

/** For a process that is started, so that it notes them, too. */
export const statementVariables = (): Readonly<Record<string, string>> => {
  const folder = statementFolder()
  return folder === undefined ? {} : { STATEMENTS_FOLDER: folder }
}
