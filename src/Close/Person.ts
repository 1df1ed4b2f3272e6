/** The person recorded for a close, a reopening or a reclassification. */
import { userInfo } from "node:os"
import { Effect, Option } from "effect"
import { variable } from "../Settings/Environment.ts"
import { SettingsSource } from "../Settings.ts"

/** The user of the operating system, which no variable changes. */
export const osUser: Effect.Effect<string> = Effect.orElseSucceed(
  Effect.try(() => userInfo().username),
  () => `user ${process.getuid?.() ?? "unknown"}`,
)

/** `TIEOUT_USER`, or else the user of the operating system; a container may have no name for it. */
export const who = Effect.gen(function* () {
  const { variables } = yield* SettingsSource
  const named = variable(variables, "TIEOUT_USER")
  if (Option.isSome(named)) return named.value
  return yield* osUser
})
