/** A format whose files are tables: all that there is to say of it, in one object. */
import { Schema } from "effect"
import type { Reader } from "../Reading/Reader.ts"
import type { Overridable } from "./Override.ts"
import type { Profile } from "./Profile.ts"

/** The account mapping's column that a format takes its accounts from. */
export interface Target {
  readonly column: string
  readonly pattern: RegExp
  /** What the pattern allows, for people. */
  readonly expects: string
  /** What an account is called while the mapping says nothing. */
  readonly fallback: "code" | "name"
}

export interface TableFormat<Name extends string = string> {
  readonly kind: "table"
  /** As `--format` takes it. */
  readonly name: Name
  /** A line for `tieout export --help`. */
  readonly description: string
  /** What an accounting system adds to what it has: importing it twice books it twice. Otherwise a file replaces the one before. */
  readonly accumulates: boolean
  /** A file of everything: `formats.leaveOut` leaves nothing out of it. */
  readonly leavesNothingOut: boolean
  /** The provider's statement stands beside it. */
  readonly besideStatement: boolean
  /** Null: the chart's own codes, which no mapping changes. */
  readonly target: Target | null
  /** The section `formats.<name>`; null: there is none. */
  readonly settings: Schema.Schema<unknown> | null
  /** The template as it is published, with the defaults of the settings. */
  readonly template: Profile
  /** The template with a decoded section `formats.<name>`. */
  readonly profile: (own: unknown) => Profile
  /** What `formats.profiles.<name>` may change. */
  readonly overridable: Overridable
  readonly reader: Reader
}

/** A profile without the name, which the format has; the file has a name of its own where none is given. */
export type Shape = Omit<Profile, "name" | "file"> & Partial<Pick<Profile, "file">>

type Definition<Name extends string> = Pick<TableFormat<Name>, "name" | "description" | "target" | "reader"> &
  Partial<Pick<TableFormat, "accumulates" | "leavesNothingOut" | "besideStatement" | "overridable">>

/** One whose files are the same whatever the settings say. */
interface Fixed {
  readonly profile: Shape
}

/** One with settings of its own: cells, preamble and limits may depend on them. */
interface Configured<S, I> {
  readonly settings: Schema.Schema<S, I>
  readonly profile: (own: S) => Shape
}

const made = <S, I>(
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
  const { settings, shape } = made(how)
  const profile = (own: unknown): Profile => ({ file: `${name}-{currency}{part}.csv`, ...shape(own), name })
  return {
    kind: "table",
    ...{ name, description, accumulates, leavesNothingOut, besideStatement, target, overridable, reader },
    ...{ settings, profile, template: profile(undefined) },
  }
}
