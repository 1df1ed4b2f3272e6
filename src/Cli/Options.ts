/** Options of commands, with the words of the manual. */
import { Options } from "@effect/cli"

/** `--connection NAME`; none: every connection of the settings. */
export const connection = Options.text("connection").pipe(Options.optional)

/** `--full` */
export const full = Options.boolean("full")

/** `--quick` */
export const quick = Options.boolean("quick")

/** `--period YYYY-MM`, not yet checked. */
export const period = Options.text("period").pipe(Options.optional)

/** `--surface organization|client|credit`; none: all that the connection uses. */
export const surface = Options.choice("surface", ["organization", "client", "credit"]).pipe(Options.optional)

/** `--client ID` or its code; none: all. */
export const client = Options.text("client").pipe(Options.optional)

/** `--book B`, a book's code or its client's identifier; none: all. */
export const book = Options.text("book").pipe(Options.optional)
