/**
 * Checks the arguments against the manual before anything is loaded: extracts the global options, wherever they stand, and
 * reports unknown names with the nearest known one.
 */
import { nearest } from "../Settings/Nearest.ts"
import {
  commandNamed,
  type FormManual,
  globalOptions,
  logLevels,
  type Manual,
  type OptionManual,
  syntaxOf,
} from "./Manual.ts"

const levels = ["all", "trace", "debug", "info", "warning", "warn", "error", "fatal", "none"] as const
export type LogLevelName = (typeof levels)[number]

export interface Arguments {
  readonly json: boolean
  readonly config: string | undefined
  readonly logLevel: LogLevelName
  /** The command's name. */
  readonly command: string
  /** The command's own arguments: all that follow its name. */
  readonly own: ReadonlyArray<string>
}

/** Wrong usage; the message is for the person. */
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

/** The mistake in one option, if any. `next` is the argument after it. */
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
    return `The option ${flag} needs a value: ${syntaxOf(declared)}.`
  }
  // One of more digits is no integer to the parser, which says so in words of its own.
  if (declared.kind === "whole number" && !/^-?\d{1,15}$/.test(value)) {
    return `${flag}: found ${JSON.stringify(value)}, expected a whole number.`
  }
  return declared.kind === "choice" && !declared.values.includes(value)
    ? `${flag}: found ${JSON.stringify(value)}, expected one of ${declared.values.join(", ")}.`
    : undefined
}

/** A flag may be followed by its value: `--full true`. */
const isSwitch = (text: string | undefined): boolean =>
  /^(?:true|1|y|yes|on|false|0|n|no|off)$/.test(text ?? "")

/** Splits options from other arguments, as far as that is possible without parsing. */
const sorted = (own: ReadonlyArray<string>, options: ReadonlyArray<OptionManual>) => {
  const given: Array<{ readonly arg: string; readonly next: string | undefined }> = []
  const words: Array<string> = []
  for (let index = 0; index < own.length; index++) {
    const arg = own[index] ?? ""
    if (arg === "--") return { given, words: [...words, ...own.slice(index + 1)] }
    if (!/^--?[a-zA-Z]/.test(arg)) words.push(arg)
    else {
      const declared = options.find(({ flag }) => flag === arg)
      given.push({ arg, next: own[index + 1] })
      if (declared !== undefined && (declared.kind !== "flag" || isSwitch(own[index + 1]))) index += 1
    }
  }
  return { given, words }
}

/** The mistake in a command's own arguments, if any. */
const ownMistake = (form: FormManual, own: ReadonlyArray<string>): string | undefined => {
  const options = [...form.options, ...globalOptions]
  const { given, words } = sorted(own, options)
  for (const { arg, next } of given) {
    const mistake = optionMistake(options, arg, next)
    if (mistake !== undefined) return mistake
  }
  const flags = given.map(({ arg }) => arg.split("=")[0])
  const twice = options.find(
    ({ flag, kind, repeated }) =>
      !repeated && kind !== "flag" && flags.filter((one) => one === flag).length > 1,
  )
  if (twice !== undefined) return `${twice.flag} is given twice.`
  const lacking = options.find(({ flag, required }) => required && !flags.includes(flag))
  if (lacking !== undefined) return `${lacking.flag} is missing.`
  // `tieout backup "$FILE"` without such a variable.
  const empty = words.findIndex((word) => word.trim() === "")
  const named = form.arguments[empty] ?? form.arguments.at(-1)
  if (empty !== -1 && named !== undefined) return `${named.placeholder} is empty.`
  for (const [index, { placeholder, required, values }] of form.arguments.entries()) {
    const word = words[index]
    if (word === undefined && required) return `${placeholder} is missing.`
    if (word !== undefined && values.length > 0 && !values.includes(word)) {
      return `${placeholder}: found ${JSON.stringify(word)}, expected one of ${values.join(", ")}.`
    }
  }
  const surplus = form.arguments.some(({ repeated }) => repeated) ? undefined : words[form.arguments.length]
  return surplus === undefined ? undefined : `There is one argument too many: ${surplus}`
}

/** The command itself checks the rest: options that exclude each other. */
const usageMistake = (
  manual: Manual,
  name: string,
  own: ReadonlyArray<string>,
): ArgumentMistake | undefined => {
  const command = commandNamed(manual, name)
  // What `help` is asked of is no command: else there would be its help.
  if (name === "help" && own[0] !== undefined) return usageMistake(manual, own[0], [])
  if (command === undefined) {
    const known = manual.map((one) => one.name)
    return new ArgumentMistake(`There is no command ${name}.${meant(name, known)}`)
  }
  const refused = (detail: string | undefined) =>
    detail === undefined ? undefined : new ArgumentMistake(detail, name)
  if (command.subcommands.length === 0) return refused(ownMistake(command, own))
  const [first, ...rest] = own
  const subcommand = command.subcommands.find((one) => one.name === first)
  if (subcommand !== undefined) return refused(ownMistake(subcommand, rest))
  const known = command.subcommands.map((one) => one.name)
  return refused(
    first === undefined || first.startsWith("-")
      ? `The command ${name} needs one of these after it: ${known.join(", ")}.`
      : `There is no command ${name} ${first}; there are ${known.join(", ")}.${meant(first, known)}`,
  )
}

/** Splits global options from the command's own arguments. `variables` may name the log level; the option overrides it. */
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
      if (values.has(flag)) return new ArgumentMistake(`${flag} is given twice.`)
      values.set(flag, value)
    } else rest.push(arg)
  }
  const level = values.get("--log-level") ?? (variables.TIEOUT_LOG_LEVEL || "info")
  const logLevel = levels.find((one) => one === level.toLowerCase())
  if (logLevel === undefined) {
    return new ArgumentMistake(`The log level ${JSON.stringify(level)} is not known; expected ${logLevels}.`)
  }
  const log = variables.TIEOUT_LOG ?? ""
  if (!["", "json", "line"].includes(log)) {
    return new ArgumentMistake(`TIEOUT_LOG: found ${JSON.stringify(log)}, expected json or line.`)
  }
  const [command, ...own] = rest
  if (command === undefined) return new ArgumentMistake("No command is given.")
  return (
    usageMistake(manual, command, own) ?? { json, config: values.get("--config"), logLevel, command, own }
  )
}
