/** `--help`: from the manual to text. Loads nothing of the product but a command's own list, so that it is there at once. */
import { type CommandManual, commands, exitCodeTexts, globalOptions, variableTexts } from "./Manual.ts"

const rows = (pairs: ReadonlyArray<readonly [string, string]>): ReadonlyArray<string> => {
  const width = Math.max(...pairs.map(([left]) => left.length))
  return pairs.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}

const block = (title: string, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.length === 0 ? [] : ["", title, ...lines]

const manuals: ReadonlyArray<readonly [string, CommandManual]> = Object.entries(commands)

/** What `tieout --help` prints. */
export const overview = (): string =>
  [
    "Tieout reads a partner's money movements, books them in double entry, proves the books against the",
    "balances that the service itself reports, and exports what accountants import.",
    ...block("Usage:", ["  tieout <command> [options]", "  tieout <command> --help"]),
    ...block("Commands:", rows(manuals.map(([name, { summary }]) => [name, summary]))),
    ...block("Options of every command:", rows(Object.entries(globalOptions))),
    ...block("Examples:", [
      "  tieout demo                                             see it work, on made-up data",
      "  tieout sync && tieout reconcile                         a nightly job",
      "  tieout export --format journal,hledger --period 2026-10 October as files",
    ]),
    ...block("Environment:", [
      ...rows(variableTexts),
      "  Every setting is a variable too: accounting.timeZone is TIEOUT_ACCOUNTING_TIME_ZONE.",
    ]),
    ...block("Exit codes:", rows(exitCodeTexts)),
  ].join("\n")

const commandHelp = async (manual: CommandManual): Promise<string> =>
  [
    manual.summary,
    ...block("Usage:", [`  ${manual.usage}`]),
    ...block("", manual.about).slice(1),
    ...(manual.list === undefined ? [] : block(manual.list.title, rows(await manual.list.rows()))),
    ...block(
      "Options:",
      Object.keys(manual.options).length === 0 ? [] : rows(Object.entries(manual.options)),
    ),
    ...block("Options of every command:", rows(Object.entries(globalOptions))),
    ...block(
      "Examples:",
      manual.examples.map(([command, what]) => `  ${command}\n      ${what}`),
    ),
    ...block("Exit codes:", rows(exitCodeTexts)),
  ].join("\n")

const manualOf = (name: string | undefined): CommandManual | undefined =>
  manuals.find(([known]) => known === name)?.[1]

/** The help that the arguments ask for, if they do: `--help` anywhere, `-h`, or `help [command]`. */
export const helpFor = async (args: ReadonlyArray<string>): Promise<string | undefined> => {
  const end = args.indexOf("--")
  const own = end < 0 ? args : args.slice(0, end)
  const asked = own.includes("--help") || own.includes("-h") || own[0] === "help"
  if (!asked) return undefined
  const manual = manualOf(own.find((arg) => manualOf(arg) !== undefined))
  return manual === undefined ? overview() : commandHelp(manual)
}
