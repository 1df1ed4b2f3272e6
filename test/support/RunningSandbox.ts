import { Effect } from "effect"
import type { SandboxOptions } from "../../src/Sandbox/SandboxOptions.ts"
import { startSandbox } from "../../src/Sandbox.ts"

/** A sandbox that runs until the scope closes. */
export const runningSandbox = (options: SandboxOptions) =>
  Effect.acquireRelease(
    Effect.promise(() => startSandbox(options)),
    (sandbox) => Effect.promise(() => sandbox.close()),
  )
