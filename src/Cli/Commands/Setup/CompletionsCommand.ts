/** Completions for shells, from the manual: what `--help` says is what the shell proposes. */
import { Effect } from "effect"
import { bash } from "../../Completions/Bash.ts"
import { fish } from "../../Completions/Fish.ts"
import { type Proposals, proposalsOf } from "../../Completions/Proposals.ts"
import { zsh } from "../../Completions/Zsh.ts"
import { argument, command, oneOf, WholeManual } from "../../Declaration.ts"
import type { Manual } from "../../Manual.ts"
import { Output } from "../../Output.ts"

export const shells = ["bash", "zsh", "fish"] as const
export type Shell = (typeof shells)[number]

const scripts: Readonly<Record<Shell, (proposals: Proposals) => string>> = { bash, zsh, fish }

export const scriptFor = (shell: Shell, manual: Manual): string => scripts[shell](proposalsOf(manual))

export const completions = command(
  {
    name: "completions",
    summary: `Print completions for a shell: ${oneOf(shells)}.`,
    about: [
      "They propose the commands and options of this version, the values that are known beforehand, and files elsewhere.",
    ],
    takes: { shell: argument.choice("SHELL", shells) },
    examples: [
      ["source <(tieout completions bash)", "in ~/.bashrc"],
      ["tieout completions fish > ~/.config/fish/completions/tieout.fish", "once"],
    ],
  },
  Effect.fn("Cli.completions")(function* ({ shell }) {
    const output = yield* Output
    const script = scriptFor(shell, yield* WholeManual)
    yield* output.report({ document: { shell, script }, lines: [script.trimEnd()] })
  }),
)
