/** Defines a format whose files are tables, in one object. */
import { Schema } from "effect"
import { withDefault } from "../../Common/Field.ts"
import type { Account } from "../Entry.ts"
import type { Reader } from "../Reading/Reader.ts"
import { defaultTemplate, Template } from "./Description.ts"
import type { Overridable } from "./Override.ts"
import type { Profile } from "./Profile.ts"

/** The account mapping's column that a format takes its accounts from. */
export interface Target {
  readonly column: string
  readonly pattern: RegExp
  /** A description of what the pattern allows, for a person. */
  readonly expects: string
  /** The account's name where the mapping has none. */
  readonly fallback: "code" | "name"
  /** What the system makes of an account: two that are one there must be written alike. Absent: it takes them as they are written. */
  readonly read?: (account: string) => string
}

/** Facts that are known once all entries have been written. */
export interface AccountFileContext {
  readonly profile: Profile
  /** The book's code. */
  readonly book: string
  /** The first and the last day, `YYYY-MM-DD`. */
  readonly days: { readonly first: string; readonly last: string }
  /** All of the book, with the numbers that the format has for them and their balances. */
  readonly accounts: ReadonlyArray<{
    readonly account: Account
    /** Of the books, where the amounts may be in the base currency. */
    readonly currency: string
    readonly number: string
    /** Smallest units, debit positive. */
    readonly opening: bigint
    readonly closing: bigint
  }>
}

export interface AccountFile {
  /** As the manifest calls it. */
  readonly name: string
  /** With `{from}` and `{to}`, as in a profile. */
  readonly file: string
  /** The whole text, and its rows without the header. */
  readonly make: (context: AccountFileContext) => { readonly text: string; readonly rows: number }
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
  /** Of the files' names, where it does not follow from the template: the settings change how they begin. */
  readonly filePattern: RegExp | null
  /** A number for each account instead of the chart's codes, where several accounts share one; null: the codes. */
  readonly numbers: ((accounts: ReadonlyArray<Account>) => ReadonlyMap<Account, string>) | null
  /** Files of the book's accounts that stand beside. */
  readonly accountFiles: ReadonlyArray<AccountFile>
  /** The section `formats.<name>`. */
  readonly settings: Schema.Schema<unknown>
  /** The published template, with the settings' defaults. */
  readonly template: Profile
  /** The template with a decoded section `formats.<name>`. */
  readonly profile: (own: unknown) => Profile
  /** The same with rates and base-currency values; null: the system takes no rates. */
  readonly rated: { readonly profile: (own: unknown) => Profile; readonly reader: Reader } | null
  /** The receiving system's legal entity, by the section `formats.<name>`, if it must not be shared by two books. */
  readonly entity: ((own: unknown) => string | null) | null
  /** The part that `formats.profiles.<name>` may change. */
  readonly overridable: Overridable
  readonly reader: Reader
}

/** A profile without the name, which is the format's, and without the texts, which come from the settings. `file` has a default. */
export type Shape = Omit<Profile, "name" | "file" | "description" | "personalData"> &
  Partial<Pick<Profile, "file">>

/** What every format's section has. */
const Described = Schema.Struct({ description: withDefault(Template, defaultTemplate) })

type Definition<Name extends string> = Pick<TableFormat<Name>, "name" | "description" | "target" | "reader"> &
  Partial<
    Pick<
      TableFormat,
      | "accumulates"
      | "leavesNothingOut"
      | "besideStatement"
      | "overridable"
      | "numbers"
      | "accountFiles"
      | "filePattern"
    >
  >

/** A format without settings. */
interface Fixed {
  readonly profile: Shape
  readonly rated?: never
  readonly entity?: never
}

/** A format with settings, which cells, preamble and limits may depend on. */
interface Configured<S, I> {
  readonly settings: Schema.Schema<S, I>
  readonly profile: (own: S) => Shape
  /** The shape of a file with rates, and how it is read. */
  readonly rated?: { readonly profile: (own: S) => Shape; readonly reader: Reader }
  readonly entity?: (own: S) => string | null
}

/** The profile by a decoded section; always the same if the format has no settings of its own. */
const shaped = <S, I>(how: Fixed | Configured<S, I>) => {
  if (!("settings" in how)) {
    return { shapeOf: () => how.profile, ratedShapeOf: undefined, entity: null }
  }
  const validate = Schema.validateSync(how.settings)
  const { entity, profile, rated } = how
  return {
    shapeOf: (own: unknown) => profile(validate(own)),
    ratedShapeOf: rated && ((own: unknown) => rated.profile(validate(own))),
    entity: entity === undefined ? null : (own: unknown) => entity(validate(own)),
  }
}

const settled = <S, I>(how: Fixed | Configured<S, I>) => {
  const section = "settings" in how ? Schema.extend(how.settings, Described) : Described
  const settings = Schema.make<unknown>(section.ast)
  const { entity, ratedShapeOf, shapeOf } = shaped(how)
  const textsOf = Schema.validateSync(Described)
  const withTexts = (partsOf: (own: unknown) => Shape) => (given: unknown) => {
    const own = given ?? Schema.decodeUnknownSync(settings)({})
    return { ...partsOf(own), ...textsOf(own) }
  }
  return { settings, entity, shape: withTexts(shapeOf), ratedShape: ratedShapeOf && withTexts(ratedShapeOf) }
}

export const defineTable = <const Name extends string, S, I>({
  accountFiles = [],
  accumulates = true,
  besideStatement = false,
  description,
  filePattern = null,
  leavesNothingOut = false,
  name,
  numbers = null,
  overridable = "all",
  reader,
  target,
  ...how
}: Definition<Name> & (Fixed | Configured<S, I>)): TableFormat<Name> => {
  const { entity, ratedShape, settings, shape } = settled(how)
  const named = (parts: ReturnType<typeof shape>): Profile => ({
    file: `${name}-{currency}{part}.csv`,
    personalData: true,
    ...parts,
    name,
  })
  const profile = (own: unknown): Profile => named(shape(own))
  const rated =
    ratedShape === undefined || how.rated === undefined
      ? null
      : { profile: (own: unknown) => named(ratedShape(own)), reader: how.rated.reader }
  return {
    kind: "table",
    ...{ name, description, accumulates, leavesNothingOut, besideStatement, target, overridable, reader },
    ...{ numbers, filePattern, accountFiles, settings, profile, rated, entity, template: profile(undefined) },
  }
}
