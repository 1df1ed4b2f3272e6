/** The documents of `--json`: the same bytes as one text would have, without that text. */

import { Effect } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { documentPieces, documentText } from "../../src/Cli/FailureDocument.ts"
import { makeOutput, Outcome } from "../../src/Cli/Output.ts"
import { harmlessJson } from "../../src/Common/Text.ts"
import { listed } from "../../src/Terminal/JsonPieces.ts"
import { processTerminal, type TerminalService } from "../../src/Terminal.ts"

const atOnce = (document: object): string => {
  const text = JSON.stringify(
    { schema: 1, ...document },
    (_key, value: unknown) => (typeof value === "bigint" ? value.toString() : value),
    2,
  )
  return `${harmlessJson(text)}\n`
}

const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: "small" },
    fc.string({ unit: "binary" }),
    fc.constantFrom("\ud800", "\n", "\u2028", "a\u0000b"),
    fc.bigInt(),
    fc.double(),
    fc.constantFrom(null, undefined, true, new Date(0), {}, [], [[]], Symbol.iterator),
    fc.array(tie("any"), { maxLength: 4 }),
    fc.dictionary(fc.string({ unit: "binary" }), tie("any"), { maxKeys: 4, noNullPrototype: true }),
  ),
})).any

const many = Array.from({ length: 20_000 }, (_, at) => ({
  number: `Q${at}`,
  reason: "is missing",
  path: "$.createdAt",
}))

/** What a command prints, by piece. */
const printed = (report: Parameters<ReturnType<typeof makeOutput>["report"]>[0], json: boolean) => {
  const pieces: Array<string> = []
  const terminal: TerminalService = { ...processTerminal({}), writeOut: (text) => void pieces.push(text) }
  Effect.runSync(makeOutput(json, terminal, new Outcome()).report(report))
  return pieces
}

describe("a document", () => {
  it("has the bytes that it has when it is written at once", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), value, { maxKeys: 5, noNullPrototype: true }), (document) => {
        expect(documentText(document)).toBe(atOnce(document))
      }),
      { numRuns: 2_000 },
    )
  })

  it("makes a list's items as they are printed", () => {
    let made = 0
    const rows = listed(many, (row) => {
      made += 1
      return { ...row, lines: listed([made], (line) => ({ line })) }
    })
    const [first = "", ...others] = [{ rows, open: 1n }].flatMap((document) => {
      const pieces = documentPieces(document)
      const { value: piece } = pieces.next()
      expect(made).toBeLessThan(many.length / 10)
      return [piece ?? "", ...pieces]
    })
    expect([first, ...others].join("")).toBe(
      atOnce({ rows: many.map((row, at) => ({ ...row, lines: [{ line: at + 1 }] })), open: 1n }),
    )
  })

  it("is printed in portions", () => {
    const pieces = printed({ document: { rows: many }, lines: [] }, true)
    expect(pieces.join("")).toBe(atOnce({ rows: many }))
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(70_000)
  })
})

it("only what is printed is made", () => {
  const unread = () => {
    throw new Error("nobody reads it")
  }
  expect(printed({ document: { rows: [] }, lines: unread }, true).join("")).toBe(atOnce({ rows: [] }))
  const lines = () => ["one", "two"]
  expect(printed({ document: { rows: listed(many, unread) }, lines }, false).join("")).toBe("one\ntwo\n")
})
