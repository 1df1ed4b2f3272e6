/** Runs a command as this process: signals interrupt it, its outcome is the exit code. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Cause, Exit } from "effect"
import { command } from "../Cli.ts"
import type { ExitCode } from "./ExitCode.ts"
import { Outcome } from "./Output.ts"

/** The exit code of a command that has ended. */
export const exitCodeOf = (exit: Exit.Exit<unknown, unknown>, outcome: Outcome): ExitCode =>
  Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause) ? outcome.interruptedCode : outcome.code

export const launch = (
  args: ReadonlyArray<string>,
  variables: Readonly<Record<string, string | undefined>>,
): void => {
  const outcome = new Outcome()
  NodeRuntime.runMain(command(args, variables, outcome), {
    disableErrorReporting: true,
    disablePrettyLogger: true,
    teardown: (exit, onExit) => {
      const code = exitCodeOf(exit, outcome)
      // What was written must have left the process before it ends.
      process.stdout.write("", () => process.stderr.write("", () => onExit(code)))
    },
  })
}
