import { Args, Command, Options as Flags } from "@effect/cli"
import { Effect } from "effect"
import { who } from "../../Close/Who.ts"
import { reopen as reopenMonth } from "../../Close.ts"
import { UsageError } from "../Arguments.ts"
import { books } from "../Books.ts"
import * as Options from "../Options.ts"
import { Output } from "../Output.ts"
import { month } from "../Period.ts"

export const reopen = Command.make(
  "reopen",
  { period: Args.text({ name: "YYYY-MM" }), reason: Flags.text("reason"), book: Options.book },
  Effect.fn("Cli.reopen")(function* ({ book, period: text, reason: given }) {
    const output = yield* Output
    const period = yield* month(text, "the month")
    const reason = given.trim()
    if (reason === "" || reason.length > 500) {
      return yield* new UsageError({ detail: "--reason: expected 1 to 500 characters.", advice: "" })
    }
    const reopened = yield* reopenMonth(period, book, { who: yield* who, reason })
    yield* output.report({
      document: { books: reopened },
      lines: reopened.map(
        (one) => `${one.book} ${one.period}: open again. To close it: tieout close ${period}`,
      ),
    })
  }, Effect.provide(books)),
)
