/**
 * The arguments, checked against the manual before anything is loaded: what every command takes is taken out, wherever it
 * stands, and the names that nothing has are told with the nearest that something has.
 */
import { nearest } from "../Settings/Nearest.ts"
import { commandNamed, globalOptions, type Manual, type OptionManual, written } from "./Manual.ts"

const levels = ["all", "trace", "debug", "info", "warning", "warn", "error", "fatal", "none"] as const
export type LogLevelName = (typeof levels)[number]

export interface Arguments {
  readonly json: boolean
  readonly config: string | undefined
  readonly logLevel: LogLevelName
  /** The command's name. */
  readonly command: string
  /** What is its own: all that follows. */
  readonly own: ReadonlyArray<string>
}

/** Wrong usage; its message is the person's. */
export class ArgumentMistake {
  readonly message: string

  constructor(detail: string, command?: string) {
    this.message = `${detail}\nRun tieout ${command === undefined ? "" : `${command} `}--help to see what it takes.`
  }
}

const meant = (found: string, known: ReadonlyArray<string>): string => {
  const near = nearest(found, known)
  return near === undefined ? "" : ` Did you mean ${near}?`
}

/** What is wrong with one option, if something is. `next` is the argument after it. */
const optionMistake = (
  options: ReadonlyArray<OptionManual>,
  arg: string,
  next: string | undefined,
): string | undefined => {
  const [flag = arg, inline] = arg.split("=")
  const declared = options.find((option) => option.flag === flag)
  if (declared === undefined) {
    return `There is no option ${flag}.${meant(
      flag,
      options.map((option) => option.flag),
    )}`
  }
  if (declared.kind === "flag") return undefined
  const value = inline ?? next
  if (value === undefined || value === "" || (inline === undefined && value.startsWith("--"))) {
    return `The option ${flag} needs a value: ${written(declared)}.`
  }
  return declared.kind === "whole number" && !/^-?\d+$/.test(value)
    ? `${flag}: found ${JSON.stringify(value)}, expected a whole number.`
    : undefined
}

/** The parser of the commands names the wrong argument in these cases, or none; nothing else is checked twice. */
const nameMistake = (
  manual: Manual,
  name: string,
  own: ReadonlyArray<string>,
): ArgumentMistake | undefined => {
  const command = commandNamed(manual, name)
  if (command === undefined) {
    const known = manual.map((one) => one.name)
    return new ArgumentMistake(`There is no command ${name}.${meant(name, known)}`)
  }
  const [first] = own
  const subcommand = command.subcommands.find((one) => one.name === first)
  if (command.subcommands.length > 0 && subcommand === undefined) {
    const known = command.subcommands.map((one) => one.name)
    const expected = `expected one of ${known.join(", ")}`
    return new ArgumentMistake(
      first === undefined || first.startsWith("-")
        ? `What of ${name}? After it, ${expected}.`
        : `There is no command ${name} ${first}; ${expected}.${meant(first, known)}`,
      name,
    )
  }
  const options = [...(subcommand ?? command).options, ...globalOptions]
  const end = own.indexOf("--")
  for (const [index, arg] of own.slice(0, end < 0 ? own.length : end).entries()) {
    if (!/^--?[a-zA-Z]/.test(arg)) continue
    const mistake = optionMistake(options, arg, own[index + 1])
    if (mistake !== undefined) return new ArgumentMistake(mistake, name)
  }
  return undefined
}

/** Splits what is common from what is the command's own. `variables` may name the log level too; the option beats it. */
export const readArguments = (
  args: ReadonlyArray<string>,
  variables: Readonly<Record<string, string | undefined>>,
  manual: Manual,
): Arguments | ArgumentMistake => {
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
      if (value === undefined || value === "") {
        return new ArgumentMistake(`The option ${flag} needs a value.`)
      }
      values.set(flag, value)
    } else rest.push(arg)
  }
  const level = values.get("--log-level") ?? (variables.TIEOUT_LOG_LEVEL || "info")
  const logLevel = levels.find((one) => one === level.toLowerCase())
  if (logLevel === undefined) {
    return new ArgumentMistake(
      `The log level ${JSON.stringify(level)} is not known; expected one of ${levels.join(", ")}.`,
    )
  }
  const [command, ...own] = rest
  if (command === undefined) return new ArgumentMistake("No command is given.")
  return nameMistake(manual, command, own) ?? { json, config: values.get("--config"), logLevel, command, own }
}
