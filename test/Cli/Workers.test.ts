/** What a worker is started with: the environment is this process's own, and so must be what the command line alone says. */
import { Effect, Layer, Logger, LogLevel, Option } from "effect"
import { expect, it } from "vitest"
import { makeOutput, Outcome, Output } from "../../src/Cli/Output.ts"
import { workerArguments } from "../../src/Cli/Workers.ts"
import { SettingsSource } from "../../src/Settings.ts"
import { processTerminal } from "../../src/Terminal.ts"

const argumentsFor = (file: Option.Option<string>, json: boolean, level: LogLevel.LogLevel) =>
  Effect.runPromise(
    workerArguments().pipe(
      Effect.provide(Layer.succeed(SettingsSource, { file, variables: {} })),
      Effect.provideService(Output, makeOutput(json, processTerminal({}), new Outcome())),
      Logger.withMinimumLogLevel(level),
    ),
  )

it("gives a worker the settings file and the log of the command line that started it", async () => {
  expect(await argumentsFor(Option.some("/etc/tieout/acme.yaml"), true, LogLevel.Warning)).toEqual([
    ...["worker", "--until-input-ends", "--log-level", "warning", "--config", "/etc/tieout/acme.yaml"],
    "--json",
  ])
})

it("leaves the settings file to be found where the command line named none", async () => {
  expect(await argumentsFor(Option.none(), false, LogLevel.Info)).toEqual([
    ...["worker", "--until-input-ends", "--log-level", "info"],
  ])
})
