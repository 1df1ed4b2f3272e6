import { CliConfig, Command, HelpDoc } from "@effect/cli"
import { describe, expect, it } from "vitest"
import { accounts } from "../../src/Cli/Accounts.ts"
import { backfill } from "../../src/Cli/Backfill.ts"
import { batches } from "../../src/Cli/Batches.ts"
import { close } from "../../src/Cli/Close.ts"
import { completions } from "../../src/Cli/Completions.ts"
import { demo } from "../../src/Cli/Demo.ts"
import { doctor } from "../../src/Cli/Doctor.ts"
import { explain } from "../../src/Cli/Explain.ts"
import { exportCommand } from "../../src/Cli/Export.ts"
import { helpFor, overview } from "../../src/Cli/Help.ts"
import { init } from "../../src/Cli/Init.ts"
import { type CommandManual, commands } from "../../src/Cli/Manual.ts"
import { migrate } from "../../src/Cli/Migrate.ts"
import { quarantine } from "../../src/Cli/Quarantine.ts"
import { rates } from "../../src/Cli/Rates.ts"
import { reclassify } from "../../src/Cli/Reclassify.ts"
import { reconcile } from "../../src/Cli/Reconcile.ts"
import { reopen } from "../../src/Cli/Reopen.ts"
import { report } from "../../src/Cli/Report.ts"
import { sandbox } from "../../src/Cli/Sandbox.ts"
import { serve } from "../../src/Cli/Serve.ts"
import { status } from "../../src/Cli/Status.ts"
import { sync } from "../../src/Cli/Sync.ts"
import { verify } from "../../src/Cli/Verify.ts"
import { webhook } from "../../src/Cli/Webhook.ts"

const config = CliConfig.make({ ...CliConfig.defaultConfig, showBuiltIns: false })
const flags = (text: string): ReadonlyArray<string> =>
  [...new Set(text.match(/--[a-z][a-z-]*/g) ?? [])].sort()
const parsed = {
  rates: HelpDoc.toAnsiText(Command.getHelp(rates, config)),
  accounts: HelpDoc.toAnsiText(Command.getHelp(accounts, config)),
  backfill: HelpDoc.toAnsiText(Command.getHelp(backfill, config)),
  batches: HelpDoc.toAnsiText(Command.getHelp(batches, config)),
  init: HelpDoc.toAnsiText(Command.getHelp(init, config)),
  doctor: HelpDoc.toAnsiText(Command.getHelp(doctor, config)),
  migrate: HelpDoc.toAnsiText(Command.getHelp(migrate, config)),
  sync: HelpDoc.toAnsiText(Command.getHelp(sync, config)),
  status: HelpDoc.toAnsiText(Command.getHelp(status, config)),
  reconcile: HelpDoc.toAnsiText(Command.getHelp(reconcile, config)),
  quarantine: HelpDoc.toAnsiText(Command.getHelp(quarantine, config)),
  reclassify: HelpDoc.toAnsiText(Command.getHelp(reclassify, config)),
  close: HelpDoc.toAnsiText(Command.getHelp(close, config)),
  reopen: HelpDoc.toAnsiText(Command.getHelp(reopen, config)),
  report: HelpDoc.toAnsiText(Command.getHelp(report, config)),
  export: HelpDoc.toAnsiText(Command.getHelp(exportCommand, config)),
  explain: HelpDoc.toAnsiText(Command.getHelp(explain, config)),
  verify: HelpDoc.toAnsiText(Command.getHelp(verify, config)),
  serve: HelpDoc.toAnsiText(Command.getHelp(serve, config)),
  webhook: HelpDoc.toAnsiText(Command.getHelp(webhook, config)),
  sandbox: HelpDoc.toAnsiText(Command.getHelp(sandbox, config)),
  demo: HelpDoc.toAnsiText(Command.getHelp(demo, config)),
  completions: HelpDoc.toAnsiText(Command.getHelp(completions, config)),
}

const manuals: ReadonlyArray<readonly [string, CommandManual]> = Object.entries(commands)

describe("the manual", () => {
  it("has every command that there is", () => {
    expect(Object.keys(commands).sort()).toEqual(Object.keys(parsed).sort())
  })

  it.each(manuals)("has the options of %s, all and no others", (name, manual) => {
    const [, text] = Object.entries(parsed).find(([command]) => command === name) ?? []
    expect(flags(Object.keys(manual.options).join(" "))).toEqual(flags(text ?? ""))
    expect(flags(manual.usage)).toEqual(flags(text ?? ""))
  })
})

describe("--help", () => {
  it("is asked for anywhere before a double dash", () => {
    expect(helpFor(["--help"])).toBe(overview())
    expect(helpFor(["help"])).toBe(overview())
    expect(helpFor(["sync", "--full", "-h"])).toBe(helpFor(["help", "sync"]))
    expect(helpFor(["explain", "--", "--help"])).toBeUndefined()
    expect(helpFor(["sync"])).toBeUndefined()
  })

  it.each(manuals)("of %s shows usage, examples and exit codes", (name, manual) => {
    const text = helpFor([name, "--help"]) ?? ""
    expect(text).toContain(manual.usage)
    expect(text).toContain(manual.examples[0]?.[0])
    expect(text).toContain("75  stopped early; run it again to go on")
  })
})
