/** Completions for shells, from the manual: what `--help` says is what the shell proposes. */
import { Args, Command } from "@effect/cli"
import { Effect } from "effect"
import { type CommandManual, commands, globalOptions } from "./Manual.ts"
import { Output } from "./Output.ts"

const shells = ["bash", "zsh", "fish"] as const
type Shell = (typeof shells)[number]

interface Proposed {
  readonly flag: string
  readonly takesValue: boolean
  readonly what: string
}

const proposed = (options: Readonly<Record<string, string>>): ReadonlyArray<Proposed> =>
  Object.entries(options).map(([option, what]) => {
    const [flag = option, value] = option.split(" ")
    return { flag, takesValue: value !== undefined, what }
  })

const manuals: ReadonlyArray<readonly [string, CommandManual]> = Object.entries(commands)
const names = manuals.map(([name]) => name)
const common = proposed(globalOptions)

const flagsOf = (options: ReadonlyArray<Proposed>): string => options.map(({ flag }) => flag).join(" ")

/** After an option that takes a value, and after `verify`, files are proposed. */
const bash = (): string => `# tieout completions for bash: source <(tieout completions bash)
_tieout() {
  local word=\${COMP_WORDS[COMP_CWORD]} command= option
  for option in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $option in -*) ;; *) case " ${names.join(" ")} " in *" $option "*) command=$option; break ;; esac ;; esac
  done
  local flags="${flagsOf(common)}"
  case $command in
    "") COMPREPLY=($(compgen -W "${names.join(" ")} $flags" -- "$word")); return ;;
${manuals
  .map(([name, { options }]) => `    ${name}) flags="$flags ${flagsOf(proposed(options))}" ;;`)
  .join("\n")}
  esac
  if [ "$command" = completions ] && [ "\${word#-}" = "$word" ]; then
    COMPREPLY=($(compgen -W "${shells.join(" ")}" -- "$word"))
  elif [ "\${word#-}" != "$word" ]; then
    COMPREPLY=($(compgen -W "$flags" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -F _tieout tieout
`

const zshText = (text: string): string => text.replaceAll("'", "'\\''").replaceAll(/[[\]:]/g, "\\$&")

const zshOption = ({ flag, takesValue, what }: Proposed): string =>
  `'${flag}[${zshText(what)}]${takesValue ? ":value:_files" : ""}'`

const zsh = (): string => `#compdef tieout
# tieout completions for zsh: put this into a file named _tieout in a folder of $fpath
_tieout() {
  local -a subcommands
  subcommands=(
${manuals.map(([name, { summary }]) => `    '${name}:${zshText(summary)}'`).join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe command subcommands
    _arguments ${common.map(zshOption).join(" ")}
    return
  fi
  case $words[2] in
${manuals
  .map(([name, { options }]) => {
    const own = [...proposed(options), ...common].map(zshOption).join(" ")
    return `    ${name}) _arguments ${own} '*:argument:${name === "completions" ? `(${shells.join(" ")})` : "_files"}' ;;`
  })
  .join("\n")}
  esac
}
if [ "$funcstack[1]" = _tieout ]; then _tieout "$@"; else compdef _tieout tieout; fi
`

const fishText = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")

const fishOption = (condition: string, { flag, takesValue, what }: Proposed): string =>
  `complete -c tieout ${condition}-l ${flag.replace(/^--/, "")}${takesValue ? " -r" : ""} -d '${fishText(what)}'`

const fish = (): string =>
  [
    "# tieout completions for fish: tieout completions fish > ~/.config/fish/completions/tieout.fish",
    ...manuals.map(
      ([name, { summary }]) =>
        `complete -c tieout -n __fish_use_subcommand -f -a ${name} -d '${fishText(summary)}'`,
    ),
    ...common.map((option) => fishOption("", option)),
    ...manuals.flatMap(([name, { options }]) =>
      proposed(options).map((option) => fishOption(`-n '__fish_seen_subcommand_from ${name}' `, option)),
    ),
    `complete -c tieout -n '__fish_seen_subcommand_from completions' -f -a '${shells.join(" ")}'`,
    "",
  ].join("\n")

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
