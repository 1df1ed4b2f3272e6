/**
 * `layer` of @effect/vitest puts its own methods on the one `it` that all files of a process share, and with them its
 * clock and its services. Before each file they are put back.
 */
import { join } from "node:path"
import { effect, flakyTest, it, layer, live, prop, scoped, scopedLive } from "@effect/vitest"
import { inject } from "vitest"
import { noteStatements } from "./statementNames.ts"

Object.assign(it, { effect, flakyTest, layer, live, prop, scoped, scopedLive })

if (process.env.STATEMENTS !== undefined) noteStatements(join(inject("testFolder"), "statements"))
