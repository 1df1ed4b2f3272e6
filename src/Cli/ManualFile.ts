/** The manual's file beside the bundle, from which help and wrong usage are answered at once. */
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Manual } from "./Manual.ts"

/** Beside the running bundle; a source has none. */
export const manualFile = fileURLToPath(new URL("manual.json", import.meta.url))

/** Our own build wrote it: a check of its shape is enough. */
const isManual = (value: unknown): value is Manual =>
  Array.isArray(value) &&
  value.every((one) => typeof one === "object" && one !== null && "subcommands" in one)

/** The manual of that file, where there is one. */
export const readManualFile = (file: string): Manual | undefined => {
  const found: unknown = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined
  return isManual(found) ? found : undefined
}
