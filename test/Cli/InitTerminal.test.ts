/** `tieout init` on a terminal of its own: `script` of util-linux gives it one. */
import { spawn, spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { Settings } from "../../src/Settings.ts"
import { program } from "../support/Program.ts"

const canGive = /util-linux/.test(spawnSync("script", ["--version"], { encoding: "utf8" }).stdout ?? "")
if (!canGive) process.stderr.write("No script of util-linux here: tieout init is not tried on a terminal.\n")

type Answers = ReadonlyArray<readonly [question: string, answer: string]>

/** Types each answer once its question is on the screen. Answers the screen's text and the exit code. */
const typing = (cwd: string, main: string, answers: Answers) =>
  Effect.async<{ readonly code: number | null; readonly screen: string }>((resume) => {
    const child = spawn("script", ["-qec", `'${process.execPath}' '${main}' init`, "/dev/null"], {
      cwd,
      env: { PATH: process.env.PATH, TERM: "xterm", SHELL: "/bin/sh" },
      stdio: ["pipe", "pipe", "inherit"],
    })
    let screen = ""
    const left = [...answers]
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      screen += text
      const [next] = left
      if (next === undefined || !screen.includes(next[0])) return
      left.shift()
      child.stdin.write(`${next[1]}\r`)
    })
    child.once("close", (code) => resume(Effect.succeed({ code, screen })))
    return Effect.sync(() => child.kill("SIGKILL"))
  })

it.scopedLive.skipIf(!canGive)("init asks on a terminal, and writes settings that hold the answers", () =>
  Effect.gen(function* () {
    const { cwd, main } = yield* program
    const file = join(cwd, "config", "tieout.yaml")
    const answers: Answers = [
      ["Names of the connections (one per set of credentials) [default]: ", "default, acme-uk"],
      [
        "Surfaces that default may use (organization, client, credit) [organization]: ",
        "credit organization moon",
      ],
      ["There is no surface moon: name some of organization, client, credit.", "credit organization"],
      ["Surfaces that acme-uk may use (organization, client, credit) [organization]: ", ""],
      ["Time zone of the accounts (IANA) [UTC]: ", "Mars/Phobos"],
      ["expected an IANA time zone such as Europe/Berlin or UTC", "Europe/Zurich"],
      ["Base currency [EUR]: ", "chf"],
    ]
    const { code, screen } = yield* typing(cwd, main, answers)
    expect([code, code === 0 ? "" : screen]).toEqual([0, ""])
    for (const [question] of answers) expect(screen).toContain(question)
    expect(screen).toContain("Wrote config/tieout.yaml")
    expect(screen).toContain("  export TIEOUT_ACME_UK_CLIENT_SECRET=")
    const found = yield* Effect.provide(Settings, Settings.from({ file, variables: {} }))
    expect(found.connections).toEqual({
      default: { surfaces: ["organization", "credit"] },
      "acme-uk": { surfaces: ["organization"] },
    })
    expect(found.accounting).toMatchObject({ timeZone: "Europe/Zurich", baseCurrency: "CHF" })

    const before = readFileSync(file, "utf8")
    const again = yield* typing(cwd, main, [])
    expect([again.code, again.screen.includes("config/tieout.yaml is there already.")]).toEqual([2, true])
    expect([existsSync(file), readFileSync(file, "utf8") === before]).toEqual([true, true])
  }),
)

for (const [key, typed] of [
  ["Ctrl+C", "\u0003"],
  ["Ctrl+D", "\u0004"],
] as const) {
  it.scopedLive.skipIf(!canGive)(
    `init that is left by ${key} ends as one that was stopped, and writes nothing`,
    () =>
      Effect.gen(function* () {
        const { cwd, main } = yield* program
        const { code, screen } = yield* typing(cwd, main, [["[default]: ", typed]])
        expect([code, screen]).toEqual([75, expect.stringContaining("Stopped before it was done.")])
        expect(existsSync(join(cwd, "config"))).toBe(false)
      }),
  )
}
