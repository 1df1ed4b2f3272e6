import { spawnSync } from "node:child_process"
import { closeSync, fstatSync, openSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { commonVariables, compiled } from "../support/Compiled.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"

/** The lines that a command writes to stderr, which is a file that `JOURNAL_STREAM` names or does not name. */
const logged = (args: ReadonlyArray<string>, journal: boolean, settings = "status: { port: none, x: 1 }") => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, "tieout.yaml"), settings)
  const file = join(folder, "log")
  const opened = openSync(file, "w")
  const { dev, ino } = fstatSync(opened)
  spawnSync(process.execPath, [compiled("bin/tieout.js"), ...args], {
    cwd: folder,
    env: {
      ...{ ...commonVariables(), TIEOUT_CONFIG: "tieout.yaml" },
      JOURNAL_STREAM: journal ? `${dev}:${ino}` : `${dev}:${ino + 1}`,
    },
    stdio: ["ignore", "ignore", opened],
  })
  closeSync(opened)
  return readFileSync(file, "utf8").trimEnd().split("\n")
}

describe("a line in systemd's journal", () => {
  it.each([
    ["a server's mistake", ["serve"], 1],
    ["a sync's mistake, line by line", ["sync"], 3],
    ["an unknown option", ["sync", "--nothing"], 2],
  ] as const)("has the priority of errors: %s", (_what, args, most) => {
    const lines = logged(args, true)
    expect(lines.length).toBeGreaterThanOrEqual(most)
    for (const line of lines) expect(line).toMatch(/^<3>[^<]/)
  })

  it("has the priority of each line of the log", () => {
    const lines = logged(["status", "--log-level", "debug"], true, "limits: {}")
    expect(lines.filter((line) => line.startsWith("<7>"))).not.toEqual([])
    expect(lines.filter((line) => line.startsWith("<3>There is no database"))).toHaveLength(1)
  })

  it("has no priority where stderr goes elsewhere, even though a journal is named", () => {
    for (const line of logged(["sync"], false)) expect(line).not.toMatch(/^<\d>/)
  })
})
