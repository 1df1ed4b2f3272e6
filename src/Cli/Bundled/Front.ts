/** Where the bundle begins: `bin/tieout.js` calls it. The program itself lies in a file of its own, `program.cjs`. */
import { readFileSync } from "node:fs"
import Module, { createRequire } from "node:module"
import { dirname } from "node:path"
import { constants, Script } from "node:vm"
import { begin } from "../Begin.ts"
import type { launch } from "../Launch.ts"
import { cacheFile, readCache, writeCache } from "./CodeCache.ts"

interface Program {
  readonly launch: typeof launch
}

const isProgram = (value: unknown): value is Program =>
  typeof value === "object" && value !== null && "launch" in value && typeof value.launch === "function"

/** Loads a bundled module of CommonJS as `require` does, from compiled code where that is kept. */
const load = (path: string, variables: Readonly<Record<string, string | undefined>>): unknown => {
  const source = readFileSync(path)
  const file = cacheFile(source, variables)
  const cachedData = file === undefined ? undefined : readCache(file)
  const script = new Script(Module.wrap(source.toString("latin1")), {
    filename: path,
    ...(cachedData === undefined ? {} : { cachedData }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  if (file !== undefined && (cachedData === undefined || script.cachedDataRejected === true)) {
    // At the end, when what this command needed has been compiled as well.
    process.once("exit", () => writeCache(file, script.createCachedData()))
  }
  const wrapped: unknown = script.runInThisContext()
  const module = { exports: {} }
  // As `Module.wrap` has written it: exports, require, module, __filename, __dirname.
  if (typeof wrapped === "function") {
    Reflect.apply(wrapped, module.exports, [module.exports, createRequire(path), module, path, dirname(path)])
  }
  return module.exports
}

/** Runs the command of this process with the program in the file `program`, an absolute path. */
export const start = (program: string): Promise<void> =>
  begin(process.argv.slice(2), process.env, async () => {
    const loaded = load(program, process.env)
    if (isProgram(loaded)) return loaded
    throw new Error(`${program} is not Tieout's program; build it again`)
  })
