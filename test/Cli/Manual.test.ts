import { readFileSync } from "node:fs"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { Effect, Either, Layer, Option } from "effect"
import { describe, expect, it } from "vitest"
import { ArgumentMistake, readArguments } from "../../src/Cli/Arguments.ts"
import { commands, readManual } from "../../src/Cli/Commands.ts"
import { WholeManual } from "../../src/Cli/Declaration.ts"
import { helpFor, overview } from "../../src/Cli/Help.ts"
import { globalOptions, optionsOf, syntaxOf } from "../../src/Cli/Manual.ts"
import { makeOutput, Outcome, Output } from "../../src/Cli/Output.ts"
import { formats } from "../../src/Format/Formats.ts"
import { readFaults } from "../../src/Sandbox/Http/FaultPlan.ts"
import { SettingsError, SettingsSource } from "../../src/Settings.ts"
import { builtManual } from "../support/Compiled.ts"
import { commandDocuments, withCommandTables } from "../support/commandTables.ts"

const manual = builtManual()
/** Commands and subcommands, each with all of its options. */
const forms = manual.flatMap((command) => [
  { ...command, options: optionsOf(command) },
  ...command.subcommands,
])
const flags = (text: string): ReadonlyArray<string> =>
  [...new Set(text.match(/--[a-z][a-z-]*/g) ?? [])].sort()

describe("the manual", () => {
  it("that the build writes agrees with the commands' records", async () => {
    expect(manual).toEqual(await readManual())
  })

  it("has every command under its name", () => {
    expect(manual.map(({ name }) => name)).toEqual(Object.keys(commands))
  })

  it.each(forms)(
    "has the options of $usage in its usage line, all and no others",
    ({ arguments: own, options, usage }) => {
      expect(flags(usage)).toEqual(options.map(({ flag }) => flag).sort())
      for (const option of options) expect(usage).toContain(syntaxOf(option))
      for (const { placeholder } of own) expect(usage).toContain(placeholder)
    },
  )

  it("gives an option the same kind of values for every command", () => {
    const all = [...globalOptions, ...forms.flatMap(({ options }) => options)]
    // The shells decide from the option alone whether a value follows.
    for (const { flag } of all) {
      const kinds = all.filter((other) => other.flag === flag).map(({ kind }) => kind === "flag")
      expect([flag, new Set(kinds).size]).toEqual([flag, 1])
    }
  })

  it("proposes values that are accepted", () => {
    const valuesOf = (flag: string) =>
      [...globalOptions, ...forms.flatMap(({ options }) => options)].find((one) => one.flag === flag)
        ?.values ?? []
    expect(valuesOf("--faults").length).toBeGreaterThan(5)
    for (const name of valuesOf("--faults")) expect(readFaults(name)).toBeTypeOf("object")
    for (const name of valuesOf("--log-level")) {
      expect(readArguments(["sync", "--log-level", name], {}, manual)).toMatchObject({ logLevel: name })
    }
  })
})

describe("the tables of commands and exit codes", () => {
  it.each(commandDocuments)("in %s are the manual's: npm run tables", (file) => {
    const text = readFileSync(file, "utf8")
    expect(text).toBe(withCommandTables(text, manual))
  })

  it("name every command in docs/commands.md", () => {
    const text = readFileSync("docs/commands.md", "utf8")
    expect(manual.filter(({ name }) => !new RegExp(`^\\| \`${name}[ \`]`, "m").test(text))).toEqual([])
  })
})

describe("--help", () => {
  it("works anywhere before a double dash", () => {
    expect(helpFor(["--help"], manual)).toBe(overview(manual))
    expect(helpFor(["help"], manual)).toBe(overview(manual))
    expect(helpFor(["sync", "--full", "-h"], manual)).toBe(helpFor(["help", "sync"], manual))
    expect(helpFor(["explain", "--", "--help"], manual)).toBeUndefined()
    expect(helpFor(["sync"], manual)).toBeUndefined()
    expect(helpFor(["--config", "a.yaml", "--help"], manual)).toBe(overview(manual))
  })

  it.each([[["help", "exprot"]], [["exprot", "--help"]]])(
    "of no command names those that are meant: %j",
    (args) => {
      expect(helpFor(args, manual)).toBeUndefined()
      const read = readArguments(args, {}, manual)
      expect(read instanceof ArgumentMistake && read.message).toContain(
        "There is no command exprot. Did you mean export?",
      )
    },
  )

  it.each(manual)("of $name shows usage, examples and exit codes", ({ examples, name, usage }) => {
    const text = helpFor([name, "--help"], manual) ?? ""
    expect(text).toContain(usage)
    expect(text).toContain(examples[0]?.[0])
    expect(text).toContain("75  stopped early, or an outage; run it again")
  })

  it("of export describes every format", () => {
    const text = helpFor(["export", "--help"], manual) ?? ""
    const listed = (text.split("\nFormats:\n")[1] ?? "").split("\n\n", 1)[0] ?? ""
    expect(listed.split("\n").map((line) => line.trim().split(/ {2,}/))).toEqual(
      formats.map(({ description, name }) => [name, description]),
    )
  })
})

describe("a command that asks the service", () => {
  const screen = { interactive: false, width: 80, color: false }
  const terminal = { stdout: screen, stderr: screen, writeOut: () => {}, writeError: () => {} }
  const mistakesOf = async (args: ReadonlyArray<string>) => {
    const [name = "", ...own] = args
    const record = await commands[name]?.()
    if (record === undefined) throw new Error(`there is no command ${name}`)
    const result = await Effect.runPromise(
      record.run(own).pipe(
        Effect.provide(
          Layer.mergeAll(
            Layer.succeed(Output, makeOutput(false, terminal, new Outcome())),
            Layer.succeed(WholeManual, manual),
            Layer.succeed(SettingsSource, {
              file: Option.none(),
              variables: { TIEOUT_LIMITS_TRIES: "five", TIEOUT_STATUS_HOST: "0.0.0.0" },
            }),
            NodeContext.layer,
          ),
        ),
        Effect.either,
      ),
    )
    const error = Either.isLeft(result) ? result.left : undefined
    return error instanceof SettingsError ? error.mistakes.map((line) => line.split(/[ :]/)[0]) : []
  }
  const credentials = ["CLIENT_ID", "CLIENT_SECRET", "SCOPE", "BASE_URL"].map((name) => `TIEOUT_${name}`)

  it.each([["sync"], ["backfill", "--period", "2026-10"], ["doctor"], ["quarantine", "replay"]])(
    "tells the credentials that lack together with what is wrong in the settings: %s %s",
    async (...args) => {
      expect((await mistakesOf(args)).toSorted()).toEqual([...credentials, "TIEOUT_LIMITS_TRIES"].toSorted())
    },
  )

  it("and so does serve, with the token of its page", async () => {
    expect((await mistakesOf(["serve"])).toSorted()).toEqual(
      [...credentials, "TIEOUT_LIMITS_TRIES", "TIEOUT_STATUS_TOKEN"].toSorted(),
    )
  })

  it("but no other", async () => {
    expect(await mistakesOf(["status"])).toEqual(["TIEOUT_LIMITS_TRIES"])
    expect(await mistakesOf(["quarantine", "list"])).toEqual(["TIEOUT_LIMITS_TRIES"])
  })
})
