import { Either, LogLevel, Option } from "effect"
import { describe, expect, it } from "vitest"
import { readArguments } from "../../src/Cli/Arguments.ts"

const read = (line: string, variables: Record<string, string> = {}) =>
  readArguments(
    line.split(" ").filter((arg) => arg !== ""),
    variables,
  )

const mistake = (line: string, variables: Record<string, string> = {}) => {
  const result = read(line, variables)
  return Either.isLeft(result) ? result.left.message.split("\n") : []
}

describe("the options of every command", () => {
  it.each([
    "--config a.yaml --json --log-level debug sync --full",
    "sync --config a.yaml --full --json --log-level debug",
    "sync --full --json --log-level=debug --config=a.yaml",
  ])("may stand anywhere: %s", (line) => {
    expect(Either.getOrThrow(read(line))).toEqual({
      json: true,
      config: Option.some("a.yaml"),
      logLevel: LogLevel.Debug,
      rest: ["sync", "--full"],
    })
  })

  it("are off where they are not given", () => {
    expect(Either.getOrThrow(read("explain X"))).toEqual({
      json: false,
      config: Option.none(),
      logLevel: LogLevel.Info,
      rest: ["explain", "X"],
    })
  })

  it("take the log level from the environment, and the option beats it", () => {
    const variables = { TIEOUT_LOG_LEVEL: "error" }
    expect(Either.getOrThrow(read("sync", variables)).logLevel).toBe(LogLevel.Error)
    expect(Either.getOrThrow(read("sync --log-level trace", variables)).logLevel).toBe(LogLevel.Trace)
  })

  it("end at a double dash", () => {
    expect(Either.getOrThrow(read("explain -- --json")).rest).toEqual(["explain", "--", "--json"])
  })
})

describe("wrong arguments", () => {
  it.each([
    ["snc", "There is no command snc. Did you mean sync?"],
    ["--json", "No command is given."],
    ["sync --ful", "There is no option --ful. Did you mean --full?"],
    ["sync --connection", "The option --connection needs a value: --connection NAME."],
    ["sync --connection --full", "The option --connection needs a value: --connection NAME."],
    ["sync --config", "The option --config needs a value."],
    ["sandbox --port x", '--port: found "x", expected a whole number.'],
    ["sandbox --port=", "The option --port needs a value: --port N."],
    [
      "sync --log-level loud",
      'The log level "loud" is not known; expected one of all, trace, debug, info, warning, warn, error, fatal, none.',
    ],
  ])("%s", (line, text) => expect(mistake(line)[0]).toBe(text))

  it("say where help is", () => {
    expect(mistake("sync --ful")[1]).toBe("Run tieout sync --help to see what it takes.")
    expect(mistake("snc")[1]).toBe("Run tieout --help to see what it takes.")
  })
})
