/** The proposals of a shell: the manual's commands and options, and their known values. */
import { globalOptions, type Manual, type OptionManual, optionsOf, sentenceOf } from "../Manual.ts"

export interface ProposedOption {
  readonly flag: string
  readonly takesValue: boolean
  /** Empty if they are not known. */
  readonly values: ReadonlyArray<string>
  /** Whether it takes several values, separated by commas. */
  readonly several: boolean
  readonly what: string
}

interface ProposedCommand {
  readonly name: string
  readonly summary: string
  readonly options: ReadonlyArray<ProposedOption>
  /** The words that can follow it, subcommands or an argument's values; empty if they are not known. */
  readonly first: ReadonlyArray<string>
}

export interface Proposals {
  readonly commands: ReadonlyArray<ProposedCommand>
  readonly commonOptions: ReadonlyArray<ProposedOption>
  /** Every option that takes a value, once. */
  readonly valueOptions: ReadonlyArray<ProposedOption>
}

const proposed = (option: OptionManual): ProposedOption => ({
  flag: option.flag,
  takesValue: option.kind !== "flag",
  values: option.values,
  several: option.kind === "list",
  what: sentenceOf(option),
})

export const proposalsOf = (manual: Manual): Proposals => {
  const commonOptions = globalOptions.map(proposed)
  const commands = manual.map((command) => ({
    name: command.name,
    summary: command.summary,
    options: optionsOf(command).map(proposed),
    first: command.subcommands.map(({ name }) => name).concat(command.arguments[0]?.values ?? []),
  }))
  const byFlag = new Map(
    [...commonOptions, ...commands.flatMap(({ options }) => options)]
      .filter(({ takesValue }) => takesValue)
      .map((option) => [option.flag, option] as const),
  )
  return { commands, commonOptions, valueOptions: [...byFlag.values()] }
}

export const flagsOf = (options: ReadonlyArray<ProposedOption>): string =>
  options.map(({ flag }) => flag).join(" ")
