import { readFileSync } from "node:fs"
import { stripVTControlCharacters } from "node:util"
import { CliConfig, Command, HelpDoc } from "@effect/cli"
import { HashSet } from "effect"
import { describe, expect, it } from "vitest"
import { readArguments } from "../../src/Cli/Arguments.ts"
import { accounts } from "../../src/Cli/Commands/AccountsCommand.ts"
import { backfill } from "../../src/Cli/Commands/BackfillCommand.ts"
import { balance } from "../../src/Cli/Commands/BalanceCommand.ts"
import { batches } from "../../src/Cli/Commands/BatchesCommand.ts"
import { close } from "../../src/Cli/Commands/CloseCommand.ts"
import { demo } from "../../src/Cli/Commands/DemoCommand.ts"
import { doctor } from "../../src/Cli/Commands/DoctorCommand.ts"
import { explain } from "../../src/Cli/Commands/ExplainCommand.ts"
import { exportCommand } from "../../src/Cli/Commands/ExportCommand.ts"
import { init } from "../../src/Cli/Commands/InitCommand.ts"
import { items } from "../../src/Cli/Commands/ItemsCommand.ts"
import { migrate } from "../../src/Cli/Commands/MigrateCommand.ts"
import { quarantine } from "../../src/Cli/Commands/QuarantineCommand.ts"
import { rates } from "../../src/Cli/Commands/RatesCommand.ts"
import { reclassify } from "../../src/Cli/Commands/ReclassifyCommand.ts"
import { reconcile } from "../../src/Cli/Commands/ReconcileCommand.ts"
import { register } from "../../src/Cli/Commands/RegisterCommand.ts"
import { reopen } from "../../src/Cli/Commands/ReopenCommand.ts"
import { report } from "../../src/Cli/Commands/ReportCommand.ts"
import { sandbox } from "../../src/Cli/Commands/SandboxCommand.ts"
import { serve } from "../../src/Cli/Commands/ServeCommand.ts"
import { status } from "../../src/Cli/Commands/StatusCommand.ts"
import { sync } from "../../src/Cli/Commands/SyncCommand.ts"
import { verify } from "../../src/Cli/Commands/VerifyCommand.ts"
import { webhook } from "../../src/Cli/Commands/WebhookCommand.ts"
import { completions } from "../../src/Cli/Completions.ts"
import { helpFor, overview } from "../../src/Cli/Help.ts"
import { type CommandManual, commands, globalOptions } from "../../src/Cli/Manual.ts"
import { firstArguments, optionValues } from "../../src/Cli/Values.ts"
import { formatNames, formats } from "../../src/Format/Formats.ts"
import { readFaults } from "../../src/Sandbox/Http/FaultPlan.ts"
import { wireNamed } from "../../src/Sandbox/Http/WireNames.ts"
import { signingAlgorithms } from "../../src/Sandbox/Webhook/Keys.ts"

const config = CliConfig.make({ ...CliConfig.defaultConfig, showBuiltIns: false })
const flags = (text: string): ReadonlyArray<string> =>
  [...new Set(text.match(/--[a-z][a-z-]*/g) ?? [])].sort()
const read = <Name extends string, R, E, A>(command: Command.Command<Name, R, E, A>) => ({
  text: stripVTControlCharacters(HelpDoc.toAnsiText(Command.getHelp(command, config))),
  // A command without any is its own.
  subcommands: [...Command.getSubcommands(command)]
    .map(([name]) => name)
    .filter((name) => !HashSet.has(Command.getNames(command), name))
    .sort(),
})
const parsed = {
  rates: read(rates),
  accounts: read(accounts),
  balance: read(balance),
  items: read(items),
  register: read(register),
  backfill: read(backfill),
  batches: read(batches),
  init: read(init),
  doctor: read(doctor),
  migrate: read(migrate),
  sync: read(sync),
  status: read(status),
  reconcile: read(reconcile),
  quarantine: read(quarantine),
  reclassify: read(reclassify),
  close: read(close),
  reopen: read(reopen),
  report: read(report),
  export: read(exportCommand),
  explain: read(explain),
  verify: read(verify),
  serve: read(serve),
  webhook: read(webhook),
  sandbox: read(sandbox),
  demo: read(demo),
  completions: read(completions),
}

const manuals: ReadonlyArray<readonly [string, CommandManual]> = Object.entries(commands)

