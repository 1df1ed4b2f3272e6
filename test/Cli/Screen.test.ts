import { Effect } from "effect"
import { describe, expect, it, vi } from "vitest"
import { helpFor } from "../../src/Cli/Help.ts"
import { readManual } from "../../src/Cli/Program.ts"
import { verdict } from "../../src/Cli/Tables/StandingTable.ts"
import { inStage, Progress } from "../../src/Common/Progress.ts"
import { counted, harmless, truncate, widthOf } from "../../src/Common/Text.ts"
import { wrappedText } from "../../src/Common/Wrap.ts"
import { jsonLines } from "../../src/Terminal/Json.ts"
import { showProgress } from "../../src/Terminal/ShownProgress.ts"
import { table } from "../../src/Terminal/Table.ts"

const wide = { interactive: false, width: Number.POSITIVE_INFINITY, color: false }

it("the conclusion of sync and status is broken between words on a narrow terminal", () => {
  const open = {
    ...{
      accounts: 3,
      off: 0,
      beingRead: 0,
      suspense: 31,
      transit: 4,
      blocked: { "2026-09": 3, "2026-10": 1 },
    },
    ...{ loans: 0, loansBlocked: {}, clearing: 0, unexplained: 0, otherBlocking: 0, otherWarnings: 2 },
    ...{ blockingFindings: 0, accepted: 0, quarantined: 0, waiting: 0 },
  }
  const [first, ...lines] = verdict(open, [], { ...wide, width: 60 })
  expect(first).toBe("")
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60)
  const whole = verdict(open, [], wide)
  expect(whole).toHaveLength(2)
  expect(lines.map((line) => line.trim()).join(" ")).toBe(whole[1])
})

