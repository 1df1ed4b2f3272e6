import { Args, Command, Options as Flags } from "@effect/cli"
import { Effect, Layer } from "effect"
import { who } from "../Close/Who.ts"
import { Ledger } from "../Ledger.ts"
import { type Reclassified, reclassify as reclassifyEntry } from "../Reclassify.ts"
import { Reconcile } from "../Reconcile.ts"
import { harmless } from "../Terminal/Text.ts"
import { UsageError } from "./Arguments.ts"
import { books } from "./Books.ts"
import { Output } from "./Output.ts"

/** With the words before it a description of at most 200 characters. */
const longest = 150

const linesOf = ({
  amount,
  effectiveDate,
  from,
  number,
  reason,
  to,
}: Reclassified): ReadonlyArray<string> => [
  `${number ?? "Without a number yet"}: ${amount} from ${harmless(`${from.code} ${from.name}`)} to ${harmless(`${to.code} ${to.name}`)}, dated ${effectiveDate}`,
  `  ${harmless(reason)}`,
]

export const reclassify = Command.make(
  "reclassify",
  {
    id: Args.text({ name: "ID" }),
    to: Flags.text("to"),
    reason: Flags.text("reason"),
    name: Flags.text("name").pipe(Flags.optional),
  },
  Effect.fn("Cli.reclassify")(
    function* ({ id, name, reason: given, to }) {
      const output = yield* Output
      const reason = given.trim()
      if (reason === "" || reason.length > longest) {
        return yield* new UsageError({
          detail: `--reason: expected 1 to ${longest} characters, found ${reason.length}.`,
          advice: "It stands in the description of the journal entry.",
        })
      }
      const done = yield* reclassifyEntry({ id, to: to.trim(), name, reason, who: yield* who })
      yield* output.report({ document: done, lines: linesOf(done) })
    },
    Effect.provide(Layer.mergeAll(Ledger.Default, Reconcile.Default).pipe(Layer.provideMerge(books))),
  ),
)
