import { flagsOf, type Proposals } from "./Proposals.ts"

const ofOptions = ({ valueOptions }: Proposals): ReadonlyArray<string> =>
  valueOptions
    .filter(({ values }) => values.length > 0)
    .map(({ flag, several, values }) => {
      const before = several ? ` before=\${word%"\${word##*,}"}` : ""
      return `      ${flag}) list="${values.join(" ")}"${before} ;;`
    })

const ofCommands = ({ commands }: Proposals): ReadonlyArray<string> =>
  commands.map(({ first, name, options }) => {
    const list = first.length === 0 ? "" : `; [ -n "$below" ] || list="${first.join(" ")}"`
    return `    ${name}) flags="$flags ${flagsOf(options)}"${list} ;;`
  })

/** Bash passes `--name=value` as three words. Anything but a command, an option or a known value completes as a file. */
export const bash = (
  proposals: Proposals,
): string => `# tieout completions for bash: source <(tieout completions bash)
_tieout_files() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -f -- "$1"))
}
_tieout() {
  local word=\${COMP_WORDS[COMP_CWORD]} option=\${COMP_WORDS[COMP_CWORD-1]}
  local command= below= list= before= each value=
  local flags="${flagsOf(proposals.commonOptions)}" valued=" ${flagsOf(proposals.valueOptions)} "
  if [ "$word" = = ]; then word=; elif [ "$option" = = ]; then option=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for each in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $each in
      =) value=yes ;;
      -*) case $valued in *" $each "*) value=yes ;; *) value= ;; esac ;;
      *) if [ -n "$value" ]; then value=
        elif [ -z "$command" ]; then command=$each
        elif [ -z "$below" ]; then below=$each; fi ;;
    esac
  done
  if [ -n "$value" ]; then
    case $option in
${ofOptions(proposals).join("\n")}
      *) _tieout_files "$word"; return ;;
    esac
    COMPREPLY=($(compgen -P "$before" -W "$list" -- "\${word#"$before"}"))
    return
  fi
  case $command in
    "") list="${proposals.commands.map(({ name }) => name).join(" ")} $flags" ;;
${ofCommands(proposals).join("\n")}
  esac
  if [ -z "$command" ]; then
    COMPREPLY=($(compgen -W "$list" -- "$word"))
  elif [ "\${word#-}" != "$word" ]; then
    COMPREPLY=($(compgen -W "$flags" -- "$word"))
  elif [ -n "$list" ]; then
    COMPREPLY=($(compgen -W "$list" -- "$word"))
  else
    _tieout_files "$word"
  fi
}
complete -o filenames -F _tieout tieout
`
