/** Completions for shells, from the manual: what `--help` says is what the shell proposes. */
import { Args, Command } from "@effect/cli"
import { Effect } from "effect"
import { bash } from "./Completions/Bash.ts"
import { fish } from "./Completions/Fish.ts"
import { zsh } from "./Completions/Zsh.ts"
import { Output } from "./Output.ts"
import { type Shell, shells } from "./Values.ts"

const scripts: Readonly<Record<Shell, () => string>> = { bash, zsh, fish }

export const scriptFor = (shell: Shell): string => scripts[shell]()

export const completions = Command.make(
  "completions",
  {
    shell: Args.choice(
      shells.map((shell) => [shell, shell] as const),
      { name: "SHELL" },
    ),
  },
  Effect.fn("Cli.completions")(function* ({ shell }) {
    const output = yield* Output
    const script = scriptFor(shell)
    yield* output.report({ document: { shell, script }, lines: [script.trimEnd()] })
  }),
)
