/**
 * The installed package. Its folder holds `package.json`, `drizzle` and `config`: the nearest one above the running file, be
 * that a source or the bundle. Loads nothing else, since `--version` asks for it.
 */
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { isRecord } from "./Record.ts"

const above = (folder: string): string => {
  if (existsSync(join(folder, "drizzle", "rules.sql"))) return folder
  const parent = dirname(folder)
  if (parent === folder) throw new Error("Tieout's own files are not complete: drizzle/rules.sql is missing")
  return above(parent)
}

let found: string | undefined

/** A file or folder of the installed package, as an absolute path. */
export const packageFile = (...names: ReadonlyArray<string>): string => {
  found ??= above(dirname(fileURLToPath(import.meta.url)))
  return join(found, ...names)
}

const readVersion = (): string => {
  const parsed: unknown = JSON.parse(readFileSync(packageFile("package.json"), "utf8"))
  return isRecord(parsed) && typeof parsed.version === "string" ? parsed.version : "unknown"
}

let version: string | undefined

/** The product's version, from its package.json. */
export const productVersion = (): string => {
  version ??= readVersion()
  return version
}
