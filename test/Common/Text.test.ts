import { execFileSync } from "node:child_process"
import { expect, it } from "vitest"
import { inShell } from "../../src/Common/Text.ts"

it.each(["exports/default-ORG/2026-10/7", "Bücher/日本/7"])(
  "a path that needs no quotes has none: %s",
  (path) => {
    expect(inShell(path)).toBe(path)
  },
)

it.each(["my books/7", "Ada's/$HOME/`id`", 'a"b\\c', "a&b;c(d)#e~*?[f]!", " "])(
  "a path is one word of a command, as it is: %s",
  (path) => {
    expect(execFileSync("sh", ["-c", `printf %s ${inShell(path)}`], { encoding: "utf8" })).toBe(path)
  },
)

it("a path that begins with a dash is no option", () => {
  expect(inShell("-x/7")).toBe("./-x/7")
})
