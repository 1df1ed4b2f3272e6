import { join } from "node:path"
import { inject } from "vitest"
import type { Manual } from "../../src/Cli/Manual.ts"
import { readManualFile } from "../../src/Cli/ManualFile.ts"

/** What a process is started with, such as `bin/tieout.js`. It is every test's: leave it as it is. */
export const compiled = (source: string): string => join(inject("testCompiled"), source)

/** The variables that a process of a test has besides its own: where programs lie, and a place for the code cache. */
export const commonVariables = (): Record<string, string | undefined> => ({
  PATH: process.env.PATH,
  XDG_CACHE_HOME: compiled("cache"),
  XDG_DATA_HOME: compiled("share"),
})

/** The manual as the bundle of this run has it. */
export const builtManual = (): Manual => readManualFile(compiled("dist/manual.json")) ?? []
