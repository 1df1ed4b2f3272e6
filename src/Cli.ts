/**
 * The command line: arguments in, one command, an answer on stdout, an exit code. It only calls the rest of Tieout; what
 * each command needs of it stands in the command's own file.
 */
import { Command, HelpDoc, ValidationError } from "@effect/cli"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { Cause, Effect, Either, Layer, LogLevel } from "effect"
import { accounts } from "./Cli/Accounts.ts"
import { type Arguments, readArguments, UsageError } from "./Cli/Arguments.ts"
import { backfill } from "./Cli/Backfill.ts"
import { balance } from "./Cli/Balance.ts"
import { batches } from "./Cli/Batches.ts"
import { close } from "./Cli/Close.ts"
import { completions } from "./Cli/Completions.ts"
import { demo } from "./Cli/Demo.ts"
import { doctor } from "./Cli/Doctor.ts"
import { exitCodes } from "./Cli/ExitCode.ts"
import { explain } from "./Cli/Explain.ts"
import { exportCommand } from "./Cli/Export.ts"
import { ofCause } from "./Cli/Failure.ts"
import { init } from "./Cli/Init.ts"
import { items } from "./Cli/Items.ts"
import { logFormat, logging } from "./Cli/Logging.ts"
import { migrate } from "./Cli/Migrate.ts"
import { needsOf } from "./Cli/Needs.ts"
import { makeOutput, type Outcome, Output } from "./Cli/Output.ts"
import { quarantine } from "./Cli/Quarantine.ts"
import { rates } from "./Cli/Rates.ts"
import { reclassify } from "./Cli/Reclassify.ts"
import { reconcile } from "./Cli/Reconcile.ts"
import { register } from "./Cli/Register.ts"
import { reopen } from "./Cli/Reopen.ts"
import { report } from "./Cli/Report.ts"
import { sandbox } from "./Cli/Sandbox.ts"
import { serve } from "./Cli/Serve.ts"
import { status } from "./Cli/Status.ts"
import { sync } from "./Cli/Sync.ts"
import { isTraced, telemetry } from "./Cli/Telemetry.ts"
import { verify } from "./Cli/Verify.ts"
import { webhook } from "./Cli/Webhook.ts"
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
