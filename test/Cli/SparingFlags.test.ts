/** The flags that spare a long command memory and time are those of the V8 that runs it. */
import { execFileSync } from "node:child_process"
import { describe, expect, it } from "vitest"
import { sparingFlags } from "../../src/Cli/Bundled/Front.ts"

describe("the flags of V8 for long commands", () => {
  it("are all known to this one", () => {
    const known = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" })
    const names = sparingFlags(process.versions.v8).map((flag) =>
      flag.replace(/^--(no-)?/, "").replace(/=.*/, ""),
    )
    expect(names.filter((name) => !new RegExp(`^ *--${name} `, "m").test(known))).toEqual([])
  })

  it("keep a command that ends from waiting for a thread that waits for it", () => {
    expect(sparingFlags("13.6.233.10-node.28")).toContain("--no-concurrent-sparkplug")
  })

  it("have no budget of interrupts where V8 has none", () => {
    expect(sparingFlags("11.3.244.8-node.33").some((flag) => flag.includes("budget"))).toBe(true)
    expect(sparingFlags("12.4.254.21-node.21").some((flag) => flag.includes("budget"))).toBe(false)
    expect(sparingFlags("13.6.233.10-node.28").some((flag) => flag.includes("budget"))).toBe(false)
  })
})
