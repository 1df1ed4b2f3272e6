/** Folders of a test file's own, removed when it is done. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"

const made: Array<string> = []

afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true })
})

export const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "tieout-export-"))
  made.push(folder)
  return folder
}
