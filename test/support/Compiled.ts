import { join } from "node:path"
import { inject } from "vitest"
import type { Manual } from "../../src/Cli/Manual.ts"
import { readManualFile } from "../../src/Cli/ManualFile.ts"

/** The compiled file with which a process starts, such as `bin/tieout.js`. All tests share it: do not change it. */
export const compiled = (source: string): string => join(inject("testCompiled"), source)

/** The variables that every process of a test has: the path of programs, and a place for the code cache. */
export const commonVariables = (): Record<string, string | undefined> => ({
  PATH: process.env.PATH,
  XDG_CACHE_HOME: compiled("cache"),
  XDG_DATA_HOME: compiled("share"),
})

/** The manual as the bundle of this run has it. */
export const builtManual = (): Manual => readManualFile(compiled("dist/manual.json")) ?? []
