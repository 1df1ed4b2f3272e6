/** Runs a command as this process: signals interrupt it, its outcome is the exit code. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Cause, Exit } from "effect"
import { command } from "../Cli.ts"
import type { Arguments } from "./Arguments.ts"
import type { Manual } from "./Manual.ts"
import { Outcome } from "./Output.ts"

export const launch = (
  args: Arguments,
  manual: Manual,
  variables: Readonly<Record<string, string | undefined>>,
): void => {
  const outcome = new Outcome()
  NodeRuntime.runMain(command(args, manual, variables, outcome), {
    disableErrorReporting: true,
    disablePrettyLogger: true,
    teardown: (exit, onExit) => {
      const interrupted = Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)
      const code = interrupted ? outcome.interruptedCode : outcome.code
      // What was written must have left the process before it ends.
      process.stdout.write("", () => process.stderr.write("", () => onExit(code)))
    },
  })
}
