/** Whether a bank statement is what the schema of ISO 20022 allows, by xmllint where it is installed. */
import { spawnSync } from "node:child_process"

const schema = new URL("./schemas/camt.053.001.08.xsd", import.meta.url).pathname

export const hasXmllint = spawnSync("xmllint", ["--version"]).error === undefined
if (!hasXmllint)
  console.warn("xmllint is not installed: bank statements are not checked by their schema here")

/** What xmllint says against a file; nothing where it is valid. */
export const validate = (file: string): string => {
  const { status, stderr } = spawnSync("xmllint", ["--noout", "--nonet", "--schema", schema, file], {
    encoding: "utf8",
  })
  return status === 0 ? "" : stderr
}
