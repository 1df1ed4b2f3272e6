import type { Proposals, ProposedOption } from "./Proposals.ts"

const escaped = (text: string): string => text.replaceAll("'", "'\\''").replaceAll(/[[\]:]/g, "\\$&")

const actionOf = ({ several, values }: ProposedOption): string => {
  if (values.length === 0) return "_files"
  return several ? ` _values -s , value ${values.join(" ")}` : `(${values.join(" ")})`
}

const optionOf = (option: ProposedOption): string =>
  option.takesValue
    ? `'${option.flag}=[${escaped(option.what)}]:value:${actionOf(option)}'`
    : `'${option.flag}[${escaped(option.what)}]'`

const ofCommands = ({ commands }: Proposals, common: string): ReadonlyArray<string> =>
  commands.map(({ first, name, options }) => {
    const own = options.map(optionOf).join(" ")
    const list = first.length === 0 ? "" : ` '1:argument:(${first.join(" ")})'`
    return `    ${name}) _arguments ${own} ${common}${list} '*:argument:_files' ;;`
  })

export const zsh = (proposals: Proposals): string => {
  const common = proposals.commonOptions.map(optionOf).join(" ")
  return `#compdef tieout
# tieout completions for zsh: put this into a file named _tieout in a folder of $fpath
_tieout() {
  local curcontext="$curcontext" context state state_descr line
  typeset -A opt_args
  local -a subcommands
  subcommands=(
${proposals.commands.map(({ name, summary }) => `    '${name}:${escaped(summary)}'`).join("\n")}
  )
  _arguments -C ${common} '1:command:->command' '*::argument:->own'
  if [ "$state" = command ]; then
    _describe command subcommands
    return
  fi
  case $words[1] in
${ofCommands(proposals, common).join("\n")}
  esac
}
if [ "$funcstack[1]" = _tieout ]; then _tieout "$@"; else compdef _tieout tieout; fi
`
}
