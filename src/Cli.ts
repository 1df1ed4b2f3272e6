/**
 * Runs one command: its answer goes to stdout, and its outcome becomes the exit code. Each command's own file provides what it
 * needs of the rest of Tieout.
 */
import { closeSync } from "node:fs"
import { isatty } from "node:tty"
import { HelpDoc, ValidationError } from "@effect/cli"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Cause, ConfigProvider, Effect, Either, Exit, Layer, LogLevel, Option } from "effect"
import type { Arguments, LogLevelName } from "./Cli/Arguments.ts"
import { commands } from "./Cli/Commands.ts"
import { WholeManual } from "./Cli/Declaration.ts"
import { type ExitCode, exitCodes } from "./Cli/ExitCode.ts"
import { failuresOf, UsageError } from "./Cli/Failure.ts"
import { failureText } from "./Cli/FailureDocument.ts"
import { type LogFormat, logFormat, logging } from "./Cli/Logging.ts"
import type { Manual } from "./Cli/Manual.ts"
import { makeOutput, Outcome, Output } from "./Cli/Output.ts"
import { isTraced, telemetry } from "./Cli/Telemetry.ts"
import { Progress } from "./Common/Progress.ts"
import { changedOver } from "./Database/DatabaseError.ts"
import { KnownSecrets, Secrets } from "./Settings/KnownSecrets.ts"
import type { Mistake } from "./Settings/Mistake.ts"
import { withSecretFiles } from "./Settings/SecretFiles.ts"
import { SettingsError, SettingsSource } from "./Settings.ts"
import { showProgress } from "./Terminal/ShownProgress.ts"
import { processTerminal, Terminal, type TerminalService } from "./Terminal.ts"

type Variables = Readonly<Record<string, string | undefined>>

const levels: Readonly<Record<LogLevelName, LogLevel.LogLevel>> = {
  all: LogLevel.All,
  trace: LogLevel.Trace,
  debug: LogLevel.Debug,
  info: LogLevel.Info,
  warning: LogLevel.Warning,
  warn: LogLevel.Warning,
  error: LogLevel.Error,
  fatal: LogLevel.Fatal,
  none: LogLevel.None,
}

/** The library prints a mistake in the arguments and fails with it as well; we report it once. */
const withoutOwnReports = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Effect.console, (console) =>
    Effect.withConsole(effect, {
      ...console,
      error: () => Effect.void,
      log: (...args) => console.log(...args),
    }),
  )

const asUsageError = (error: ValidationError.ValidationError, command: string) =>
  new UsageError({
    detail: HelpDoc.toAnsiText(error.error)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: taking colours out is what it is for
      .replace(/\u001b\[[0-9;]*m/g, "")
      .trim(),
    advice: `Run tieout ${command} --help to see what it takes.`,
  })

const runCommand = ({ command: name, own }: Arguments) =>
  Effect.promise(async () => commands[name]?.()).pipe(
    Effect.flatMap((record) => record?.run(own) ?? Effect.dieMessage(`there is no command ${name}`)),
    withoutOwnReports,
    // A database that could not be written to from the beginning has been refused by name before.
    Effect.mapError((error) =>
      ValidationError.isValidationError(error) ? asUsageError(error, name) : changedOver(error),
    ),
  )

/** Reports why a command failed. A server that was interrupted did not fail. */
const reportFailure = (outcome: Outcome, debug: boolean) => (cause: Cause.Cause<unknown>) =>
  Effect.gen(function* () {
    if (Cause.isInterruptedOnly(cause) && outcome.interruptedCode === exitCodes.done) return
    yield* (yield* Output).fail(failuresOf(cause, debug))
  })

const unreadableSecrets = (mistakes: ReadonlyArray<Mistake>) =>
  new SettingsError({
    reason: "Unreadable",
    mistakes: mistakes.map(({ path, text }) => `${path.join(".")}: ${text}`),
    advice: "Name a file that this user can read, or unset the variable; nothing has been read or written.",
  })

const presentIn = (variables: Variables): ReadonlyArray<readonly [string, string]> =>
  Object.entries(variables).flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const]))

const formatOf = ({ command, json }: Arguments, variables: Variables, terminal: TerminalService): LogFormat =>
  logFormat(json, variables.TIEOUT_LOG, terminal, command === "serve")

