/** Values that formats need and the books do not hold: a section per format, and overrides of its published template. */

import { Schema } from "effect"
import { CurrencyCode, optionalKey, section, withDefault } from "../Common/Field.ts"
import { isRecord } from "../Common/Record.ts"
import { tableFormats } from "./Formats.ts"
import { wholeNumber } from "./OwnSettings.ts"
import type { TableFormat } from "./Table/Define.ts"
import { mistakesOf, type Overridable, type Override, overridden } from "./Table/Override.ts"
import type { Profile } from "./Table/Profile.ts"

const Header = Schema.String.pipe(
  Schema.filter((text) => /^[^\p{Cc}"'=+@\s-](?:[^\p{Cc}"]{0,98}[^\p{Cc}"\s])?$/u.test(text)),
).annotations({ description: "a header of at most 100 characters without quotes" })

const limits = {
  rowsPerFile: optionalKey(wholeNumber(1, 1_000_000)),
  rowsPerJournal: optionalKey(wholeNumber(2, 1_000_000)),
  file: optionalKey(Schema.String),
}

const unnamed = {
  ...limits,
  date: optionalKey(Schema.Literal("iso", "DD/MM/YYYY", "MM/DD/YYYY", "DD.MM.YYYY", "long")),
  decimalMark: optionalKey(Schema.Literal(".", ",")),
  delimiter: optionalKey(
    Schema.Literal(",", ";", "|", "\t").annotations({ description: '"," or ";" or "|" or "\\t"' }),
  ),
  encoding: optionalKey(Schema.Literal("utf-8", "windows-1252", "ascii")),
  lineEnd: optionalKey(Schema.Literal("LF", "CRLF")),
  numberLength: optionalKey(wholeNumber(20, 100)),
}

const all = { headers: optionalKey(Schema.Record({ key: Schema.String, value: Header })), ...unnamed }

const overrides: Readonly<Record<Overridable, Schema.Schema<Override>>> = {
  all: Schema.Struct(all),
  unnamed: Schema.Struct(unnamed),
  limits: Schema.Struct(limits),
}

const overrideOf = ({ filePattern, overridable, template }: TableFormat) =>
  optionalKey(
    overrides[overridable].pipe(Schema.filter((own) => [...mistakesOf(template, own, filePattern)])),
  )

const sections = Object.fromEntries(tableFormats.map(({ name, settings }) => [name, section(settings)]))

const Profiles = Schema.Struct(
  Object.fromEntries(tableFormats.map((format) => [format.name, overrideOf(format)])),
)

/** The keys that a book overrides: any keys of the formats, each by itself. */
const OfBook = Schema.Struct({
  leaveOut: optionalKey(Schema.Array(CurrencyCode)),
  personalData: optionalKey(Schema.Boolean),
  exchangeResults: optionalKey(Schema.Boolean),
  ...Object.fromEntries(
    tableFormats.map(({ name, settings }) => [name, optionalKey(Schema.encodedBoundSchema(settings))]),
  ),
  profiles: optionalKey(Profiles),
})

export const FormatSettings = Schema.Struct({
  /**
   * Currencies that the formats of accounting systems leave out. Without this, a currency that a format cannot hold is
   * refused.
   */
  leaveOut: withDefault(Schema.Array(CurrencyCode), []),
  /** Whether names and free texts of payments stand in their lines. */
  personalData: withDefault(Schema.Boolean, true),
  /** Whether files with rates have exchange gains, losses and revaluations, too: a system with rates makes its own. */
  exchangeResults: withDefault(Schema.Boolean, false),
  ...sections,
  /** Overrides of the published templates, by format. */
  profiles: section(Profiles),
  /** Overrides for single books, by code: a Mandant, a subsidiary, a tax rate. */
  books: withDefault(Schema.Record({ key: Schema.String, value: OfBook }), {}),
})
export type FormatSettings = typeof FormatSettings.Type

/** A section with the keys that a book overrides. */
const merged = ({ settings }: TableFormat, common: unknown, own: unknown): unknown => {
  const written = Schema.encodeSync(settings)(common)
  return Schema.decodeUnknownSync(settings)(
    isRecord(written) && isRecord(own) ? { ...written, ...own } : written,
  )
}

/** The settings as a book has them. */
export const settingsOf = (settings: FormatSettings, book: string): FormatSettings => {
  const own: Readonly<Record<string, unknown>> | undefined = settings.books[book]
  if (own === undefined) return settings
  const { profiles, ...rest } = settings.books[book] ?? {}
  const common: Readonly<Record<string, unknown>> = settings
  const sections = tableFormats.flatMap((format) =>
    own[format.name] === undefined
      ? []
      : [[format.name, merged(format, common[format.name], own[format.name])] as const],
  )
  const { exchangeResults, leaveOut, personalData } = rest
  return {
    ...settings,
    ...Object.fromEntries(sections),
    leaveOut: leaveOut ?? settings.leaveOut,
    personalData: personalData ?? settings.personalData,
    exchangeResults: exchangeResults ?? settings.exchangeResults,
    profiles: { ...settings.profiles, ...profiles },
  }
}

/** The receiving system's legal entity (DATEV's Mandant, a SIREN …) by a format's settings; null: the format has none, or it is not set. */
export const entityOf = ({ entity, name }: TableFormat, settings: FormatSettings): string | null => {
  const own: Readonly<Record<string, unknown>> = settings
  return entity?.(own[name]) ?? null
}

/** A format's profile with its own section and then its overrides from the settings. */
export const profileWith = (format: TableFormat, settings: FormatSettings, rated = false): Profile => {
  const own: Readonly<Record<string, unknown>> = settings
  const { personalData } = settings
  const make = rated && format.rated !== null ? format.rated.profile : format.profile
  return {
    ...overridden(make(own[format.name]), settings.profiles[format.name] ?? {}),
    personalData,
  }
}

/** The currencies that a format leaves out. */
export const leftOut = (
  { leavesNothingOut }: Pick<TableFormat, "leavesNothingOut">,
  { leaveOut }: Pick<FormatSettings, "leaveOut">,
): ReadonlyArray<string> => (leavesNothingOut ? [] : leaveOut)
