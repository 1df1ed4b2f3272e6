/**
 * Which statements of `src` the tests run. With `STATEMENTS=1`, as the continuous integration sets it, every process of a test run
 * notes the names of the statements that it runs in a file of the run, and the run fails where one of `src` is in none of them.
 */
import { appendFileSync, mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { statements } from "../../src/Database/Statement.ts"
import { sources } from "./folderMap.ts"

/** The names that `src` gives to its statements. */
export const namesInSource = (): ReadonlySet<string> => {
  const given = /(?:\.(?:rows|row|execute|rowStream|orm)\(\s*|\boperation: )"([A-Z]\w*\.[\w.]+)"/g
  return new Set(
    sources().flatMap((path) => [...readFileSync(path, "utf8").matchAll(given)].map(([, name = ""]) => name)),
  )
}

/** Statements that no test runs, each with the reason. */
const withReason: ReadonlyMap<string, string> = new Map([])

const listening = new Set<string>()

/** Notes the names from here on, in a file of this process. */
export const noteStatements = (folder: string): void => {
  if (listening.has(folder)) return
  listening.add(folder)
  mkdirSync(folder, { recursive: true })
  const known = new Set<unknown>()
  statements.subscribe((name) => {
    if (known.has(name)) return
    known.add(name)
    appendFileSync(join(folder, String(process.pid)), `${String(name)}\n`)
  })
}

/** What is wrong with what was noted: statements that nobody ran, and reasons that nobody needs. */
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
