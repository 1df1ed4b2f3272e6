import { Args, Command } from "@effect/cli"
import { Effect, Layer } from "effect"
import { harmless } from "../../Common/Text.ts"
import { Explain, type Explanation } from "../../Explain.ts"
import { books } from "../Books.ts"
import { Output } from "../Output.ts"

const linesOf = ({ steps }: Explanation): ReadonlyArray<string> =>
  steps.flatMap(({ facts, title }, index) => {
    const width = Math.max(0, ...facts.map(([label]) => label.length))
    return [
      ...(index === 0 ? [] : [""]),
      harmless(title),
      ...facts.map(([label, value]) => `  ${label.padEnd(width)}  ${harmless(value)}`),
    ]
  })

export const explain = Command.make(
  "explain",
  { id: Args.text({ name: "ID" }) },
  Effect.fn("Cli.explain")(
    function* ({ id }) {
      const output = yield* Output
      const explanation = yield* (yield* Explain).explain(id)
      yield* output.report({ document: explanation, lines: linesOf(explanation) })
    },
    Effect.provide(Layer.provideMerge(Explain.Default, books)),
  ),
)
