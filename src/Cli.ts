/**
 * The command line: arguments in, one command, an answer on stdout, an exit code. It only calls the rest of Tieout; what
 * each command needs of it stands in the command's own file.
 */
import { Command, HelpDoc, ValidationError } from "@effect/cli"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { Cause, Effect, Either, Layer, LogLevel } from "effect"
import { type Arguments, readArguments, UsageError } from "./Cli/Arguments.ts"
import { accounts } from "./Cli/Commands/AccountsCommand.ts"
import { backfill } from "./Cli/Commands/BackfillCommand.ts"
import { balance } from "./Cli/Commands/BalanceCommand.ts"
import { batches } from "./Cli/Commands/BatchesCommand.ts"
import { close } from "./Cli/Commands/CloseCommand.ts"
import { demo } from "./Cli/Commands/DemoCommand.ts"
import { doctor } from "./Cli/Commands/DoctorCommand.ts"
import { explain } from "./Cli/Commands/ExplainCommand.ts"
import { exportCommand } from "./Cli/Commands/ExportCommand.ts"
import { init } from "./Cli/Commands/InitCommand.ts"
import { items } from "./Cli/Commands/ItemsCommand.ts"
import { migrate } from "./Cli/Commands/MigrateCommand.ts"
import { quarantine } from "./Cli/Commands/QuarantineCommand.ts"
import { rates } from "./Cli/Commands/RatesCommand.ts"
import { reclassify } from "./Cli/Commands/ReclassifyCommand.ts"
import { reconcile } from "./Cli/Commands/ReconcileCommand.ts"
import { register } from "./Cli/Commands/RegisterCommand.ts"
import { reopen } from "./Cli/Commands/ReopenCommand.ts"
import { report } from "./Cli/Commands/ReportCommand.ts"
import { sandbox } from "./Cli/Commands/SandboxCommand.ts"
import { serve } from "./Cli/Commands/ServeCommand.ts"
import { status } from "./Cli/Commands/StatusCommand.ts"
import { sync } from "./Cli/Commands/SyncCommand.ts"
import { verify } from "./Cli/Commands/VerifyCommand.ts"
import { webhook } from "./Cli/Commands/WebhookCommand.ts"
import { completions } from "./Cli/Completions.ts"
import { exitCodes } from "./Cli/ExitCode.ts"
import { ofCause } from "./Cli/Failure.ts"
import { logFormat, logging } from "./Cli/Logging.ts"
import { needsOf } from "./Cli/Needs.ts"
import { makeOutput, type Outcome, Output } from "./Cli/Output.ts"
import { isTraced, telemetry } from "./Cli/Telemetry.ts"
import { SettingsSource } from "./Settings.ts"
import { Progress, shown } from "./Terminal/Progress.ts"
import { processTerminal, Terminal, type TerminalService } from "./Terminal.ts"

type Variables = Readonly<Record<string, string | undefined>>

const root = Command.make("tieout").pipe(
  Command.withSubcommands([
    backfill,
    init,
    doctor,
    migrate,
    sync,
    status,
    reconcile,
    balance,
    register,
    items,
    quarantine,
    reclassify,
    close,
    reopen,
    report,
    exportCommand,
    batches,
    accounts,
    rates,
    explain,
    verify,
    serve,
    webhook,
    sandbox,
    demo,
    completions,
  ]),
)

const execute = Command.run(root, { name: "tieout", version: "", executable: "tieout" })

/** The library prints what is wrong with the arguments and fails with it too; it is told once, by `Failure.ts`. */
const withoutOwnReports = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Effect.console, (console) =>
    Effect.withConsole(effect, {
      ...console,
      error: () => Effect.void,
      log: (...args) => console.log(...args),
    }),
  )

const asUsageError = (error: ValidationError.ValidationError, command: string | undefined) =>
  new UsageError({
    detail: HelpDoc.toAnsiText(error.error)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: taking colours out is what it is for
      .replace(/\u001b\[[0-9;]*m/g, "")
      .trim(),
    advice: `Run tieout ${command === undefined ? "" : `${command} `}--help to see what it takes.`,
  })

const runCommand = (args: Arguments) =>
  execute(["node", "tieout", ...args.rest]).pipe(
    withoutOwnReports,
    Effect.mapError((error) =>
      ValidationError.isValidationError(error) ? asUsageError(error, args.rest[0]) : error,
    ),
  )

/** Tells why a command failed. A server that was interrupted did not. */
const tell = (outcome: Outcome, debug: boolean) => (cause: Cause.Cause<unknown>) =>
  Effect.gen(function* () {
    if (Cause.isInterruptedOnly(cause) && outcome.interruptedCode === exitCodes.done) return
    yield* (yield* Output).fail(ofCause(cause, debug))
  })

const outputLayer = (json: boolean, terminal: TerminalService, outcome: Outcome) =>
  Layer.succeed(Output, makeOutput(json, terminal, outcome))

const runArguments = (args: Arguments, variables: Variables, terminal: TerminalService, outcome: Outcome) => {
  const format = logFormat(args.json, variables.TIEOUT_LOG, terminal, args.rest[0] === "serve")
  const withProgress = Layer.unwrapScoped(
    Effect.map(shown(terminal, format !== "json"), (progress) =>
      Layer.merge(
        Layer.succeed(Progress, progress),
        logging(format, args.logLevel, terminal.stderr.color, progress.writeAbove),
      ),
    ),
  )
  const environment = Layer.mergeAll(
    Layer.succeed(SettingsSource, {
      file: args.config,
      variables,
      needs: needsOf(args.rest),
    }),
    Layer.succeed(Terminal, terminal),
    NodeContext.layer,
  )
  return runCommand(args).pipe(
    Effect.provide(Layer.provideMerge(telemetry(variables), Layer.merge(withProgress, environment))),
    // Not tapErrorCause: that one is not run when the command is interrupted.
    Effect.onError(tell(outcome, LogLevel.lessThanEqual(args.logLevel, LogLevel.Debug))),
    Effect.provide(outputLayer(args.json, terminal, outcome)),
    Effect.withTracerEnabled(isTraced(variables)),
  )
}

/** Runs the command that the arguments (without node and script) name. The exit code is in `outcome` afterwards. */
export const command = (
  args: ReadonlyArray<string>,
  variables: Variables,
  outcome: Outcome,
): Effect.Effect<void, unknown> => {
  const terminal = processTerminal(variables)
  const read = readArguments(args, variables)
  if (Either.isRight(read)) return runArguments(read.right, variables, terminal, outcome)
  return Effect.provide(
    tell(outcome, false)(Cause.fail(read.left)),
    outputLayer(args.includes("--json"), terminal, outcome),
  )
}
