/** Makes the settings file of a new installation: the bundled example with the answers filled in. */
import { readFileSync } from "node:fs"
import { Either, Schema } from "effect"
import { packageFile } from "./Common/Package.ts"
import { Content } from "./Settings/Content.ts"
import { formatPath, mistakesOf } from "./Settings/Mistake.ts"
import { connectionPrefix } from "./Settings/SettingsKeys.ts"

export const surfaces = ["organization", "client", "credit"] as const
export type Surface = (typeof surfaces)[number]

export interface Answers {
  readonly connections: ReadonlyArray<{ readonly name: string; readonly surfaces: ReadonlyArray<Surface> }>
  readonly timeZone: string
  readonly baseCurrency: string
}

export const defaultAnswers: Answers = {
  connections: [{ name: "default", surfaces: ["organization"] }],
  timeZone: "UTC",
  baseCurrency: "EUR",
}

/** This version's example. */
const example = (): string => readFileSync(packageFile("config", "tieout.example.yaml"), "utf8")

/** A commented-out section of the example: from its name to the next empty line. */
const sectionOf = (name: string): RegExp => new RegExp(`^#${name}:\\n(?:#.*\\n)*`, "m")

const connectionLines = ({ connections }: Answers): string =>
  [
    "connections:",
    ...connections.flatMap(({ name, surfaces: used }) => [
      `  ${name}:`,
      `    surfaces: [${used.join(", ")}]`,
    ]),
    "",
  ].join("\n")

/** The keys that were answered are uncommented; the rest of the section stays as it is. */
const accountingLines = (section: string, { baseCurrency, timeZone }: Answers): string =>
  section
    .replace(/^#accounting:/, "accounting:")
    .replace(/^#( {2}timeZone: )(\S+)( *)/m, (_, key: string, found: string, space: string) =>
      filled(key, timeZone, found, space),
    )
    .replace(/^#( {2}baseCurrency: )(\S+)( *)/m, (_, key: string, found: string, space: string) =>
      filled(key, baseCurrency, found, space),
    )

/** Fills in a value and keeps the comment after it in its column. */
const filled = (key: string, value: string, found: string, space: string): string =>
  key + `${value} `.padEnd(found.length + space.length + 1)

export const settingsText = (answers: Answers, from: string = example()): string =>
  from
    .replace(sectionOf("connections"), () => connectionLines(answers))
    .replace(sectionOf("accounting"), (section) => accountingLines(section, answers))

/** The variables of a connection's credentials. */
export const variablesOf = (connection: string): ReadonlyArray<string> =>
  ["BASE_URL", "CLIENT_ID", "CLIENT_SECRET", "SCOPE"].map((name) => connectionPrefix(connection) + name)

const decode = Schema.decodeUnknownEither(Content)

/** What is wrong with a part of the settings; undefined: nothing. */
export const mistakeIn = (content: object): string | undefined => {
  const decoded = decode(content)
  if (Either.isRight(decoded)) return undefined
  const [first] = mistakesOf(decoded.left.issue)
  return first === undefined ? "This cannot be." : `${formatPath(first.path)}: ${first.text}`
}
