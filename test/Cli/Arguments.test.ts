import { describe, expect, it } from "vitest"
import { ArgumentMistake, readArguments } from "../../src/Cli/Arguments.ts"
import { builtManual } from "../support/Compiled.ts"

const read = (line: string, variables: Record<string, string> = {}) =>
  readArguments(
    line.split(" ").filter((arg) => arg !== ""),
    variables,
    builtManual(),
  )

const mistake = (line: string, variables: Record<string, string> = {}) => {
  const result = read(line, variables)
  return result instanceof ArgumentMistake ? result.message.split("\n") : []
}

describe("the options of every command", () => {
  it.each([
    "--config a.yaml --json --log-level debug sync --full",
    "sync --config a.yaml --full --json --log-level debug",
    "sync --full --json --log-level=debug --config=a.yaml",
  ])("may stand anywhere: %s", (line) => {
    expect(read(line)).toEqual({
      json: true,
      config: "a.yaml",
      logLevel: "debug",
      command: "sync",
      own: ["--full"],
    })
  })

  it("are off where they are not given", () => {
    expect(read("explain X")).toEqual({
      json: false,
      config: undefined,
      logLevel: "info",
      command: "explain",
      own: ["X"],
    })
  })

  it("take the log level from the environment, and the option beats it", () => {
    const variables = { TIEOUT_LOG_LEVEL: "error" }
    expect(read("sync", variables)).toMatchObject({ logLevel: "error" })
    expect(read("sync --log-level TRACE", variables)).toMatchObject({ logLevel: "trace" })
  })

  it("end at a double dash", () => {
    expect(read("explain -- --json")).toMatchObject({ json: false, own: ["--", "--json"] })
  })
})

describe("right arguments", () => {
  it.each([
    "verify",
    "verify exports/default-ORG/all/1 --chain",
    "register --period 2026-10 6850",
    "register -- --6850",
    "reopen 2026-10 --reason=late",
    "reopen 2026-10 --reason -late",
    "close 2026-10 --accept F1 --accept F2 --reason known",
    "sync --full true",
    "verify --chain 1 exports/default-ORG/all/1",
    "quarantine replay Q1 Q2",
    "sync --surface=client",
  ])("%s", (line) => expect(mistake(line)).toEqual([]))
})

describe("wrong arguments", () => {
  it.each([
    ["snc", "There is no command snc. Did you mean sync?"],
    ["--json", "No command is given."],
    ["sync --ful", "There is no option --ful. Did you mean --full?"],
    ["sync --connection", "The option --connection needs a value: --connection NAME."],
    ["sync --connection --full", "The option --connection needs a value: --connection NAME."],
    ["sync --config", "The option --config needs a value."],
    ["rates list --out x", "There is no option --out."],
    [
      "rates imprt x",
      "There is no command rates imprt; there are import, export, list. Did you mean import?",
    ],
    ["rates", "The command rates needs one of these after it: import, export, list."],
    ["webhook --dead replay", "The command webhook needs one of these after it: events, replay, diagnose."],
    ["export --all", "--format is missing."],
    ["export --format journal --period 2026-09 --period 2026-10", "--period is given twice."],
    ["--config a.yaml status --config b.yaml", "--config is given twice."],
    ["status --log-level debug --log-level=none", "--log-level is given twice."],
    ["reclassify F1 --reason --to 6855", "The option --reason needs a value: --reason TEXT."],
    ["register", "CODE is missing."],
    ["register 6850 6851", "There is one argument too many: 6851"],
    ["sync --full extra", "There is one argument too many: extra"],
    ["webhook diagnose --key x", "FILE is missing."],
    ["sync --surface x", '--surface: found "x", expected one of organization, client, credit.'],
    ["completions ksh", 'SHELL: found "ksh", expected one of bash, zsh, fish.'],
    ["sandbox --port x", '--port: found "x", expected a whole number.'],
    ["sandbox --port 99999999999999999999", '--port: found "99999999999999999999", expected a whole number.'],
    ["sandbox --port=", "The option --port needs a value: --port N."],
    [
      "sync --log-level loud",
      'The log level "loud" is not known; expected trace, debug, info, warning, error or none.',
    ],
  ])("%s", (line, text) => expect(mistake(line)[0]).toBe(text))

  it.each([
    ["backup", "FILE is empty."],
    ["explain", "ID is empty."],
    ["verify", "DIR is empty."],
  ])("may be an empty word, as of a variable that is not set: %s", (command, text) => {
    expect(readArguments([command, ""], {}, builtManual())).toMatchObject({
      message: `${text}\nRun tieout ${command} --help to see what it takes.`,
    })
  })

  it("may stand in the environment", () => {
    const found = read("sync", { TIEOUT_LOG: "foo" })
    expect(found).toMatchObject({
      message: 'TIEOUT_LOG: found "foo", expected json or line.\nRun tieout --help to see what it takes.',
    })
    expect(read("sync", { TIEOUT_LOG: "" })).toMatchObject({ command: "sync" })
    expect(read("sync", { TIEOUT_LOG: "line" })).toMatchObject({ command: "sync" })
  })

  it("say where help is", () => {
    expect(mistake("sync --ful")[1]).toBe("Run tieout sync --help to see what it takes.")
    expect(mistake("snc")[1]).toBe("Run tieout --help to see what it takes.")
  })
})
