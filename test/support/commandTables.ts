/**
 * `npm run tables`: writes the rows of the tables of commands and of exit codes in the documents anew, from the commands'
 * records. Which commands stand in which table, and in what order, is the document's.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { readManual } from "../../src/Cli/Commands.ts"
import { exitCodeRows } from "../../src/Cli/ExitCode.ts"
import { commandNamed, type Manual } from "../../src/Cli/Manual.ts"

export const commandDocuments = ["README.md", "docs/commands.md"]

type Row = readonly [string, string]

const cell = (text: string): string => text.replaceAll("|", "\\|")
const lowered = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1).replace(/\.$/, "")

const aligned = ([head, ...rows]: ReadonlyArray<Row>): string => {
  const all = head === undefined ? [] : [head, ...rows]
  const [left = 0, right = 0] = [0, 1].map((at) => Math.max(...all.map((row) => [...(row[at] ?? "")].length)))
  const line = ([first, second]: Row) => `| ${first.padEnd(left)} | ${second.padEnd(right)} |`
  const rule = `| ${"-".repeat(left)} | ${"-".repeat(right)} |`
  return [...(head === undefined ? [] : [line(head), rule]), ...rows.map(line)].join("\n")
}

/** `sync` and its options in the list of commands, `tieout sync` alone where a table is a first look. */
const commandRow = (manual: Manual, first: string): Row => {
  const [, brief, name] = /^`(tieout )?([a-z]+)/.exec(first) ?? []
  const command = commandNamed(manual, name)
  if (command === undefined) throw new Error(`${first} is no command`)
  const text = brief === undefined ? command.usage.replace(/^tieout /, "") : `tieout ${name}`
  return [`\`${cell(text)}\``, lowered(command.summary)]
}

/** The document with the tables as the manual has them. */
export const withCommandTables = (text: string, manual: Manual): string =>
  text
    .replaceAll(/^\| command +\| what it does +\|\n\| -+ \| -+ \|\n((?:\|.*\n)+)/gm, (_, rows: string) => {
      const firsts = rows
        .trim()
        .split("\n")
        .map((row) => row.slice(2))
      return `${aligned([["command", "what it does"], ...firsts.map((first) => commandRow(manual, first))])}\n`
    })
    .replaceAll(
      /^\| exit code +\| what it means +\|\n\| -+ \| -+ \|\n(?:\|.*\n)+/gm,
      () => `${aligned([["exit code", "what it means"], ...exitCodeRows()])}\n`,
    )

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const manual = await readManual()
  for (const file of commandDocuments) {
    writeFileSync(file, withCommandTables(readFileSync(file, "utf8"), manual))
  }
}
