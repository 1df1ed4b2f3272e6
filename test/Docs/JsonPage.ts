/** The descriptions of `docs/json.md`, and the differences of a printed document from them. */
import { readFileSync } from "node:fs"

const page = readFileSync("docs/json.md", "utf8")

/** Every name that the page gives a field. */
const names = new Set([...page.matchAll(/`(\w+)\??`/g)].map(([, name]) => name ?? ""))

/** Objects whose keys are no fields: accounts, months, names of variables … */
const maps = new Set([
  ...["requests", "newEntries", "counts", "blocked", "loansBlocked", "variables", "evidence", "profile"],
  // Manifests are described in words, and in docs/formats.md.
  ...[
    "manifest",
    "lineage",
    "base",
    "periods",
    "currencies",
    "statements",
    "tables",
    "book",
    "close",
    "difference",
  ],
])

/** A description's own fields, without what stands in brackets behind them. */
const outermost = (description: string): string => {
  let text = description
  for (let before = ""; before !== text; ) {
    before = text
    text = text.replace(/\[[^[\]]*\]|\([^()]*\)/g, "")
  }
  return text
}

interface Described {
  readonly always: ReadonlyArray<string>
  readonly all: ReadonlySet<string>
}

/** The descriptions by the first column of the tables. */
export const describedRows: ReadonlyMap<string, Described> = new Map(
  [...page.matchAll(/^\| (`tieout .*?`[^|]*?) +\| (.*?) +\|$/gm)].map(
    ([, command = "", description = ""]) => {
      const [first = ""] = outermost(description).split(/; (?:with|without)/)
      const found = (text: string) => [...text.matchAll(/`(\w+\??)`/g)].map(([, name]) => name ?? "")
      return [
        command,
        {
          always: found(first).filter((name) => !name.endsWith("?")),
          all: new Set(found(outermost(description)).map((name) => name.replace("?", ""))),
        },
      ]
    },
  ),
)

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Every field below a value. */
const fieldsIn = (value: unknown): ReadonlyArray<string> => {
  if (Array.isArray(value)) return value.flatMap(fieldsIn)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, within]) => [
    name,
    ...(maps.has(name) ? [] : fieldsIn(within)),
  ])
}

/** By row: fields whose names are a file's columns, or the settings' keys. */
const ownMaps: Readonly<Record<string, string>> = {
  "`tieout accounts export`": "rows",
  "`tieout webhook diagnose`": "settings",
}

const withoutMaps = (row: string, document: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(document).filter(([name]) => name !== ownMaps[row]))

/** The fields of a printed document that its row does not describe, and the described ones that it lacks. */
export const problemsOf = (row: string, printed: string): ReadonlyArray<string> => {
  const described = describedRows.get(row)
  const document: unknown = printed.startsWith("{") ? JSON.parse(printed) : undefined
  if (described === undefined) return ["the page has no such row"]
  if (!isObject(document) || "errors" in document || document.schema !== 1) {
    return [`this is no document: ${printed.slice(0, 300)}`]
  }
  const { schema: _schema, ...own } = document
  return [
    ...described.always.filter((name) => !Object.hasOwn(own, name)).map((name) => `lacks ${name}`),
    ...Object.keys(own)
      .filter((name) => !described.all.has(name))
      .map((name) => `${name} is not in its row`),
    ...[...new Set(fieldsIn(withoutMaps(row, own)))]
      .filter((name) => !names.has(name))
      .map((name) => `${name} is nowhere`),
  ]
}

/** The commands of a row, with their subcommands: `` `tieout batches commit`, `supersede` `` names two. */
export const commandsOf = (row: string): ReadonlyArray<string> => {
  const [first = "", ...others] = [...row.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name)
  const words = first.replace(/^tieout /, "").split(" ")
  return [words.join(" "), ...others.map((name) => [...words.slice(0, -1), name].join(" "))]
}
