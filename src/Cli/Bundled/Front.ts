/** Where the bundle begins: `bin/tieout.js` calls it. The program itself lies in a file of its own, `program.cjs`. */
import { readFileSync } from "node:fs"
import Module, { createRequire } from "node:module"
import { dirname } from "node:path"
import { setFlagsFromString } from "node:v8"
import { constants, Script } from "node:vm"
import { begin, type Program } from "../Begin.ts"
import { cacheFile, readCache, writeCache } from "./CodeCache.ts"

const isProgram = (value: unknown): value is Program =>
  typeof value === "object" &&
  value !== null &&
  ["launch", "readManual"].every((name) => typeof Reflect.get(value, name) === "function")

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

/**
 * What these keep is small (a sync some 65 MB) beside what they pass on; left to itself the heap grows to four times that before
 * it is swept. Others are done sooner without.
 */
const passOn: ReadonlySet<string> = new Set(["sync", "backfill", "serve", "demo"])

/** Runs the command of this process with the program in the file `program`, an absolute path. */
export const start = (program: string): Promise<void> => {
  const args = process.argv.slice(2)
  return begin(args, process.env, async () => {
    // Before anything is compiled: V8 takes compiled code only under the flags that it was made with.
    if (args.some((arg) => passOn.has(arg))) setFlagsFromString("--heap-growing-percent=60")
    const loaded = load(program, process.env)
    if (isProgram(loaded)) return loaded
    throw new Error(`${program} is not Tieout's program; build it again`)
  })
}
