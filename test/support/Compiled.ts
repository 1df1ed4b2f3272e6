import { join } from "node:path"
import { inject } from "vitest"

/** A compiled source to start a process with, such as `src/main.js`. It is every test's: leave it as it is. */
export const compiled = (source: string): string => join(inject("testCompiled"), source)
