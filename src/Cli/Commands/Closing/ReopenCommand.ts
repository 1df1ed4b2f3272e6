import { Effect, Layer, Option } from "effect"
import { who } from "../../../Close/Person.ts"
import { reopen as reopenMonth } from "../../../Close.ts"
import { batchesOnClose } from "../../../Export/Request/StandingBatches.ts"
import { Reconcile } from "../../../Reconcile.ts"
import { books } from "../../BookEnvironment.ts"
import { argument, command, optional, text } from "../../Declaration.ts"
import { UsageError } from "../../Failure.ts"
import { Output } from "../../Output.ts"
import { parseMonth } from "../../Period.ts"

export const reopen = command(
  {
    name: "reopen",
    summary: "Open the latest closed month again.",
    about: [
      "Only the latest closed month of a book can be opened. The close stays on record, and so does who opened it, when and why.",
      "Names the committed and acknowledged batches that stand on the close: an accounting system may have them.",
    ],
    takes: {
      period: argument.text("YYYY-MM"),
      reason: text("reason", "TEXT", "Why"),
      book: optional(
        text("book", "B", "Only this book, by its code or its client's identifier"),
        "all in which the month is closed",
      ),
    },
    examples: [['tieout reopen 2026-10 --reason "Fee invoice came late" --book ORG', "one book"]],
  },
  Effect.fn("Cli.reopen")(
    function* ({ book, period: text, reason: given }) {
      const output = yield* Output
      const period = yield* parseMonth(text, "the month")
      const reason = given.trim()
      if (reason === "" || reason.length > 500) {
        return yield* new UsageError({ detail: "--reason: expected 1 to 500 characters.", advice: "" })
      }
      const reopened = yield* reopenMonth(period, book, { who: yield* who, reason })
      const reopenings = yield* Effect.forEach(reopened, (one) =>
        Effect.map(
          one.undone === null ? Effect.succeed([]) : batchesOnClose(one.book, one.undone),
          (batches) => ({ ...one, batches }),
        ),
      )
      yield* output.report({
        document: { books: reopenings },
        lines: reopenings.flatMap((one) => [
          `${one.book} ${one.period}: open again. To close it: tieout close ${period}${Option.isNone(book) ? "" : ` --book ${one.book}`}`,
          ...(one.batches.length === 0
            ? []
            : [`  What changes in ${period} is not in the batches that stand on that close:`]),
          ...one.batches.map(
            ({ batch, formats, scope, state }) =>
              `    ${one.book}/${batch} ${scope} ${formats.join(",")} (${state})`,
          ),
        ]),
      })
    },
    Effect.provide(Layer.provideMerge(Reconcile.Default, books)),
  ),
)
