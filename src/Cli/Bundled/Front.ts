/** The entry of the bundle, which `bin/tieout.js` calls. The program itself is a separate file, `program.cjs`. */
import { readFileSync } from "node:fs"
import Module, { createRequire } from "node:module"
import { dirname } from "node:path"
import { setFlagsFromString } from "node:v8"
import { constants, Script } from "node:vm"
import { begin, type Program } from "../Begin.ts"
import { exitCodes } from "../ExitCode.ts"
import { cacheFile, readCache, writeCache } from "./CodeCache.ts"

const isProgram = (value: unknown): value is Program =>
  typeof value === "object" &&
  value !== null &&
  ["launch", "readManual"].every((name) => typeof Reflect.get(value, name) === "function")

/** Loads a bundled CommonJS module like `require`, from the code cache if there is one. */
const load = (path: string, variables: Readonly<Record<string, string | undefined>>): unknown => {
  const source = readFileSync(path)
  const file = cacheFile(source, variables)
  const cachedData = file === undefined ? undefined : readCache(file)
  // Node discards code that a long first sync compiled at its start, and each later command would have to compile it again.
  if (file !== undefined && cachedData === undefined) setFlagsFromString("--no-flush-bytecode")
  const script = new Script(Module.wrap(source.toString("latin1")), {
    filename: path,
    ...(cachedData === undefined ? {} : { cachedData }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  if (file !== undefined && (cachedData === undefined || script.cachedDataRejected === true)) {
    // At exit, so that the cache includes what this command compiled. A usage error compiled next to nothing.
    process.once("exit", (code) => {
      if (code === exitCodes.usage) return
      setFlagsFromString("--flush-bytecode")
      writeCache(file, script.createCachedData())
    })
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
 * These commands hold little memory (a sync some 65 MB) compared with what they stream; by default the heap grows to four times
 * that before a collection. So small a heap is best marked within the pauses: marking on threads beside the program took a
 * twelfth of a sync's processor time more. Other commands are faster with the default.
 *
 * A night without news ends before its code is worth optimizing, and copies less if the young generation is large from the
 * start: the interrupt budget, and a young generation that grows fourfold, save it a fifth of its processor time and do not
 * affect a long sync. V8 12 and newer no longer know the budget, and would say so on standard error. V8 13 takes 451 MB for
 * a cold sync so. If it is told to save memory, a young generation of 4 MB lets next to nothing grow old that does not stay, and its
 * threads mark what is old before the heap has grown far beyond its limit: 190 MB (250 without threads, for 8 % more of the
 * processor's time).
 *
 * V8 13 compiles baseline code on threads beside the program. One of them may wait for a collection that the program, which is
 * ending and waits for it, never does: the process hangs (https://github.com/nodejs/node/issues/54918).
 */
const streamingCommands: ReadonlySet<string> = new Set(["sync", "backfill", "serve", "demo", "worker"])
export const sparingFlags = (v8: string): ReadonlyArray<string> => {
  const major = Number.parseInt(v8, 10)
  return [
    ...(major < 12 ? ["--interrupt-budget=1000000"] : []),
    ...(major < 13
      ? ["--heap-growing-percent=50", "--no-concurrent-marking", "--semi-space-growth-factor=4"]
      : [
          ...["--heap-growing-percent=75", "--min-semi-space-size=4", "--semi-space-growth-factor=1"],
          ...["--memory-saver-mode", "--no-concurrent-sparkplug"],
        ]),
  ]
}

/** Runs this process's command with the program at the absolute path `program`. */
export const start = (program: string): Promise<void> => {
  const args = process.argv.slice(2)
  return begin(args, process.env, async () => {
    // Set before anything is compiled, since V8 accepts cached code only under the flags that it was made with.
    if (args.some((arg) => streamingCommands.has(arg))) {
      for (const flag of sparingFlags(process.versions.v8)) setFlagsFromString(flag)
    }
    const loaded = load(program, process.env)
    if (isProgram(loaded)) return loaded
    throw new Error(`${program} is not Tieout's program; build it again`)
  })
}
