/** The product's version, from its package.json. Loads nothing else: `--version` asks for it. */
import { readFileSync } from "node:fs"
import { packageFile } from "./PackageFolder.ts"
import { isRecord } from "./Record.ts"

export const productVersion = (): string => {
  const parsed: unknown = JSON.parse(readFileSync(packageFile("package.json"), "utf8"))
  return isRecord(parsed) && typeof parsed.version === "string" ? parsed.version : "unknown"
}
