import { describe, expect, it } from "vitest"
import { parseReferences } from "../../src/Inquiry/Reference.ts"

const uuid = "0f3cfade-1234-4567-89ab-0123456789ab"

describe("what a person types", () => {
  it.each([
    ["ORG-2026-10-000007", { kind: "number", code: "ORG", period: "2026-10", number: 7, summary: false }],
    [
      "production-org-2026-10-1000007",
      { kind: "number", code: "PRODUCTION-ORG", period: "2026-10", number: 1_000_007, summary: false },
    ],
    ["ORG-2026-10-000007S", { kind: "number", code: "ORG", period: "2026-10", number: 7, summary: true }],
    ["ORG-2026-10-000007-USD", { kind: "number", code: "ORG", period: "2026-10", number: 7, summary: false }],
    ["org-2610-000007s", { kind: "short", beginning: "ORG", period: "2026-10", number: 7, summary: true }],
    [
      "XC164F-2610-000007",
      { kind: "short", beginning: "XC164F", period: "2026-10", number: 7, summary: false },
    ],
    ["F12", { kind: "finding", findingId: "12" }],
    ["q12", { kind: "quarantined", quarantineId: "12" }],
    ["finding 12", { kind: "finding", findingId: "12" }],
    [uuid, { kind: "uuid", from: uuid, to: uuid }],
    [` ${uuid.toUpperCase()} `, { kind: "uuid", from: uuid, to: uuid }],
    [
      "0f3cfade-12",
      {
        kind: "uuid",
        from: "0f3cfade-1200-0000-0000-000000000000",
        to: "0f3cfade-12ff-ffff-ffff-ffffffffffff",
      },
    ],
    ["ORG-2026-13-000007", undefined],
    ["ORG-0000-01-000007", undefined],
    ["0f3cfad", undefined],
    ["", undefined],
    [`${uuid}0`, undefined],
  ])("%s", (text, expected) => {
    expect(parseReferences(text)).toEqual(expected === undefined ? [] : [expected])
  })

  it("a bank statement's number may be a UUID, too", () => {
    expect(parseReferences("0f3cfade12344567-20261001-12ab34cd")).toEqual([
      expect.objectContaining({ kind: "uuid" }),
      {
        kind: "statement",
        from: "0f3cfade-1234-4567-0000-000000000000",
        to: "0f3cfade-1234-4567-ffff-ffffffffffff",
        day: "2026-10-01",
      },
    ])
  })

  it("F and seven digits may be either", () => {
    expect(parseReferences("F1234567").map(({ kind }) => kind)).toEqual(["finding", "uuid"])
  })
})
