import { flagsOf, type Proposals, type ProposedOption } from "./Proposals.ts"

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")

const valuesOf = ({ several, takesValue, values }: ProposedOption): string => {
  if (!takesValue) return ""
  if (values.length === 0) return " -r"
  return several ? ` -x -a '(__tieout_list ${values.join(" ")})'` : ` -x -a '${values.join(" ")}'`
}

const optionOf = (condition: string, option: ProposedOption): string =>
  `complete -c tieout ${condition}-l ${option.flag.replace(/^--/, "")}${valuesOf(option)} -d '${escaped(option.what)}'`

/** Finds the command among the words that are neither options nor their values: a subcommand may share a command's name. */
const helpers = (valueOptions: ReadonlyArray<ProposedOption>): string => `function __tieout_words
    set -l value
    for each in (commandline -opc)[2..-1]
        if test -n "$value"
            set value
        else if contains -- $each ${flagsOf(valueOptions)}
            set value yes
        else if not string match -q -- '-*' $each
            echo $each
        end
    end
end
function __tieout_begins
    set -l words (__tieout_words)
    test "$words[1]" = "$argv"
end
function __tieout_is
    set -l words (__tieout_words)
    test "$words" = "$argv"
end
function __tieout_list
    set -l before (string replace -r '[^,]*$' '' -- (commandline -ct | string replace -r '^--[^=]*=' ''))
    for each in $argv
        echo $before$each
    end
end`

export const fish = ({ commands, commonOptions, valueOptions }: Proposals): string =>
  [
    "# tieout completions for fish: tieout completions fish > ~/.config/fish/completions/tieout.fish",
    helpers(valueOptions),
    ...commands.map(
      ({ name, summary }) => `complete -c tieout -n __tieout_is -f -a ${name} -d '${escaped(summary)}'`,
    ),
    ...commonOptions.map((option) => optionOf("", option)),
    ...commands.flatMap(({ first, name, options }) => [
      ...options.map((option) => optionOf(`-n '__tieout_begins ${name}' `, option)),
      ...(first.length === 0
        ? []
        : [`complete -c tieout -n '__tieout_is ${name}' -f -a '${first.join(" ")}'`]),
    ]),
    "",
  ].join("\n")
