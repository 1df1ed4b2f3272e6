import { mkdtempSync } from "node:fs"
import { join } from "node:path"
import { inject } from "vitest"

/** A folder of a test's own. It is gone with the run. */
export const temporaryFolder = (): string => mkdtempSync(join(inject("testFolder"), "folder-"))
