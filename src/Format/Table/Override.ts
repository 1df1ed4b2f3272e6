/** Overrides of a format's profile by the settings (`formats.profiles`), and the mistakes in them. */
import { holds } from "../Encoding.ts"
import type { Profile } from "./Profile.ts"

/**
 * `unnamed`: all but headers, which the files lack. `limits`: only rows and file names, since the system's own rules fix the
 * rest.
 */
export type Overridable = "all" | "unnamed" | "limits"

export interface Override {
  /** From our header to the wanted one. */
  readonly headers?: Readonly<Record<string, string>>
  readonly date?: Exclude<Profile["date"], "DDMM" | "YYYYMMDD">
  readonly decimalMark?: Profile["decimals"]["mark"]
  readonly delimiter?: Exclude<Profile["delimiter"], " ">
  readonly encoding?: Exclude<Profile["encoding"], "cp437">
  readonly lineEnd?: "LF" | "CRLF"
  readonly rowsPerFile?: number
  readonly rowsPerJournal?: number
  /** Characters of a journal number, at most. */
  readonly numberLength?: number
  readonly file?: string
}

export const overridden = (profile: Profile, own: Override): Profile => {
  const rowsPerFile = own.rowsPerFile ?? profile.limits.rowsPerFile
  const rowsPerJournal = own.rowsPerJournal ?? Math.min(profile.limits.rowsPerJournal, rowsPerFile)
  const { lineEnd } = own
  return {
    ...profile,
    columns: profile.columns.map((column) => ({
      ...column,
      header: own.headers?.[column.header] ?? column.header,
    })),
    date: own.date ?? profile.date,
    decimals: { ...profile.decimals, mark: own.decimalMark ?? profile.decimals.mark },
    delimiter: own.delimiter ?? profile.delimiter,
    encoding: own.encoding ?? profile.encoding,
    lineEnd: lineEnd === undefined ? profile.lineEnd : lineEnd === "LF" ? "\n" : "\r\n",
    limits: { rowsPerFile, rowsPerJournal },
    number: own.numberLength ?? profile.number,
    file: own.file ?? profile.file,
  }
}

interface Mistake {
  readonly path: ReadonlyArray<string>
  readonly message: string
}

const fillable = /\{[a-z]+\}/g

/** Days stand in a name as eight digits; whatever else does is letters, digits and dashes. */
const filled = (file: string): string =>
  file
    .replaceAll(/\{(?:from|to)\}/g, "20261031")
    .replace("{part}", "")
    .replaceAll(fillable, "x")

const wrongFile = (profile: Profile, file: string, pattern: RegExp | null): string | undefined => {
  const prefix = profile.file.split("{", 1)[0] ?? ""
  const needed: ReadonlyArray<string> = profile.file.match(fillable) ?? []
  const found: ReadonlyArray<string> = file.match(fillable) ?? []
  const plain = /^[A-Za-z0-9_][A-Za-z0-9_.-]*\.(?:csv|txt)$/.test(file.replaceAll(fillable, "x"))
  const isKnown = pattern === null ? plain && file.startsWith(prefix) : pattern.test(filled(file))
  if (isKnown && needed.length === found.length && needed.every((each) => found.includes(each)))
    return undefined
  return pattern === null
    ? `a file name that begins with ${prefix}, has each of ${needed.join(" ")} once, and ends in .csv or .txt`
    : `a file name such as ${profile.file}, with each of ${needed.join(" ")} once`
}

/** All mistakes in an override of this profile. `filePattern`: what the files' names must be, where the format says it. */
export const mistakesOf = (
  profile: Profile,
  own: Override,
  filePattern: RegExp | null = null,
): ReadonlyArray<Mistake> => {
  const known = profile.columns.map(({ header }) => header)
  const profileWithOverride = overridden(profile, own)
  const headers = profileWithOverride.columns.map(({ header }) => header)
  const named = Object.entries(own.headers ?? {})
  const file = own.file === undefined ? undefined : wrongFile(profile, own.file, filePattern)
  return [
    ...named
      .filter(([name]) => !known.includes(name))
      .map(([name]) => ({
        path: ["headers", name],
        message: `one of the format's headers: ${known.join(", ")}`,
      })),
    ...named
      .filter(([, text]) => !holds(text, profileWithOverride.encoding))
      .map(([name]) => ({
        path: ["headers", name],
        message: `text that ${profileWithOverride.encoding} can hold`,
      })),
    ...(new Set(headers).size === headers.length
      ? []
      : [{ path: ["headers"], message: "headers that are all different" }]),
    ...(profileWithOverride.decimals.mark === profileWithOverride.delimiter
      ? [{ path: ["decimalMark"], message: "another decimal mark than the delimiter" }]
      : []),
    ...(profileWithOverride.limits.rowsPerJournal > profileWithOverride.limits.rowsPerFile
      ? [{ path: ["rowsPerJournal"], message: "no more rows in a journal than in a file" }]
      : []),
    ...(file === undefined ? [] : [{ path: ["file"], message: file }]),
  ]
}