/** The command with its environment. `outcome` has the exit code afterwards. */
const prepared = (
  args: Arguments,
  manual: Manual,
  given: Variables,
  outcome: Outcome,
): Effect.Effect<void, unknown> => {
  const found = withSecretFiles(given)
  // Where a secret's file cannot be read, the variables as given are enough to report that.
  const variables = Either.getOrElse(found, () => given)
  const secrets = new Secrets()
  secrets.learn(variables)
  const terminal = processTerminal(variables)
  const level = levels[args.logLevel]
  const format = formatOf(args, variables, terminal)
  const withProgress = Layer.unwrapScoped(
    Effect.map(showProgress(terminal, format !== "json"), (progress) =>
      Layer.merge(
        Layer.succeed(Progress, progress),
        logging(format, level, terminal.stderr.color, (line, of) =>
          progress.writeAbove(secrets.hide(line), of),
        ),
      ),
    ),
  )
  const environment = Layer.mergeAll(
    Layer.succeed(SettingsSource, { file: Option.fromNullable(args.config), variables, given }),
    Layer.succeed(KnownSecrets, secrets),
    Layer.succeed(Terminal, terminal),
    Layer.succeed(WholeManual, manual),
    NodeContext.layer,
  )
  return Effect.zipRight(Either.mapLeft(found, unreadableSecrets), runCommand(args)).pipe(
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(presentIn(variables)))),
    Effect.provide(
      Layer.provideMerge(telemetry(variables, secrets.hide), Layer.merge(withProgress, environment)),
    ),
    // Not tapErrorCause, which does not run on an interrupt.
    Effect.onError(reportFailure(outcome, LogLevel.lessThanEqual(level, LogLevel.Debug))),
    Effect.provideService(Output, makeOutput(args.json, terminal, outcome, secrets.hide, format === "json")),
    Effect.withTracerEnabled(isTraced(variables)),
  )
}

/** The exit code of a command that has ended. */
const exitCodeOf = (exit: Exit.Exit<unknown, unknown>, outcome: Outcome): ExitCode =>
  Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause) ? outcome.interruptedCode : outcome.code

/** Runs a command inside a longer process. Returns its exit code. */
export const execute = async (args: Arguments, manual: Manual, variables: Variables): Promise<ExitCode> => {
  const outcome = new Outcome()
  return exitCodeOf(await Effect.runPromiseExit(prepared(args, manual, variables, outcome)), outcome)
}

/** Milliseconds from a signal until the process is ended by force. A server or worker waits ten seconds for its own work. */
const patience = ({ command }: Arguments): number =>
  command === "serve" || command === "worker" ? 15_000 : 60_000

/**
 * Ends a process that was asked to end but waits for something that does not answer. What was not committed is done by the next
 * run.
 */
const endAnyway = (args: Arguments, variables: Variables): void => {
  const millis = patience(args)
  setTimeout(() => {
    const message = `Stopped after ${millis / 1_000} s without waiting any longer for what does not answer. What was committed stays; run it again.`
    const failure = { code: exitCodes.resumable, error: "Stopped", reason: null, message }
    const terminal = processTerminal(variables)
    const asJson = formatOf(args, variables, terminal) === "json"
    terminal.writeError(failureText(failure, asJson, new Date()), "ERROR")
    process.stderr.write("", () => process.exit(exitCodes.resumable))
  }, millis).unref()
}

/** Runs a command as the process: signals interrupt it, and its outcome is the exit code. */
export const launch = (args: Arguments, manual: Manual, variables: Variables): void => {
  const outcome = new Outcome()
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => endAnyway(args, variables))
  // A session that ends, or a terminal that is closed. To `serve` it says to read its settings again (`Cli/Reload.ts`); one that
  // comes before that is heard changes nothing, since the settings are still to be read.
  const terminals = [0, 1, 2].filter((fd) => isatty(fd))
  let hungUp = false
  const noteHangup = () => {
    hungUp = true
  }
  process.stdout.once("error", noteHangup)
  // For `Begin.ts`, which ends the process where nobody reads its answer any more.
  process.stdout.prependListener("error", () => {
    process.exitCode = outcome.code
  })
  process.stderr.once("error", noteHangup)
  process.on("SIGHUP", () => {
    noteHangup()
    if (args.command !== "serve") process.emit("SIGTERM")
  })
  NodeRuntime.runMain(prepared(args, manual, variables, outcome), {
    disableErrorReporting: true,
    disablePrettyLogger: true,
    teardown: (exit, onExit) => {
      const code = exitCodeOf(exit, outcome)
      // All output must be flushed before the process ends.
      process.stdout.write("", () =>
        process.stderr.write("", () => {
          // Node aborts where it cannot reset a terminal at its end, and leaves alone what is closed.
          if (hungUp) terminals.forEach(closeSync)
          onExit(code)
        }),
      )
    },
  })
}
