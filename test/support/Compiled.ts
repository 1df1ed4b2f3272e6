import { join } from "node:path"
import { inject } from "vitest"
import type { Manual } from "../../src/Cli/Manual.ts"
import { readManualFile } from "../../src/Cli/ManualFile.ts"

/** A compiled source to start a process with, such as `src/main.js`. It is every test's: leave it as it is. */
export const compiled = (source: string): string => join(inject("testCompiled"), source)

/** The manual as the build of this run wrote it down. */
export const builtManual = (): Manual => readManualFile(compiled("src/manual.json")) ?? []
