import { Effect, Layer } from "effect"
import { harmless } from "../../../Common/Text.ts"
import { wrapped } from "../../../Common/Wrap.ts"
import { Explain, type Explanation } from "../../../Explain.ts"
import type { Screen } from "../../../Terminal.ts"
import { booksToRead } from "../../BookEnvironment.ts"
import { argument, command } from "../../Declaration.ts"
import { Output } from "../../Output.ts"

const linesOf = ({ steps }: Explanation, { width: screen }: Screen): ReadonlyArray<string> =>
  steps.flatMap(({ facts, title }, index) => {
    const width = Math.max(0, ...facts.map(([label]) => label.length))
    return [
      ...(index === 0 ? [] : [""]),
      harmless(title),
      ...facts.flatMap(([label, value]) => wrapped(`  ${label.padEnd(width)}  ${harmless(value)}`, screen)),
    ]
  })

export const explain = command(
  {
    name: "explain",
    summary: "Show where a figure comes from, back to what the service said and when.",
    about: [
      "ID: a journal number, in full or as any import file has it (ORG-2610-000007, ORG-2610-000007S for a summary's first entry,",
      "ORG-FX-2026-10-000001 for what only the base-currency journal has); a finding (F12); a row in quarantine (Q12; its content is shown by tieout quarantine show Q12);",
      "a client's code; a transaction hash; a batch (ORG/4); the number of a camt.053 statement; an account by its code, or by the number or name that a file",
      "gives it; a line number of Business Central (1000, or of one batch ORG/4:1000); or the identifier of an account, a statement entry, a deposit, a withdrawal, a payout, a conversion, a receivable",
      "or a client, of which the first 8 characters are enough.",
    ],
    takes: { id: argument.text("ID") },
    examples: [
      ["tieout explain ORG-2026-10-000007", "one journal entry"],
      ["tieout explain F12", "one finding, and what it is about"],
    ],
  },
  Effect.fn("Cli.explain")(
    function* ({ id }) {
      const output = yield* Output
      const explanation = yield* (yield* Explain).explain(id)
      yield* output.report({
        document: explanation,
        lines: () => linesOf(explanation, output.terminal.stdout),
      })
    },
    Effect.provide(Layer.provideMerge(Explain.Default, booksToRead)),
  ),
)