describe("the manual", () => {
  it("has every command that there is", () => {
    expect(Object.keys(commands).sort()).toEqual(Object.keys(parsed).sort())
  })

  it.each(manuals)("has the options of %s, all and no others", (name, manual) => {
    const text = Object.entries(parsed).find(([command]) => command === name)?.[1].text ?? ""
    expect(flags(Object.keys(manual.options).join(" "))).toEqual(flags(text))
    expect(flags(manual.usage)).toEqual(flags(text))
  })
})

describe("the values that completions propose", () => {
  it.each(Object.entries(parsed))("are the subcommands of %s", (name, { subcommands }) => {
    const proposed = name === "completions" ? [] : (firstArguments[name] ?? [])
    expect([...proposed].sort()).toEqual(subcommands)
  })

  it("are those of every option and argument that is a choice", () => {
    const choices = Object.values(parsed).flatMap(({ text }) => [
      ...text.matchAll(/(--[a-z-]+) ((?:[\w-]+ \| )+[\w-]+)/g),
    ])
    expect(new Set(choices.map(([, option]) => option))).toEqual(new Set(["--mode", "--state", "--surface"]))
    for (const [, option = "", values = ""] of choices) {
      expect(optionValues[option]).toEqual(values.split(" | "))
    }
    expect(parsed.completions.text).toContain(
      `One of the following: ${firstArguments.completions?.join(", ")}`,
    )
  })

  it("are those of the options that are checked elsewhere", () => {
    expect(optionValues["--format"]).toEqual(formatNames)
    expect(optionValues["--webhook-algorithm"]).toEqual(signingAlgorithms)
    for (const name of optionValues["--names"] ?? []) expect(wireNamed(name)).toBeTypeOf("object")
    for (const name of optionValues["--faults"] ?? []) expect(readFaults(name)).toBeTypeOf("object")
    for (const name of optionValues["--log-level"] ?? []) {
      expect(readArguments(["sync", "--log-level", name], {})).toMatchObject({ _tag: "Right" })
    }
  })

  it("belong to options that there are, each of one kind", () => {
    const all = [globalOptions, ...manuals.map(([, { options }]) => options)].flatMap(Object.keys)
    const kinds = (flag: string) =>
      new Set(all.filter((option) => option.split(" ")[0] === flag).map((option) => option.includes(" ")))
    for (const flag of Object.keys(optionValues)) expect(kinds(flag)).toEqual(new Set([true]))
    // The shells tell by an option alone whether a value follows it.
    for (const option of all) expect(kinds(option.split(" ")[0] ?? "").size).toBe(1)
  })
})

describe("the tables of commands in docs/commands.md", () => {
  const rows = new Map(
    [...readFileSync("docs/commands.md", "utf8").matchAll(/^\| `([a-z]+)((?: [^`]*)?)` +\|/gm)].map(
      ([, name = "", rest = ""]) => [name, `tieout ${name}${rest}`.replaceAll("\\|", "|")] as const,
    ),
  )

  it.each(manuals)("has %s as its help has it", (name, { usage }) => {
    const row = rows.get(name) ?? ""
    const begins = row.replace(/ …$/, "")
    expect(row).not.toBe("")
    // One that ends in an ellipsis leaves options out; what it has is in the help.
    if (begins === row) expect(row).toBe(usage)
    else expect(usage.split(" ")).toEqual(expect.arrayContaining(begins.split(" ")))
  })
})

describe("--help", () => {
  it("is asked for anywhere before a double dash", async () => {
    expect(await helpFor(["--help"])).toBe(overview())
    expect(await helpFor(["help"])).toBe(overview())
    expect(await helpFor(["sync", "--full", "-h"])).toBe(await helpFor(["help", "sync"]))
    expect(await helpFor(["explain", "--", "--help"])).toBeUndefined()
    expect(await helpFor(["sync"])).toBeUndefined()
  })

  it.each(manuals)("of %s shows usage, examples and exit codes", async (name, manual) => {
    const text = (await helpFor([name, "--help"])) ?? ""
    expect(text).toContain(manual.usage)
    expect(text).toContain(manual.examples[0]?.[0])
    expect(text).toContain("75  stopped early; run it again to go on")
  })

  it("of export describes every format", async () => {
    const text = (await helpFor(["export", "--help"])) ?? ""
    const listed = (text.split("\nFormats:\n")[1] ?? "").split("\n\n", 1)[0] ?? ""
    expect(listed.split("\n").map((line) => line.trim().split(/ {2,}/))).toEqual(
      formats.map(({ description, name }) => [name, description]),
    )
  })
})
