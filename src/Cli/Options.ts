/** Options of commands, with the words of the manual. */
import { Options } from "@effect/cli"

/** `--connection NAME`; none: every connection of the settings. */
export const connection = Options.text("connection").pipe(Options.optional)

/** `--full` */
export const full = Options.boolean("full")

/** `--period YYYY-MM`, not yet checked. */
export const period = Options.text("period").pipe(Options.optional)
