/** What a shell proposes: the commands and options of the manual, and the values that are known beforehand. */
import { type CommandManual, commands, globalOptions } from "../Manual.ts"
import { firstArguments, optionValues } from "../Values.ts"

export interface ProposedOption {
  readonly flag: string
  readonly takesValue: boolean
  /** Empty where they are not known beforehand. */
  readonly values: ReadonlyArray<string>
  /** Whether it takes several of them, separated by commas. */
  readonly several: boolean
  readonly what: string
}

interface ProposedCommand {
  readonly name: string
  readonly summary: string
  readonly options: ReadonlyArray<ProposedOption>
  /** What can stand right after it; empty where that is not known. */
  readonly first: ReadonlyArray<string>
}

const optionsOf = (options: Readonly<Record<string, string>>): ReadonlyArray<ProposedOption> =>
  Object.entries(options).map(([option, what]) => {
    const [flag = option, value] = option.split(" ")
    return {
      flag,
      takesValue: value !== undefined,
      values: optionValues[flag] ?? [],
      several: value?.endsWith("[,F…]") === true,
      what,
    }
  })

const manuals: ReadonlyArray<readonly [string, CommandManual]> = Object.entries(commands)

export const proposedCommands: ReadonlyArray<ProposedCommand> = manuals.map(([name, manual]) => ({
  name,
  summary: manual.summary,
  options: optionsOf(manual.options),
  first: firstArguments[name] ?? [],
}))

export const commonOptions = optionsOf(globalOptions)

const byFlag = new Map(
  [...commonOptions, ...proposedCommands.flatMap(({ options }) => options)]
    .filter(({ takesValue }) => takesValue)
    .map((option) => [option.flag, option] as const),
)

/** Every option that takes a value, once. */
export const valueOptions: ReadonlyArray<ProposedOption> = [...byFlag.values()]

export const flagsOf = (options: ReadonlyArray<ProposedOption>): string =>
  options.map(({ flag }) => flag).join(" ")
