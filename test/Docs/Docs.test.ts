/** README.md and docs/*.md name only existing commands, options, settings, variables, findings, metrics, files and links. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { commandNamed, globalOptions, optionsOf, variableTexts } from "../../src/Cli/Manual.ts"
import { formatNames } from "../../src/Format/Formats.ts"
import { checks } from "../../src/Reconcile/Check.ts"
import { overlay } from "../../src/Settings/Environment.ts"
import { connectionPrefix, leaves, sectionNames } from "../../src/Settings/SettingsKeys.ts"
import { builtManual } from "../support/Compiled.ts"
import { anchors, commandTexts, type Document, documents, links } from "./Documents.ts"

const manual = builtManual()
const flagsOf = new Map(
  manual.map((command) => [
    command.name,
    new Set([...optionsOf(command), ...globalOptions].map(({ flag }) => flag)),
  ]),
)
const allFlags = new Set([...flagsOf.values()].flatMap((flags) => [...flags]))
const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => readFileSync(`src/${name}`, "utf8"))
  .join("\n")
const sql = ["drizzle/0000_tables.sql", "drizzle/rules.sql"]
  .map((file) => readFileSync(file, "utf8"))
  .join("\n")

/** Every document with its mistakes, so that a failure shows all of them at once. */
const wrongIn = (of: (document: Document) => ReadonlyArray<string>) =>
  Object.fromEntries(
    documents
      .map((document) => [document.path, [...new Set(of(document))]] as const)
      .filter(([, found]) => found.length > 0),
  )

/** The uses of the program in a line: what follows its name, up to a pipe or the next command. */
const usesIn = (line: string): ReadonlyArray<string> =>
  line.split(/\s(?:&&|\||>>?)\s|<\(|\)$/).flatMap((part) => {
    const own = part.trim().replace(/^(?:[$>] |(?:[A-Z_]+=\S+ )+)/, "")
    const [, rest] = /^(?:npx )?(?:tieout|node bin\/tieout\.js) (.+)$/.exec(own) ?? []
    return rest === undefined ? [] : [rest]
  })

