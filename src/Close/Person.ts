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

/** Control and format characters, variation selectors and fillers: two names that differ in them look alike. */
const unseen = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

/**
 * A name for comparison: as people read it, whatever its case, spaces or form of Unicode. By way of capitals, since
 * some letters have no other common form (ß and ẞ are SS). Empty where nothing can be seen. `ledger.folded_name` of the database is nearly the same.
 */
export const foldedName = (name: string): string =>
  name
    .normalize("NFKC")
    .replaceAll(/\s+/g, " ")
    .replaceAll(unseen, "")
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll(/ +/g, " ")
    .trim()
