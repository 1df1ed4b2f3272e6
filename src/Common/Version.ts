/** The product's version, from its package.json (two folders up, both from `src` and from `dist`). */
import { readFileSync } from "node:fs"

export const productVersion = (): string => {
  const parsed: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
  const found: unknown =
    typeof parsed === "object" && parsed !== null ? Reflect.get(parsed, "version") : undefined
  if (typeof found !== "string") throw new Error("package.json names no version")
  return found
}
