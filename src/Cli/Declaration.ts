/**
 * Declares a command as one record, from which its parser (`@effect/cli`) and its part of the manual follow. An option or an
 * argument is the library's own with its manual entry attached.
 */
import { Args, type CliApp, Command, Options } from "@effect/cli"
import { Context, Effect, type Option, type Types } from "effect"
import { type ExitName, exitCodeRows } from "./ExitCode.ts"
import {
  type ArgumentManual,
  type CommandManual,
  type FormManual,
  type Manual,
  type OptionManual,
  syntaxOf,
} from "./Manual.ts"
import type { Output } from "./Output.ts"

type Flag<A> = Options.Options<A> & { readonly manual: OptionManual }
type Argument<A> = Args.Args<A> & { readonly manual: ArgumentManual }

/** Adds a manual entry to a parser that was just created. */
const withManual = <Parser extends object, M>(parser: Parser, manual: M): Parser & { readonly manual: M } =>
  Object.assign(parser, { manual })

const optionManual = (
  kind: OptionManual["kind"],
  name: string,
  placeholder: string,
  what: string,
  values: ReadonlyArray<string> = [],
): OptionManual => ({
  kind,
  flag: `--${name}`,
  ...{ placeholder, values, what },
  ...(kind === "flag"
    ? { note: "", required: false, repeated: false }
    : { note: "required", required: true, repeated: false }),
})

/** `a, b or c` */
export const oneOf = (values: ReadonlyArray<string>): string =>
  [values.slice(0, -1).join(", "), ...values.slice(-1)].filter((part) => part !== "").join(" or ")

/** `--name`: given or not. */
export const flag = (name: string, what: string): Flag<boolean> =>
  withManual(Options.boolean(name), optionManual("flag", name, "", what))

/** `--name VALUE`; `values` are the known ones, for completions. */
export const text = (
  name: string,
  placeholder: string,
  what: string,
  values?: ReadonlyArray<string>,
): Flag<string> => withManual(Options.text(name), optionManual("text", name, placeholder, what, values))

/** `--name VALUE[,VALUE…]`, unparsed. */
export const list = (
  name: string,
  placeholder: string,
  what: string,
  values: ReadonlyArray<string>,
): Flag<string> =>
  withManual(Options.text(name), optionManual("list", name, `${placeholder}[,${placeholder}…]`, what, values))

export const wholeNumber = (name: string, placeholder: string, what: string): Flag<number> =>
  withManual(Options.integer(name), optionManual("whole number", name, placeholder, what))

/** `--name VALUE` with one of the given values. */
export const choice = <const Values extends ReadonlyArray<string>>(
  name: string,
  placeholder: string,
  what: string,
  values: Values,
): Flag<Values[number]> =>
  withManual(Options.choice(name, values), optionManual("choice", name, placeholder, what, values))

/** `otherwise` describes the default. */
export const optional = <A>(option: Flag<A>, otherwise?: string): Flag<Option.Option<A>> =>
  withManual(Options.optional(option), {
    ...option.manual,
    note: otherwise === undefined ? "" : `default: ${otherwise}`,
    required: false,
  })

export const withDefault = <A extends string | number>(option: Flag<A>, value: A): Flag<A> =>
  withManual(Options.withDefault(option, value), {
    ...option.manual,
    note: `default: ${value}`,
    required: false,
  })

/** Any number of times, none included. */
export const repeated = <A>(option: Flag<A>): Flag<ReadonlyArray<A>> =>
  withManual(Options.repeated(option), { ...option.manual, note: "", required: false, repeated: true })

const argumentManual = (placeholder: string, how: Partial<ArgumentManual> = {}): ArgumentManual => ({
  kind: "argument",
  placeholder,
  ...{ values: [], required: true, repeated: false },
  ...how,
})

/** Positional arguments. */
export const argument = {
  text: (placeholder: string): Argument<string> =>
    withManual(Args.text({ name: placeholder }), argumentManual(placeholder)),
  optional: (placeholder: string): Argument<Option.Option<string>> =>
    withManual(
      Args.optional(Args.text({ name: placeholder })),
      argumentManual(placeholder, { required: false }),
    ),
  repeated: (placeholder: string): Argument<ReadonlyArray<string>> =>
    withManual(
      Args.repeated(Args.text({ name: placeholder })),
      argumentManual(placeholder, { required: false, repeated: true }),
    ),
  choice: <const Value extends string>(placeholder: string, values: ReadonlyArray<Value>): Argument<Value> =>
    withManual(
      Args.choice(
        values.map((value) => [value, value] as const),
        { name: placeholder },
      ),
      argumentManual(placeholder, { values }),
    ),
}

