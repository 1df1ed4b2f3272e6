import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { type Shell, scriptFor, shells } from "../../src/Cli/Commands/Setup/CompletionsCommand.ts"
import { builtManual } from "../support/Compiled.ts"
import { isInstalled } from "../support/Installed.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"

const manual = builtManual()
const folder = temporaryFolder()
for (const shell of shells) writeFileSync(join(folder, `${shell}.script`), scriptFor(shell, manual))

/** Between the proposals for two lines. */
const separator = "---"

const run = (program: string, args: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> =>
  execFileSync(program, args, { cwd: folder, encoding: "utf8", timeout: 60_000 })
    .split(`${separator}\n`)
    .slice(1)
    .map((proposed) =>
      proposed
        .split("\n")
        .map((line) => line.split("\t")[0] ?? "")
        .filter((line) => line !== "")
        .sort(),
    )

/** Bash splits a line at spaces and around `=`. */
const askBash = (lines: ReadonlyArray<string>) => {
  const asking = lines.map((line) => {
    const words = line.split(/ |(?==)|(?<==)(?=.)/)
    const list = words.map((word) => `'${word}'`).join(" ")
    return `echo '${separator}'; COMPREPLY=(); COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _tieout; printf '%s\\n' "\${COMPREPLY[@]}"`
  })
  return run("bash", ["-c", ["source ./bash.script", ...asking].join("\n")])
}

const askFish = (lines: ReadonlyArray<string>) => {
  const asking = lines.map((line) => `echo '${separator}'; complete -C '${line}'`)
  return run("fish", ["--no-config", "-c", ["source ./fish.script", ...asking].join("\n")])
}

/** Zsh completes only on a terminal: the driver makes one, and prints the proposals for each of its arguments. */
const zshDriver = `
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "autoload -Uz compinit; compinit -u -D; source ./zsh.script; bindkey '^I' complete-word"
zpty -w z 'compadd() {
  if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return; fi
  local -a hits; builtin compadd -A hits "$@"; for hit in $hits; do print -r -- "HIT $hit"; done
  builtin compadd "$@"
}'
zpty -w z 'finished() { print E""ND; comppostfuncs=(finished) }; comppostfuncs=(finished); print RE""ADY'
zpty -r z line '*READY*'
for asked in "$@"; do
  print -r -- '${separator}'
  zpty -n -w z "$asked"$'\\t'
  while zpty -r z line; do
    [[ $line == *HIT\\ * ]] && print -r -- "\${\${line##*HIT }%%$'\\r'*}"
    [[ $line == *END* ]] && break
  done
  # Clears the line for the next one.
  zpty -n -w z $'\\x15'
done
`
writeFileSync(join(folder, "driver"), zshDriver)
writeFileSync(join(folder, "euro rates.csv"), "")
const askZsh = (lines: ReadonlyArray<string>) => run("zsh", ["-f", "./driver", ...lines])

/** Asks a shell for the proposals for several lines in one process; each in alphabetical order. */
const ask: Readonly<Record<Shell, (lines: ReadonlyArray<string>) => ReadonlyArray<ReadonlyArray<string>>>> = {
  bash: askBash,
  zsh: askZsh,
  fish: askFish,
}

describe.each(shells)("completions of %s", (shell) => {
  const there = isInstalled(shell, "its completions are not tried")
  const propose = (
    expected: Readonly<Record<string, ReadonlyArray<string>>>,
    shown = (text: string) => text,
  ) => {
    const lines = Object.keys(expected)
    const found = ask[shell](lines).map((proposals) => proposals.map(shown))
    expect(Object.fromEntries(lines.map((line, at) => [line, found[at]]))).toEqual(expected)
  }

  it("have every command", () => {
    for (const { name } of manual) expect(scriptFor(shell, manual)).toContain(name)
  })

  it.skipIf(!there)("propose commands, the options of a command, and what stands after it", () => {
    propose({
      "tieout rec": ["reclassify", "reconcile"],
      "tieout export --f": ["--format", "--from"],
      "tieout --json serve --s": ["--status-port"],
      "tieout --log-level debug exp": ["explain", "export"],
      "tieout batches ": ["acknowledge", "commit", "download", "list", "show", "supersede"],
      "tieout webhook --connection replay ": ["diagnose", "events", "replay"],
      "tieout completions ": ["bash", "fish", "zsh"],
      "tieout rates export --o": ["--out"],
      "tieout rates export --f": [],
    })
  })

  it.skipIf(!there)(
    "propose the values of an option, of a list one by one, and behind an equals sign",
    () => {
      // Zsh shows only the last value of a list, fish shows the option too; what is typed stays.
      propose(
        {
          "tieout export --mode ": ["detail", "summary"],
          "tieout webhook events --state d": ["dead", "done"],
          "tieout --json sync --surface c": ["client", "credit"],
          "tieout --log-level ": ["debug", "error", "info", "none", "trace", "warning"],
          "tieout export --format xero-": ["xero-statement"],
          "tieout export --format journal,h": ["hledger"],
          "tieout export --format=journal,h": ["hledger"],
          "tieout export --mode=": ["detail", "summary"],
        },
        (text) => text.split(/[,=]/).at(-1) ?? "",
      )
    },
  )

  it.skipIf(!there)("propose files elsewhere", () => {
    propose(
      {
        "tieout verify dr": ["driver"],
        "tieout --config dr": ["driver"],
        "tieout rates import dr": ["driver"],
        "tieout rates import eu": ["euro rates.csv"],
      },
      // A space is part of the name.
      (text) => text.replaceAll("\\", ""),
    )
  })
})
