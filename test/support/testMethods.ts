/**
 * `layer` of @effect/vitest puts its own methods on the one `it` that all files of a process share, and with them its
 * clock and its services. Before each file they are put back.
 */
import { effect, flakyTest, it, layer, live, prop, scoped, scopedLive } from "@effect/vitest"
import { statementFolder } from "./statementFolder.ts"
import { noteStatements } from "./statementNotes.ts"

Object.assign(it, { effect, flakyTest, layer, live, prop, scoped, scopedLive })

const folder = statementFolder()
if (folder !== undefined) noteStatements(folder)