type Takes = Command.Command.Config &
  Readonly<Record<string, { readonly manual: OptionManual | ArgumentManual }>>

/** The parsed values. */
type Taken<T extends Takes> = Types.Simplify<Command.Command.ParseConfig<T>>

interface Form<T extends Takes> {
  readonly name: string
  /** What it takes, in the order of the usage line and the help. */
  readonly takes: T
  /** Replaces the usage line that follows from `takes`, where options exclude each other; without the name. */
  readonly usage?: string
}

interface Words {
  readonly summary: string
  readonly about: ReadonlyArray<string>
  readonly examples: ReadonlyArray<readonly [command: string, what: string]>
  /** Further exit codes beside done, failed, usage and resumable, and special meanings of these. */
  readonly exits?: Partial<Record<ExitName, string>>
  /** A list for the command's help, such as the formats. */
  readonly list?: CommandManual["list"]
}

const argumentUsage = ({ placeholder, repeated: many, required }: ArgumentManual): string =>
  required ? placeholder : many ? `[${placeholder} …]` : `[${placeholder}]`

const optionUsage = (option: OptionManual): string =>
  option.required ? syntaxOf(option) : `[${syntaxOf(option)}]${option.repeated ? "…" : ""}`

const formManual = <T extends Takes>({ name, takes, usage }: Form<T>): FormManual => {
  const all = Object.values<Takes[string]>(takes).map(({ manual }) => manual)
  const options = all.filter((one) => one.kind !== "argument")
  const own = all.filter((one) => one.kind === "argument")
  const parts = usage === undefined ? [...own.map(argumentUsage), ...options.map(optionUsage)] : [usage]
  return { name, options, arguments: own, usage: [name, ...parts].join(" ") }
}

/** The exit codes of every command. */
const always: ReadonlyArray<ExitName> = ["done", "failed", "usage", "resumable"]

const manualOf = (
  form: FormManual,
  subcommands: ReadonlyArray<FormManual>,
  { about, examples, exits = {}, list: rows = null, summary }: Words,
): CommandManual => ({
  ...form,
  ...{ usage: `tieout ${form.usage}`, subcommands, summary, about, examples, list: rows },
  exitCodes: exitCodeRows(exits, always),
})

/** The manual of all commands, for the completions. */
export class WholeManual extends Context.Tag("tieout/Cli/WholeManual")<WholeManual, Manual>() {}

/** The environment of every command. */
export type CommandEnvironment = Output | WholeManual | CliApp.CliApp.Environment

/** Runs the command with what follows its name. */
type Run = (args: ReadonlyArray<string>) => Effect.Effect<void, unknown, CommandEnvironment>

interface SubcommandRecord {
  readonly manual: FormManual
  readonly run: Run
}

/** A command of any arguments. */
export interface CommandRecord {
  readonly manual: CommandManual
  readonly run: Run
}

const runOf = <T extends Takes, R, E>(
  { name, takes }: Form<T>,
  handler: (taken: Taken<T>) => Effect.Effect<void, E, R>,
) => {
  const run = Command.run(Command.make(name, takes, handler), { name, version: "" })
  return (args: ReadonlyArray<string>) => run(["node", name, ...args])
}

/** A command without subcommands. */
export const command = <T extends Takes, R, E>(
  declared: Form<T> & Words,
  handler: (taken: Taken<T>) => Effect.Effect<void, E, R>,
) => ({ manual: manualOf(formManual(declared), [], declared), run: runOf(declared, handler) })

/** A subcommand. */
export const subcommand = <T extends Takes, R, E>(
  declared: Form<T>,
  handler: (taken: Taken<T>) => Effect.Effect<void, E, R>,
) => ({ manual: formManual(declared), run: runOf(declared, handler) })

/** A command with subcommands. `Arguments.ts` has checked that one of them is named. */
export const group = (
  declared: { readonly name: string } & Words,
  subcommands: ReadonlyArray<SubcommandRecord>,
): CommandRecord => {
  const { name } = declared
  const forms = subcommands.map(({ manual }) => manual)
  const usage = `${name} (${forms.map((form) => form.usage).join(" | ")})`
  return {
    manual: manualOf({ name, usage, options: [], arguments: [] }, forms, declared),
    run: ([asked, ...args]) =>
      subcommands.find(({ manual }) => manual.name === asked)?.run(args) ??
      Effect.dieMessage(`tieout ${name} has no ${asked}`),
  }
}