/** What is wrong with one use of the program. */
const mistakesIn = (use: string): ReadonlyArray<string> => {
  const [name = "", second = ""] = use.split(/\s+/)
  // A placeholder, a sentence that goes on, or an option that every command takes.
  if (!/^[a-z]/.test(name) || name === "help") return []
  const known = flagsOf.get(name)
  if (known === undefined) return [`tieout ${name}`]
  const command = commandNamed(manual, name)
  const subcommands = command?.subcommands.map((form) => form.name) ?? []
  const isUnknown = subcommands.length > 0 && /^[a-z]+$/.test(second) && !subcommands.includes(second)
  const flags = use.match(/(?<=[\s[(])--[a-z][a-z-]*/g) ?? []
  return [
    ...(isUnknown ? [`tieout ${name} ${second}`] : []),
    ...flags.filter((flag) => !known.has(flag)).map((flag) => `tieout ${name} ${flag}`),
  ]
}

describe("the documents name only what exists", () => {
  it("as commands, with their subcommands and options", () => {
    const uses = (document: Document) => commandTexts(document).flatMap(usesIn)
    expect(documents.flatMap(uses).length).toBeGreaterThan(150)
    expect(wrongIn((document) => uses(document).flatMap(mistakesIn))).toEqual({})
  })

  it("as options by themselves", () => {
    expect(
      wrongIn(({ spans }) =>
        spans
          .filter((span) => span.startsWith("--"))
          .flatMap((span) => span.match(/--[a-z][a-z-]*/g) ?? [])
          .filter((flag) => !allFlags.has(flag)),
      ),
    ).toEqual({})
  })

  it("as settings", () => {
    const free = "free"
    const paths = leaves([free]).map(({ path }) => path)
    const fits = (key: ReadonlyArray<string>) =>
      paths.some(
        (path) =>
          key.length <= path.length &&
          key.every((part, at) => part === path[at] || (path[at] === free && /^\W*[\w-]+\W*$/.test(part))),
      )
    const isSetting = (key: string) => {
      const parts = key.split(".")
      return fits(
        parts.at(-1) === "*"
          ? parts.slice(0, -1)
          : parts.map((part) => (part === "<format>" ? "xero" : part)),
      )
    }
    const isTable = (key: string) =>
      new RegExp(`(?<![\\w.])"?${key.replace(".", '"?\\."?')}"?(?!\\w)`).test(sql)
    const named = (document: Document): ReadonlyArray<string> => {
      let section = ""
      return document.spans.flatMap((span) => {
        const [, key = ""] = /^(\.?[a-zA-Z][\w<>-]*(?:\.[\w<>*-]+)+|\.[a-zA-Z]\w*)(?:$|: )/.exec(span) ?? []
        if (key.startsWith(".")) return section === "" ? [] : [section + key]
        const isNamed = sectionNames.includes(key.split(".")[0] ?? "") && key.includes(".")
        section = isNamed ? key.slice(0, key.lastIndexOf(".")) : key === "" ? section : ""
        return isNamed ? [key] : []
      })
    }
    expect(documents.flatMap(named).length).toBeGreaterThan(100)
    expect(wrongIn((document) => named(document).filter((key) => !isSetting(key) && !isTable(key)))).toEqual(
      {},
    )
  })

  it("as environment variables", () => {
    const names = ["default", "acme-uk", "tieout-by-hand"]
    const secrets = ["BASE_URL", "CLIENT_ID", "CLIENT_SECRET", "SCOPE"]
    const own = new Set([
      ...variableTexts.map(([name]) => name),
      ...names.flatMap((name) => secrets.map((secret) => connectionPrefix(name) + secret)),
    ])
    const isKey = (name: string) =>
      [
        ...overlay(
          { connections: Object.fromEntries(names.map((one) => [one, {}])) },
          { [name]: "1" },
        ).setBy.values(),
      ].includes(name)
    // The last one is the telemetry library's.
    const isTelemetry = (name: string) =>
      name.startsWith("OTEL_") && (sources.includes(name) || name === "OTEL_RESOURCE_ATTRIBUTES")
    expect(
      wrongIn(({ text }) =>
        (text.match(/\b(?:TIEOUT|OTEL)_[A-Z_]+[A-Z]\b|\bDATABASE_URL\b|\bNO_COLOR\b/g) ?? []).filter(
          (name) => !own.has(name) && !isKey(name) && !isTelemetry(name),
        ),
      ),
    ).toEqual({})
  })

  it("as metrics", () => {
    expect(
      wrongIn(({ text }) =>
        (text.match(/\btieout_[a-z_]+[a-z]/g) ?? []).filter((name) => !sources.includes(`"${name}"`)),
      ),
    ).toEqual({})
  })

  it("as files of the project", () => {
    const own = /^(?:src|test|docs|drizzle|bench|bin|config|\.ci)(?:\/[\w.<>*-]+)*\/?$/
    expect(
      wrongIn(({ spans }) =>
        spans.filter(
          (span) =>
            own.test(span) && span.includes("/") && span !== "config/tieout.yaml" && !existsSync(span),
        ),
      ),
    ).toEqual({})
  })

  it("as links, with their anchors", () => {
    expect(
      wrongIn((document) =>
        links(document).flatMap(({ anchor, target }) => {
          if (!existsSync(target)) return [target]
          if (anchor === undefined || statSync(target).isDirectory()) return []
          return anchors(readFileSync(target, "utf8")).has(anchor) ? [] : [`${target}#${anchor}`]
        }),
      ),
    ).toEqual({})
  })

  it("as words with dashes: findings, formats and the few that are neither", () => {
    const others = [
      "utf-8",
      "windows-1252",
      "x-signature",
      "x-key-id",
      "x-algorithm",
      "acme-uk",
      "tieout-by-hand",
    ]
    const known: ReadonlySet<string> = new Set([...checks.map(({ name }) => name), ...formatNames, ...others])
    expect(
      wrongIn(({ spans }) =>
        spans.filter((span) => /^[a-z]\w*(?:-[a-z0-9]+)+$/.test(span) && !known.has(span)),
      ),
    ).toEqual({})
  })
})

const textOf = (path: string): string => documents.find((document) => document.path === path)?.text ?? ""
/** The cells of the rows that begin with a span of code. */
const rowsOf = (text: string) =>
  [...text.matchAll(/^\| `([^`]+)` +\|(.*)\|$/gm)].map(([, name = "", rest = ""]) => [
    name,
    ...rest.split("|").map((cell) => cell.trim()),
  ])

describe("the documents name all of", () => {
  it("the checks, with their severities", () => {
    const [, section = ""] = textOf("docs/close.md").split("### Findings\n")
    const listed = rowsOf(section.split("\n## ")[0] ?? "").map(([name, severity = ""]) => [
      name,
      severity.replace("*", ""),
    ])
    expect(listed).toEqual(checks.map(({ name, severity }) => [name, severity]))
  })

  it("the formats", () => {
    const [table = ""] = textOf("docs/formats.md").split("\n## ")
    expect(new Set(rowsOf(table).map(([name]) => name))).toEqual(new Set(formatNames))
  })

  it("the commands, with what they print as JSON", () => {
    const named = new Set(textOf("docs/json.md").match(/(?<=tieout )[a-z]+/g))
    expect(manual.filter(({ name }) => !named.has(name))).toEqual([])
  })

  it("the refusals of the database", () => {
    const states = (text: string) => [...new Set(text.match(/\bTO\d{3}\b/g))].sort()
    expect(states(textOf("docs/design.md"))).toEqual(states(sql))
  })
})

it("CONTRIBUTING's pointers name only what the files beside them contain", () => {
  const [, section = ""] = textOf("CONTRIBUTING.md").split("## Where is …\n")
  const lost = (section.split("\n## ")[0] ?? "").split("\n").flatMap((row) => {
    const spans = [...row.matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span)
    const files = spans.filter((span) => /^\w.*\.(?:ts|sql)$/.test(span) && existsSync(span))
    const text = files.map((path) => readFileSync(path, "utf8")).join("\n")
    return spans.filter(
      (span) => /^[a-z][\w.]*$/i.test(span) && !text.includes(span.split(".").at(-1) ?? span),
    )
  })
  expect(lost).toEqual([])
})

it("the README is short: at most 1,300 words", () => {
  expect(textOf("README.md").trim().split(/\s+/).length).toBeLessThanOrEqual(1_300)
})
