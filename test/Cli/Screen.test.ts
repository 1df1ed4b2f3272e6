import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { counted, harmless, truncate, widthOf } from "../../src/Common/Text.ts"
import { jsonLines } from "../../src/Terminal/Json.ts"
import { showProgress } from "../../src/Terminal/Progress.ts"
import { table } from "../../src/Terminal/Table.ts"

const wide = { interactive: false, width: Number.POSITIVE_INFINITY, color: false }

describe("text", () => {
  it.each([
    ["abc", 3],
    ["東京", 4],
    ["é", 1],
    ["e\u0301", 1],
    ["\u001b[31mred\u001b[0m", 3],
    ["🙂", 2],
  ])("%j takes %i columns", (text, columns) => expect(widthOf(text)).toBe(columns))

  it("of others cannot move the cursor or turn the line around", () => {
    expect(harmless("a\u001b[2Jb\n\u202egnp")).toBe("a\ufffd[2Jb\ufffd\ufffdgnp")
  })

  it("is cut at whole characters", () => {
    expect(truncate("東京株式会社", 6)).toBe("東京…")
    expect(truncate("short", 5)).toBe("short")
  })

  it("counts in words", () => {
    expect([counted(1, "entry", "entries"), counted(1_234_567, "entry", "entries")]).toEqual([
      "1 entry",
      "1,234,567 entries",
    ])
  })
})

describe("JSON", () => {
  it("is laid out without a digit or an escape of it changing", () => {
    const text = '{"a":1.10,"b":[],"c":[{"d":"x, \\"y\\": {\\u0000"},-0,1e5],"e":{}, "f" : null}'
    const lines = jsonLines(text)
    expect(lines).toEqual([
      "{",
      '  "a": 1.10,',
      '  "b": [],',
      '  "c": [',
      "    {",
      '      "d": "x, \\"y\\": {\\u0000"',
      "    },",
      "    -0,",
      "    1e5",
      "  ],",
      '  "e": {},',
      '  "f": null',
      "}",
    ])
    expect(JSON.parse(lines.join(""))).toEqual(JSON.parse(text))
  })

  it("that is not whole stays as it is", () => {
    expect(jsonLines('{"a": 1,\n{')).toEqual(['{"a": 1,', "{"])
    expect(jsonLines('"only text"')).toEqual(['"only text"'])
  })
})

describe("a table", () => {
  const columns = [
    { title: "Name", shrinks: true },
    { title: "Amount", align: "right" },
  ] as const
  const rows = [
    ["東京", "1.00"],
    ["A rather long company name", "1000000.00"],
  ]

  it("is aligned, whatever the letters are", () => {
    expect(table(columns, rows, wide)).toEqual([
      "Name                            Amount",
      "東京                              1.00",
      "A rather long company name  1000000.00",
    ])
  })

  it("gives way in text, never in amounts, where the terminal is narrow", () => {
    expect(table(columns, rows, { ...wide, width: 24 })).toEqual([
      "Name              Amount",
      "東京                1.00",
      "A rather lo…  1000000.00",
    ])
  })
})

describe("progress", () => {
  const report = (interactive: boolean, wanted: boolean) => {
    let written = ""
    const terminal = {
      stdout: wide,
      stderr: { interactive, width: interactive ? 20 : Number.POSITIVE_INFINITY, color: false },
      writeOut: () => {},
      writeError: (text: string) => {
        written += text
      },
    }
    const program = Effect.gen(function* () {
      const progress = yield* showProgress(terminal, wanted)
      yield* progress.report({ stage: "sync", text: "1 of 12 accounts" })
      progress.writeAbove("a line of log")
    })
    Effect.runSync(Effect.scoped(program))
    return written
  }

  it("is one line on a terminal, redrawn below the log and gone at the end", () => {
    const line = "sync: 1 of 12 acco…"
    const erase = "\r\u001b[2K"
    expect(report(true, true)).toBe(`${erase}${line}${erase}a line of log\n${line}${erase}`)
  })

  it("is nothing elsewhere until some seconds have passed, and the log is whole", () => {
    expect(report(false, true)).toBe("a line of log\n")
    expect(report(true, false)).toBe("a line of log\n")
  })
})
