/** `--help`: the manual as text. Loads nothing else, so that it answers at once. */
import { exitCodeRows } from "./ExitCode.ts"
import {
  type CommandManual,
  commandNamed,
  globalOptions,
  type Manual,
  type OptionManual,
  optionsOf,
  sentenceOf,
  syntaxOf,
  variableTexts,
} from "./Manual.ts"

const rows = (pairs: ReadonlyArray<readonly [string, string]>): ReadonlyArray<string> => {
  const width = Math.max(...pairs.map(([left]) => left.length))
  return pairs.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}

const block = (title: string, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.length === 0 ? [] : ["", title, ...lines]

const optionRows = (options: ReadonlyArray<OptionManual>): ReadonlyArray<string> =>
  options.length === 0 ? [] : rows(options.map((option) => [syntaxOf(option), sentenceOf(option)]))

/** What `tieout --help` prints. */
export const overview = (manual: Manual): string =>
  [
    "Tieout reads a partner's money movements, books them in double entry, proves the books against the",
    "balances that the service itself reports, and exports what accountants import.",
    ...block("Usage:", ["  tieout <command> [options]", "  tieout <command> --help"]),
    ...block("Commands:", rows(manual.map(({ name, summary }) => [name, summary]))),
    ...block("Options of every command:", optionRows(globalOptions)),
    ...block("Examples:", [
      "  tieout demo                                              see it work, on made-up data",
      "  tieout sync && tieout reconcile                          a nightly job",
      "  tieout export --format journal,hledger --period 2026-10  October as files",
    ]),
    ...block("Environment:", [
      ...rows(variableTexts),
      "  Every setting is a variable too: accounting.timeZone is TIEOUT_ACCOUNTING_TIME_ZONE.",
    ]),
    ...block("Exit codes:", rows(exitCodeRows())),
  ].join("\n")

const commandHelp = (command: CommandManual): string =>
  [
    command.summary,
    ...block("Usage:", [`  ${command.usage}`]),
    "",
    ...command.about,
    ...(command.list === null ? [] : block(command.list.title, rows(command.list.rows))),
    ...block("Options:", optionRows(optionsOf(command))),
    ...block("Options of every command:", optionRows(globalOptions)),
    ...block(
      "Examples:",
      command.examples.map(([example, what]) => `  ${example}\n      ${what}`),
    ),
    ...block("Exit codes:", rows(command.exitCodes)),
  ].join("\n")

/** The help that the arguments ask for, if any: `--help` anywhere, `-h`, or `help [command]`. None of a command that is not there. */
export const helpFor = (args: ReadonlyArray<string>, manual: Manual): string | undefined => {
  const end = args.indexOf("--")
  const own = end < 0 ? args : args.slice(0, end)
  const asked = own.includes("--help") || own.includes("-h") || own[0] === "help"
  if (!asked) return undefined
  const name = own.find((arg) => commandNamed(manual, arg) !== undefined)
  const command = commandNamed(manual, name)
  if (command !== undefined) return commandHelp(command)
  const wanted = own[0] === "help" ? own[1] : own[0]
  return wanted === undefined || wanted.startsWith("-") ? overview(manual) : undefined
}
