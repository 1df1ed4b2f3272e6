/** Defines a format whose files are tables, in one object. */
import { Schema } from "effect"
import type { Reader } from "../Reading/Reader.ts"
import type { Overridable } from "./Override.ts"
import type { Profile } from "./Profile.ts"

/** The account mapping's column that a format takes its accounts from. */
export interface Target {
  readonly column: string
  readonly pattern: RegExp
  /** What the pattern allows, for a person. */
  readonly expects: string
  /** The account's name where the mapping has none. */
  readonly fallback: "code" | "name"
}

export interface TableFormat<Name extends string = string> {
  readonly kind: "table"
  /** The name for `--format`. */
  readonly name: Name
  /** A line for `tieout export --help`. */
  readonly description: string
  /**
   * The accounting system adds an import to its books, so importing twice books twice. Otherwise a file replaces the one
   * before.
   */
  readonly accumulates: boolean
  /** The file holds everything: `formats.leaveOut` does not apply. */
  readonly leavesNothingOut: boolean
  /** Writes the provider's statement, too. */
  readonly besideStatement: boolean
  /** Null: the chart's own codes, without a mapping. */
  readonly target: Target | null
  /** The section `formats.<name>`; null: there is none. */
  readonly settings: Schema.Schema<unknown> | null
  /** The published template, with the settings' defaults. */
  readonly template: Profile
  /** The template with a decoded section `formats.<name>`. */
  readonly profile: (own: unknown) => Profile
  /** What `formats.profiles.<name>` may change. */
  readonly overridable: Overridable
  readonly reader: Reader
}

/** A profile without the name, which is the format's; `file` has a default. */
export type Shape = Omit<Profile, "name" | "file"> & Partial<Pick<Profile, "file">>

type Definition<Name extends string> = Pick<TableFormat<Name>, "name" | "description" | "target" | "reader"> &
  Partial<Pick<TableFormat, "accumulates" | "leavesNothingOut" | "besideStatement" | "overridable">>

/** A format without settings. */
interface Fixed {
  readonly profile: Shape
}

/** A format with settings, which cells, preamble and limits may depend on. */
interface Configured<S, I> {
  readonly settings: Schema.Schema<S, I>
  readonly profile: (own: S) => Shape
}

const shaped = <S, I>(
  how: Fixed | Configured<S, I>,
): Pick<TableFormat, "settings"> & {
  readonly shape: (own: unknown) => Shape
} => {
  if (!("settings" in how)) return { settings: null, shape: () => how.profile }
  const { profile, settings } = how
  const defaults = Schema.decodeUnknownSync(settings)({})
  const own = Schema.validateSync(settings)
  return {
    settings: Schema.make<unknown>(settings.ast),
    shape: (given) => profile(given === undefined ? defaults : own(given)),
  }
}

export const defineTable = <const Name extends string, S, I>({
  accumulates = true,
  besideStatement = false,
  description,
  leavesNothingOut = false,
  name,
  overridable = "all",
  reader,
  target,
  ...how
}: Definition<Name> & (Fixed | Configured<S, I>)): TableFormat<Name> => {
  const { settings, shape } = shaped(how)
  const profile = (own: unknown): Profile => ({ file: `${name}-{currency}{part}.csv`, ...shape(own), name })
  return {
    kind: "table",
    ...{ name, description, accumulates, leavesNothingOut, besideStatement, target, overridable, reader },
    ...{ settings, profile, template: profile(undefined) },
  }
}
