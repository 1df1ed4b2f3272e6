/**
 * `npm run map`: draws the folders of `src` and what they import, from the imports themselves, into CONTRIBUTING.md between
 * its two marks. A folder is `src/X/` together with `src/X.ts`.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"

const project = fileURLToPath(new URL("../../", import.meta.url))
const source = join(project, "src")

/** By folder, the folders that its files import. */
export type Arrows = ReadonlyMap<string, ReadonlySet<string>>

const filesBelow = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? filesBelow(path) : entry.name.endsWith(".ts") ? [path] : []
  })

const folderOf = (file: string): string => (relative(source, file).split("/")[0] ?? "").replace(/\.ts$/, "")

const imported = /(?:from|import)\s*\(?\s*"(\.[^"]+)"/g

/** Files that a file of `src` imports, types included. */
export const importsOf = (file: string): ReadonlyArray<string> =>
  [...readFileSync(file, "utf8").matchAll(imported)].map(([, to = ""]) => resolve(dirname(file), to))

export const sources = (): ReadonlyArray<string> => filesBelow(source)

/** What the folders import of each other today. */
export const arrows = (): Arrows => {
  const found = new Map<string, Set<string>>()
  for (const file of sources()) {
    const from = folderOf(file)
    const to = found.get(from) ?? new Set<string>()
    found.set(from, to)
    for (const target of importsOf(file)) if (folderOf(target) !== from) to.add(folderOf(target))
  }
  return found
}

/** A circle of folders that import each other, if there is one: the folders in order. */
export const circle = (all: Arrows): ReadonlyArray<string> | undefined => {
  const done = new Set<string>()
  const visit = (folder: string, path: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
    if (path.includes(folder)) return [...path.slice(path.indexOf(folder)), folder]
    if (done.has(folder)) return undefined
    for (const next of all.get(folder) ?? []) {
      const found = visit(next, [...path, folder])
      if (found !== undefined) return found
    }
    done.add(folder)
    return undefined
  }
  for (const folder of all.keys()) {
    const found = visit(folder, [])
    if (found !== undefined) return found
  }
  return undefined
}

/** Whether `to` can be reached from `from` over another folder. */
const isReached = (all: Arrows, from: string, to: string): boolean => {
  const seen = new Set<string>()
  const visit = (folder: string): boolean => {
    if (folder === to) return true
    if (seen.has(folder)) return false
    seen.add(folder)
    return [...(all.get(folder) ?? [])].some(visit)
  }
  return [...(all.get(from) ?? [])].some((next) => next !== to && visit(next))
}

/** The graph as Mermaid text; an arrow that follows from two others is left out. */
export const drawn = (all: Arrows): string => {
  const lines = [...all.keys()].sort().flatMap((from) =>
    [...(all.get(from) ?? [])]
      .filter((to) => !isReached(all, from, to))
      .sort()
      .map((to) => `  ${from} --> ${to}`),
  )
  return ["```mermaid", "graph TD", ...lines, "```"].join("\n")
}

const marks = ["<!-- map: made by `npm run map` -->", "<!-- end of map -->"] as const

/** CONTRIBUTING.md with the graph of today. */
export const withMap = (text: string, map: string): string => {
  const [begin, end] = marks.map((mark) => text.indexOf(mark))
  if (begin === undefined || end === undefined || begin < 0 || end < begin) {
    throw new Error(`CONTRIBUTING.md lacks the marks ${marks.join(" and ")}`)
  }
  return `${text.slice(0, begin + marks[0].length)}\n\n${map}\n\n${text.slice(end)}`
}

export const contributing = join(project, "CONTRIBUTING.md")

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(contributing, withMap(readFileSync(contributing, "utf8"), drawn(arrows())))
}
