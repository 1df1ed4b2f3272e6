/**
 * The manual: what every command does, as plain data for `--help`, the check of the arguments, the completions and the tables
 * of the documents. It follows from the commands' declarations (`Declaration.ts`); `npm run build` writes it to a file, so
 * that the launcher need not load them.
 */

interface Place {
  /** Its name in usage lines: `NAME`. */
  readonly placeholder: string
  /** The known values; a choice or an argument takes no others. */
  readonly values: ReadonlyArray<string>
  readonly required: boolean
  readonly repeated: boolean
}

export interface OptionManual extends Place {
  readonly kind: "flag" | "text" | "whole number" | "choice" | "list"
  /** `--name` */
  readonly flag: string
  /** Without its full stop. */
  readonly what: string
  /** Its default, or that it is required; empty: neither. */
  readonly note: string
}

export interface ArgumentManual extends Place {
  readonly kind: "argument"
}

/** A command, or one of the subcommands of one. */
export interface FormManual {
  readonly name: string
  /** The usage line, from the command's name. */
  readonly usage: string
  readonly options: ReadonlyArray<OptionManual>
  readonly arguments: ReadonlyArray<ArgumentManual>
}

export interface CommandManual extends FormManual {
  /** Exactly one of them must follow the command's name; empty: it has none. */
  readonly subcommands: ReadonlyArray<FormManual>
  readonly summary: string
  readonly about: ReadonlyArray<string>
  readonly examples: ReadonlyArray<readonly [command: string, what: string]>
  readonly exitCodes: ReadonlyArray<readonly [code: string, what: string]>
  /** A list for the command's help, such as the formats. */
  readonly list: { readonly title: string; readonly rows: ReadonlyArray<readonly [string, string]> } | null
}

/** Every command, in the order of the overview. */
export type Manual = ReadonlyArray<CommandManual>

const option = (flag: string, placeholder: string, what: string, note = ""): OptionManual => ({
  kind: placeholder === "" ? "flag" : "text",
  ...{ flag, placeholder, what, note },
  ...{ values: [], required: false, repeated: false },
})

/** The log levels that are documented. */
export const logLevels = "trace, debug, info, warning, error or none"

/** Options that every command takes, before or after its name. */
export const globalOptions: ReadonlyArray<OptionManual> = [
  option("--json", "", "One JSON document on stdout; the log goes to stderr, as JSON too"),
  option("--config", "FILE", "The settings file; default: the nearest config/tieout.yaml, from here up"),
  {
    ...option("--log-level", "LEVEL", logLevels, "default: info"),
    values: ["trace", "debug", "info", "warning", "error", "none"],
  },
  option("--help", "", "This text, or that of one command"),
  option("--version", "", "The version"),
]

/** Environment variables beside those of the settings. */
export const variableTexts: ReadonlyArray<readonly [name: string, what: string]> = [
  ["TIEOUT_BASE_URL", "the service's base address, ends in /api/v1"],
  ["TIEOUT_CLIENT_ID", "the issued OAuth client identifier"],
  ["TIEOUT_CLIENT_SECRET", "the issued OAuth client secret"],
  ["TIEOUT_SCOPE", "the issued scopes, separated by spaces"],
  ["TIEOUT_<NAME>_…", "the same four for a connection named <name>"],
  ["DATABASE_URL", "a Postgres of your own (15 or later); default: an embedded one"],
  ["DATABASE_URL_FILE", "a file that holds it, for this and every other secret (TIEOUT_CLIENT_SECRET_FILE)"],
  ["TIEOUT_DATA_DIR", "the embedded database's data; default: data in the project"],
  ["TIEOUT_STATUS_TOKEN", "what opens the status page where it is not only on this machine"],
  [
    "TIEOUT_TOKEN_KEY",
    "32 random bytes in base64: workers share the service's token in the database under this key",
  ],
  ["TIEOUT_USER", "who closes, reopens, reclassifies and exports; default: the user of the operating system"],
  ["TIEOUT_CONFIG", "the settings file, as --config"],
  ["TIEOUT_LOG_LEVEL", "as --log-level"],
  ["TIEOUT_LOG", "json: the log as JSON lines; line: as text, also of serve"],
  ["NO_COLOR", "no colours"],
]

export const commandNamed = (manual: Manual, name: string | undefined): CommandManual | undefined =>
  manual.find((command) => command.name === name)

/** `--name VALUE` */
export const syntaxOf = ({ flag, placeholder }: OptionManual): string =>
  placeholder === "" ? flag : `${flag} ${placeholder}`

/** What an option does, as a sentence. */
export const sentenceOf = ({ note, what }: OptionManual): string => {
  if (note === "") return `${what}.`
  return /[.;] /.test(what)
    ? `${what}. ${note.slice(0, 1).toUpperCase()}${note.slice(1)}.`
    : `${what}; ${note}.`
}

const isSame = (one: OptionManual, other: OptionManual): boolean =>
  one.flag === other.flag && one.what === other.what

/** All options of a command; one that only some of its subcommands take says which. */
export const optionsOf = ({ options, subcommands }: CommandManual): ReadonlyArray<OptionManual> => {
  const all = subcommands.flatMap((form) => form.options)
  const distinct = all.filter((one, at) => all.findIndex((other) => isSame(one, other)) === at)
  return [
    ...options,
    ...distinct.map((one) => {
      const takers = subcommands.filter((form) => form.options.some((other) => isSame(one, other)))
      if (takers.length === subcommands.length) return one
      const what = one.what.slice(0, 1).toLowerCase() + one.what.slice(1)
      return { ...one, what: `${takers.map(({ name }) => name).join(", ")}: ${what}` }
    }),
  ]
}
