/**
 * Which statements of `src` the tests run. With `STATEMENTS=FOLDER`, as the continuous integration sets it, every process of a test
 * run notes the names of the statements that it runs in a file there, and the run of the long tests, which comes last, fails
 * where one of `src` is in none of them.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { runsWorkers } from "../../src/Jobs/Boss.ts"
import { sources } from "./folderMap.ts"

/** The names that `src` gives to its statements. */
const namesInSource = (): ReadonlySet<string> => {
  const given = /(?:\.(?:rows|row|execute|rowStream|orm)\(\s*|\boperation: )"([A-Z]\w*\.[\w.]+)"/g
  return new Set(
    sources().flatMap((path) => [...readFileSync(path, "utf8").matchAll(given)].map(([, name = ""]) => name)),
  )
}

const hasWorkers = runsWorkers(process.versions.node)

/** Statements that no test runs, each with the reason. */
const withReason: ReadonlyMap<string, string> = new Map([
  ...(hasWorkers
    ? []
    : ["Jobs.prepare", "Jobs.byClock", "Jobs.hasten", "Jobs.idle", "Jobs.isActive", "Jobs.waiting"].map(
        (name) => [name, "workers need Node 22.12"] as const,
      )),
])

/** Mistakes in the notes: statements that no test ran, and reasons that are no longer needed. */
export const statementMistakes = (folder: string): ReadonlyArray<string> => {
  const run = new Set(
    readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n")),
  )
  const names = namesInSource()
  return [
    ...[...names]
      .filter((name) => !run.has(name) && !withReason.has(name))
      .map((name) => `${name}: no test runs this statement`),
    ...[...withReason.keys()]
      .filter((name) => run.has(name) || !names.has(name))
      .map((name) => `${name}: it needs no reason any more`),
  ].toSorted()
}
