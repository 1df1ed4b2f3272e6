/** Validates a bank statement by the schema of ISO 20022 with xmllint, where it is installed. */
import { spawnSync } from "node:child_process"
import { isInstalled } from "./Installed.ts"

const schema = new URL("./schemas/camt.053.001.08.xsd", import.meta.url).pathname

export const hasXmllint = isInstalled("xmllint", "bank statements are not checked by their schema")

/** The problems that xmllint finds in a file; empty where it is valid. */
export const validate = (file: string): string => {
  const { status, stderr } = spawnSync("xmllint", ["--noout", "--nonet", "--schema", schema, file], {
    encoding: "utf8",
  })
  return status === 0 ? "" : stderr
}
