/** The options that every command takes, wherever they stand, taken out of the arguments before the commands see them. */
import { Data, Either, LogLevel, Option } from "effect"
import { nearest } from "../Settings/Nearest.ts"
import { type CommandManual, commands, globalOptions } from "./Manual.ts"

export class UsageError extends Data.TaggedError("UsageError")<{
  /** What is wrong with the arguments. */
  readonly detail: string
  readonly advice: string
}> {
  override get message(): string {
    return `${this.detail}\n${this.advice}`
  }
}

export interface Arguments {
  readonly json: boolean
  readonly config: Option.Option<string>
  readonly logLevel: LogLevel.LogLevel
  /** The command and what is its own. */
  readonly rest: ReadonlyArray<string>
}

const levels: Readonly<Record<string, LogLevel.LogLevel>> = {
  all: LogLevel.All,
  trace: LogLevel.Trace,
  debug: LogLevel.Debug,
  info: LogLevel.Info,
  warning: LogLevel.Warning,
  warn: LogLevel.Warning,
  error: LogLevel.Error,
  fatal: LogLevel.Fatal,
  none: LogLevel.None,
}

const usage = (detail: string, command?: string) =>
  Either.left(
    new UsageError({
      detail,
      advice: `Run tieout ${command === undefined ? "" : `${command} `}--help to see what it takes.`,
    }),
  )

const manuals: ReadonlyArray<readonly [string, CommandManual]> = Object.entries(commands)

/** What is wrong with one option, if something is. `next` is the argument after it. */
const optionMistake = (
  options: Readonly<Record<string, string>>,
  arg: string,
  next: string | undefined,
): string | undefined => {
  const [flag = arg, inline] = arg.split("=")
  const declared = Object.keys(options).find((option) => option.split(" ")[0] === flag)
  if (declared === undefined) {
    const near = nearest(
      flag,
      Object.keys(options).map((option) => option.split(" ")[0] ?? option),
    )
    return `There is no option ${flag}.${near === undefined ? "" : ` Did you mean ${near}?`}`
  }
  const placeholder = declared.split(" ")[1]
  const value = inline ?? next
  if (placeholder === undefined) return undefined
  if (value === undefined || value === "" || (inline === undefined && value.startsWith("--"))) {
    return `The option ${flag} needs a value: ${declared}.`
  }
  return placeholder === "N" && !/^-?\d+$/.test(value)
    ? `${flag}: found ${JSON.stringify(value)}, expected a whole number.`
    : undefined
}

/** The parser of the commands names the wrong argument in these cases, or none; nothing else is checked twice. */
const checkNames = (rest: ReadonlyArray<string>): Either.Either<void, UsageError> => {
  const [name, ...own] = rest
  const manual = manuals.find(([known]) => known === name)?.[1]
  if (name === undefined) return usage("No command is given.")
  if (manual === undefined) {
    const near = nearest(
      name,
      manuals.map(([known]) => known),
    )
    return usage(`There is no command ${name}.${near === undefined ? "" : ` Did you mean ${near}?`}`)
  }
  const end = own.indexOf("--")
  for (const [index, arg] of own.slice(0, end < 0 ? own.length : end).entries()) {
    if (!/^--?[a-zA-Z]/.test(arg)) continue
    const mistake = optionMistake({ ...manual.options, ...globalOptions }, arg, own[index + 1])
    if (mistake !== undefined) return usage(mistake, name)
  }
  return Either.void
}

const levelOf = (text: string): Either.Either<LogLevel.LogLevel, UsageError> => {
  const level = levels[text.toLowerCase()]
  if (level !== undefined) return Either.right(level)
  return usage(
    `The log level ${JSON.stringify(text)} is not known; expected one of ${Object.keys(levels).join(", ")}.`,
  )
}

/** Splits what is common from what is the command's own. `variables` may name the log level too; the option beats it. */
export const readArguments = (
  args: ReadonlyArray<string>,
  variables: Readonly<Record<string, string | undefined>>,
): Either.Either<Arguments, UsageError> => {
  const rest: Array<string> = []
  const values = new Map<string, string>()
  let json = false
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? ""
    if (arg === "--") {
      rest.push(...args.slice(index))
      break
    }
    const [flag = arg, ...inline] = arg.split("=")
    if (arg === "--json") json = true
    else if (flag === "--config" || flag === "--log-level") {
      const value = inline.length > 0 ? inline.join("=") : args[++index]
      if (value === undefined || value === "") return usage(`The option ${flag} needs a value.`)
      values.set(flag, value)
    } else rest.push(arg)
  }
  return Either.gen(function* () {
    const logLevel = yield* levelOf(values.get("--log-level") ?? (variables.TIEOUT_LOG_LEVEL || "info"))
    yield* checkNames(rest)
    return { json, config: Option.fromNullable(values.get("--config")), logLevel, rest }
  })
}