describe("text", () => {
  it.each([
    ["abc", 3],
    ["東京", 4],
    ["é", 1],
    ["e\u0301", 1],
    ["\u001b[31mred\u001b[0m", 3],
    ["🙂", 2],
  ])("%j takes %i columns", (text, columns) => expect(widthOf(text)).toBe(columns))

  it("from others cannot move the cursor or reverse the line", () => {
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
  it("is formatted without changing a digit or an escape", () => {
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

  it("that is incomplete stays as it is", () => {
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

  it("is aligned for all scripts", () => {
    expect(table(columns, rows, wide)).toEqual([
      "Name                            Amount",
      "東京                              1.00",
      "A rather long company name  1000000.00",
    ])
  })

  it("shortens texts, never amounts, where the terminal is narrow", () => {
    expect(table(columns, rows, { ...wide, width: 24 })).toEqual([
      "Name              Amount",
      "東京                1.00",
      "A rather lo…  1000000.00",
    ])
  })

  it("shows the beginning of an identifier where the terminal is narrow", () => {
    const accounts = [["02674e7d-928a-45dd-9a9a-b87f05b4b119", "97085.67"]]
    const identified = [{ title: "Account", identifier: true }, columns[1]] as const
    expect(table(identified, accounts, { ...wide, width: 60 })[1]).toBe(`${accounts[0]?.join("  ")}`)
    expect(table(identified, accounts, { ...wide, width: 40 })).toEqual([
      "Account     Amount",
      "02674e7d  97085.67",
    ])
  })

  it("puts complete sentences on lines of their own where too little of them would fit", () => {
    const findings = [
      ["F1", "0.75 GBP", "Adjustment without a resource: CREDIT of 0.75 GBP stands in suspense."],
    ]
    const told = [{ title: "No." }, columns[1], { title: "What", prose: true }] as const
    expect(table(told, findings, { ...wide, width: 50 })).toEqual([
      "No.    Amount  What",
      "F1   0.75 GBP  Adjustment without a resource: CRE…",
    ])
    expect(table(told, findings, { ...wide, width: 36 })).toEqual([
      "No.    Amount",
      "    What",
      "F1   0.75 GBP",
      "    Adjustment without a resource:",
      "        CREDIT of 0.75 GBP stands in",
      "        suspense.",
    ])
  })
})

describe("progress", () => {
  const shown = (interactive: boolean, wanted: boolean, seconds: number) => {
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
      let accounts = 0
      const wait = (step: number) =>
        Effect.sync(() => {
          accounts += 1
          vi.advanceTimersByTime(step * 1_000)
        })
      yield* wait(seconds).pipe(
        Effect.zipRight(Effect.sync(() => progress.writeAbove("a line of log"))),
        Effect.zipRight(wait(seconds).pipe(inStage("number"))),
        inStage("sync", () => `${accounts} of 12`),
        Effect.provideService(Progress, progress),
      )
      vi.advanceTimersByTime(60_000)
    })
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] })
    try {
      Effect.runSync(Effect.scoped(program))
    } finally {
      vi.useRealTimers()
    }
    return written
  }

  it("is one line on a terminal, redrawn below the log and gone at the end", () => {
    const erase = "\r\u001b[2K"
    const first = "sync: 1 of 12 · 0:…"
    expect(shown(true, true, 0.2)).toBe(
      `${erase}${first}${erase}a line of log\n${first}${erase}sync: 2 of 12 · nu…${erase}`,
    )
  })

  it("is a plain line every five seconds elsewhere, and the log is whole", () => {
    expect(shown(false, true, 4)).toBe("a line of log\nsync: 2 of 12 · number · 0:05\n")
    expect(shown(false, true, 10)).toBe(
      "sync: 1 of 12 · 0:05\nsync: 1 of 12 · 0:10\na line of log\nsync: 2 of 12 · number · 0:15\nsync: 2 of 12 · number · 0:20\n",
    )
    expect(shown(true, false, 10)).toBe("a line of log\n")
  })
})

describe("on a narrow terminal", () => {
  const columns = [
    ...[{ title: "Book" }, { title: "Account" }, { title: "Currency" }, { title: "Rail", shrinks: true }],
    ...[
      { title: "Status", shrinks: true },
      { title: "New", align: "right" as const },
    ],
    ...[
      { title: "Balance", align: "right" as const },
      { title: "Ties out", shrinks: true },
    ],
  ]
  const id = "64e84b86-8460-4773-b029-fd3956e37026"
  const rows = [
    ["ORG", id, "EUR", "NORTHBANK", "ACTIVE", "238", "190712.87", "yes"],
    ["C-17", id, "JPY", "HARBOR_TRUST", "CLOSED", "2", "5", "NO: the service says 7"],
  ]
  const at = (width: number) => table(columns, rows, { interactive: true, width, color: false })

  it("each row takes the lines that it needs, nothing of it is cut, and the columns stand below their titles", () => {
    expect(at(60)).toEqual([
      "Book  Account                               Currency",
      "  Rail          Status  New    Balance",
      "  Ties out",
      `ORG   ${id}  EUR`,
      "  NORTHBANK     ACTIVE  238  190712.87",
      "  yes",
      `C-17  ${id}  JPY`,
      "  HARBOR_TRUST  CLOSED    2          5",
      "  NO: the service says 7",
    ])
    for (const width of [40, 60, 80, 100]) {
      const lines = at(width)
      expect(lines.filter((line) => widthOf(line) > width && !line.includes(id))).toEqual([])
      for (const cell of [id, "190712.87", "HARBOR_TRUST".slice(0, 7)])
        expect(lines.join("\n")).toContain(cell)
    }
  })

  it("a wide one shows a row on a line", () => expect(at(200)).toHaveLength(3))

  it("the help of every command fits, with each word of it", async () => {
    const manual = await readManual()
    for (const width of [60, 80]) {
      for (const args of [["--help"], ...manual.map(({ name }) => [name, "--help"])]) {
        const text = helpFor(args, manual) ?? ""
        const fitted = wrappedText(text, width)
        const tooLong = fitted.split("\n").filter((line) => line.length > width && line.trim().includes(" "))
        expect(tooLong).toEqual([])
        expect(fitted.split(/\s+/)).toEqual(text.split(/\s+/))
      }
    }
  })
})
