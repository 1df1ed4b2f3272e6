import { execFileSync, spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { type Shell, scriptFor, shells } from "../../src/Cli/Commands/Setup/CompletionsCommand.ts"
import { builtManual } from "../support/Compiled.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"

const manual = builtManual()
const folder = temporaryFolder()
for (const shell of shells) writeFileSync(join(folder, `${shell}.script`), scriptFor(shell, manual))

const run = (program: string, args: ReadonlyArray<string>): ReadonlyArray<string> =>
  execFileSync(program, args, { cwd: folder, encoding: "utf8", timeout: 60_000 })
    .split("\n")
    .map((line) => line.split("\t")[0] ?? "")
    .filter((line) => line !== "")

/** Bash splits a line at spaces and around `=`. */
const askBash = (line: string) => {
  const words = line.split(/ |(?==)|(?<==)(?=.)/)
  const list = words.map((word) => `'${word}'`).join(" ")
  const ask = `COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _tieout; printf '%s\\n' "\${COMPREPLY[@]}"`
  return run("bash", ["-c", `source ./bash.script; ${ask}`])
}

const askFish = (line: string) =>
  run("fish", ["--no-config", "-c", `source ./fish.script; complete -C '${line}'`])

/** Zsh completes only where there is a terminal: one is made, and what would be shown on it is printed. */
const zshDriver = `
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "autoload -Uz compinit; compinit -u -D; source ./zsh.script; bindkey '^I' complete-word"
zpty -w z 'compadd() {
  if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return; fi
  local -a hits; builtin compadd -A hits "$@"; for hit in $hits; do print -r -- "HIT $hit"; done
  builtin compadd "$@"
}'
zpty -w z 'finished() { print E""ND; exit }; comppostfuncs=(finished); print RE""ADY'
zpty -r z line '*READY*'
zpty -n -w z "$1"$'\\t'
while zpty -r z line; do
  [[ $line == *HIT\\ * ]] && print -r -- "\${\${line##*HIT }%%$'\\r'*}"
  [[ $line == *END* ]] && break
done
`
writeFileSync(join(folder, "driver"), zshDriver)
writeFileSync(join(folder, "euro rates.csv"), "")
const askZsh = (line: string) => run("zsh", ["-f", "./driver", line])

const ask: Readonly<Record<Shell, (line: string) => ReadonlyArray<string>>> = {
  bash: askBash,
  zsh: askZsh,
  fish: askFish,
}

const isThere = (shell: Shell): boolean => {
  const found = spawnSync(shell, ["--version"], { timeout: 60_000 }).error === undefined
  if (!found) console.warn(`${shell} is not installed: its completions are not tried here`)
  return found
}

describe.each(shells)("completions of %s", (shell) => {
  const there = isThere(shell)
  const proposals = (line: string) => [...ask[shell](line)].sort()

  it("have every command", () => {
    for (const { name } of manual) expect(scriptFor(shell, manual)).toContain(name)
  })

  it.skipIf(!there)("propose commands, then the command's options", () => {
    expect(proposals("tieout rec")).toEqual(["reclassify", "reconcile"])
    expect(proposals("tieout export --f")).toEqual(["--format", "--from"])
    expect(proposals("tieout --json serve --s")).toEqual(["--status-port"])
    expect(proposals("tieout --log-level debug exp")).toEqual(["explain", "export"])
  })

  it.skipIf(!there)("propose what stands after a command", () => {
    expect(proposals("tieout batches ")).toEqual([
      "acknowledge",
      "commit",
      "download",
      "list",
      "show",
      "supersede",
    ])
    expect(proposals("tieout webhook --connection replay ")).toEqual(["diagnose", "events", "replay"])
    expect(proposals("tieout completions ")).toEqual(["bash", "fish", "zsh"])
    expect(proposals("tieout rates export --o")).toEqual(["--out"])
    expect(proposals("tieout rates export --f")).toEqual([])
  })

  it.skipIf(!there)("propose the values of an option", () => {
    expect(proposals("tieout export --mode ")).toEqual(["detail", "summary"])
    expect(proposals("tieout webhook events --state d")).toEqual(["dead", "done"])
    expect(proposals("tieout --json sync --surface c")).toEqual(["client", "credit"])
    expect(proposals("tieout --log-level ")).toEqual(["debug", "error", "info", "none", "trace", "warning"])
  })

  it.skipIf(!there)("propose the values of a list one by one, and behind an equals sign", () => {
    // Zsh shows the last of a list only, fish the option too; what is typed stays.
    const ends = (line: string) => proposals(line).map((text) => text.split(/[,=]/).at(-1))
    expect(ends("tieout export --format xero-")).toEqual(["xero-statement"])
    expect(ends("tieout export --format journal,h")).toEqual(["hledger"])
    expect(ends("tieout export --format=journal,h")).toEqual(["hledger"])
    expect(ends("tieout export --mode=")).toEqual(["detail", "summary"])
  })

  it.skipIf(!there)("propose files elsewhere", () => {
    expect(proposals("tieout verify dr")).toEqual(["driver"])
    expect(proposals("tieout --config dr")).toEqual(["driver"])
    expect(proposals("tieout rates import dr")).toEqual(["driver"])
    // A space is part of the name.
    expect(proposals("tieout rates import eu").map((text) => text.replaceAll("\\", ""))).toEqual([
      "euro rates.csv",
    ])
  })
})
