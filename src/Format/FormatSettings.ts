/** What formats need and the books do not hold: a section per format, and overrides of its published template. */
import { Schema } from "effect"
import { CurrencyCode, section, withDefault } from "../Common/Field.ts"
import { tableFormats } from "./Formats.ts"
import { whole } from "./OwnSettings.ts"
import type { TableFormat } from "./Table/Define.ts"
import { mistakesOf, type Overridable, type Override, overridden } from "./Table/Override.ts"
import type { Profile } from "./Table/Profile.ts"

const given = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

const Header = Schema.String.pipe(
  Schema.filter((text) => /^[^\p{Cc}"'=+@\s-](?:[^\p{Cc}"]{0,98}[^\p{Cc}"\s])?$/u.test(text)),
).annotations({ description: "a header of at most 100 characters without quotes" })

const limits = {
  rowsPerFile: given(whole(1, 1_000_000)),
  rowsPerJournal: given(whole(2, 1_000_000)),
  file: given(Schema.String),
}

const unnamed = {
  ...limits,
  date: given(Schema.Literal("iso", "DD/MM/YYYY", "MM/DD/YYYY", "DD.MM.YYYY", "long")),
  decimalMark: given(Schema.Literal(".", ",")),
  delimiter: given(
    Schema.Literal(",", ";", "|", "\t").annotations({ description: '"," or ";" or "|" or "\\t"' }),
  ),
  encoding: given(Schema.Literal("utf-8", "windows-1252", "ascii")),
  lineEnd: given(Schema.Literal("LF", "CRLF")),
  numberLength: given(whole(20, 100)),
}

const all = { headers: given(Schema.Record({ key: Schema.String, value: Header })), ...unnamed }

const overrides: Readonly<Record<Overridable, Schema.Schema<Override>>> = {
  all: Schema.Struct(all),
  unnamed: Schema.Struct(unnamed),
  limits: Schema.Struct(limits),
}

const overrideOf = ({ overridable, template }: TableFormat) =>
  given(overrides[overridable].pipe(Schema.filter((own) => [...mistakesOf(template, own)])))

const sections = Object.fromEntries(tableFormats.map(({ name, settings }) => [name, section(settings)]))

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
  profiles: section(
    Schema.Struct(Object.fromEntries(tableFormats.map((format) => [format.name, overrideOf(format)]))),
  ),
})
export type FormatSettings = typeof FormatSettings.Type

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
