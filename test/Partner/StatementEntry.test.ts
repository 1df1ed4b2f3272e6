import { Either, Option } from "effect"
import { describe, expect, it } from "vitest"
import * as Money from "../../src/Common/Money.ts"
import type { Malformed, Row } from "../../src/Partner/Lists/Page.ts"
import { decodeAll } from "../../src/Partner/Wire/RowDecoder.ts"
import { decoder } from "../../src/Partner/Wire/StatementEntry.ts"
import type { StatementEntry } from "../../src/Partner.ts"

const account = "3b8f8e2e-9d3c-4f5a-8c88-0a0b0c0d0e01"
const plain = {
  entryId: "0f8fad5b-d9cb-469f-a165-70867728950e",
  accountId: account,
  type: "CREDIT",
  amount: "10.50",
  currency: "USD",
  balanceBefore: "100.00",
  balanceAfter: "110.50",
  relatedResourceType: "DEPOSIT",
  relatedResourceId: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
  occurredAt: "2026-10-01T12:00:00.123Z",
}

const decodeText = (row: string, replaced = false): Row<StatementEntry> => {
  const text = `{"items": [ ${row} ], "pageInfo": {"hasNextPage": false}}`
  const answer: { items: ReadonlyArray<unknown> } = JSON.parse(text)
  const [decoded] = decodeAll(decoder(account), answer.items, { text, suspect: true, replaced }, ["items"])
  if (decoded === undefined) throw new Error("no row")
  return decoded
}
const decode = (changes: Record<string, unknown>) => decodeText(JSON.stringify({ ...plain, ...changes }))
const refusal = (row: Row<StatementEntry>): Malformed => Either.getOrThrow(Either.flip(row))
const amounts = (row: Row<StatementEntry>) => {
  const entry = Either.getOrThrow(row)
  return [entry.amount, Option.getOrNull(entry.balanceBefore), entry.balanceAfter].map(
    (amount) => amount && Money.format(amount, amount.scale),
  )
}

describe("A statement entry", () => {
  it("is read whole; nothing is left over", () => {
    const entry = Either.getOrThrow(decode({}))
    expect(entry).toMatchObject({
      entryId: plain.entryId,
      accountId: account,
      type: "CREDIT",
      currency: "USD",
      relatedResourceType: Option.some("DEPOSIT"),
      relatedResourceId: Option.some(plain.relatedResourceId),
      occurredAt: "2026-10-01T12:00:00.123Z",
      extra: null,
    })
    expect(amounts(decode({}))).toEqual(["10.50", "100.00", "110.50"])
  })

  it("keeps the spelling of amounts, trailing zeros too", () => {
    expect(amounts(decode({ amount: "10.5000", balanceBefore: "-3", balanceAfter: "7.5" }))).toEqual([
      "10.5000",
      "-3",
      "7.5",
    ])
  })

  it("takes null for absent, and keeps that it was null", () => {
    const entry = Either.getOrThrow(
      decode({ balanceBefore: undefined, relatedResourceType: null, relatedResourceId: null }),
    )
    expect(entry.relatedResourceType).toEqual(Option.none())
    expect(entry.balanceBefore).toEqual(Option.none())
    expect(entry.extra).toBe('{"relatedResourceType":null,"relatedResourceId":null}')
    const empty = Either.getOrThrow(
      decode({ balanceBefore: "", relatedResourceType: "", relatedResourceId: "" }),
    )
    expect([empty.balanceBefore, empty.relatedResourceType, empty.relatedResourceId]).toEqual([
      ...[Option.none(), Option.none(), Option.none()],
    ])
    expect(empty.extra).toBe('{"balanceBefore":"","relatedResourceType":"","relatedResourceId":""}')
  })

  it("keeps unknown resource types verbatim", () => {
    expect(Either.getOrThrow(decode({ relatedResourceType: "teleport" })).relatedResourceType).toEqual(
      Option.some("teleport"),
    )
  })

  it("[B] keeps extra fields to the letter, numbers and nesting too", () => {
    const row = JSON.stringify(plain).replace(
      "}",
      ',"n": 1.10, "big":12345678901234567890,"o": {"a" : 1e2},"__proto__":1}',
    )
    expect(Either.getOrThrow(decodeText(row)).extra).toBe(
      '{"n":1.10,"big":12345678901234567890,"o":{"a" : 1e2},"__proto__":1}',
    )
    expect(Either.getOrThrow(decode({ note: "x", 'a"b': true })).extra).toBe('{"note":"x","a\\"b":true}')
  })

  it("keeps what normalizing changes: zones, fine fractions, upper-case identifiers", () => {
    const entry = Either.getOrThrow(
      decode({ occurredAt: "2026-10-01T14:00:00.1234567+02:00", entryId: plain.entryId.toUpperCase() }),
    )
    expect(entry.occurredAt).toBe("2026-10-01T12:00:00.123456Z")
    expect(entry.entryId).toBe(plain.entryId)
    expect(JSON.parse(entry.extra ?? "")).toEqual({
      occurredAt: "2026-10-01T14:00:00.1234567+02:00",
      entryId: plain.entryId.toUpperCase(),
    })
  })

  it.each([
    ["1e5", "is not a plain decimal number (-?digits[.digits])"],
    ["-0", "is a negative zero"],
    ["01.00", "begins with a zero that says nothing"],
    ["+1", "is not a plain decimal number (-?digits[.digits])"],
    ["", "is not a plain decimal number (-?digits[.digits])"],
    [" 1", "is not a plain decimal number (-?digits[.digits])"],
    ["1,000.00", "is not a plain decimal number (-?digits[.digits])"],
    ["١٢", "is not a plain decimal number (-?digits[.digits])"],
    ["NaN", "is not a plain decimal number (-?digits[.digits])"],
    ["9".repeat(40), "has more than 38 digits"],
    [`${"9".repeat(38)}.99`, "has more than 38 digits"],
    ["9".repeat(60), "has more than 38 digits"],
    ["9".repeat(25), "has more than 24 digits before the point"],
    [`-${"9".repeat(25)}.00`, "has more than 24 digits before the point"],
    [10.5, "expected a decimal in a string, found a number"],
    [null, "expected a decimal in a string, found null"],
    [undefined, "expected a decimal in a string, found nothing"],
    [{ amount: "1" }, "expected a decimal in a string, found an object"],
    ["-1.00", "is negative"],
    ["0", "is zero, but the balance changes"],
    ["0.001", "has more decimals than USD has (2)"],
  ])("[B] with the amount %j is malformed: %s", (amount, reason) => {
    const row = JSON.stringify({ ...plain, amount })
    expect(refusal(decodeText(row))).toEqual({
      raw: row,
      reason,
      path: "$.amount",
      id: Option.some(plain.entryId),
    })
  })

  it("may be of zero where the balance does not change; without a balance before it, its neighbours decide", () => {
    const zero = { amount: "0.00", balanceBefore: "110.50" }
    expect(Money.toText(Either.getOrThrow(decode(zero)).amount)).toBe("0.00")
    const { balanceBefore: _, ...undecided } = { ...plain, amount: "0" }
    const row = JSON.stringify(undecided)
    expect(Either.getOrThrow(decodeText(row)).source).toBe(row)
  })

  it.each([
    [{ entryId: "1" }, "$.entryId", "is not a UUID"],
    [{ entryId: undefined }, "$.entryId", "expected a string, found nothing"],
    [{ accountId: plain.entryId }, "$.accountId", "is not the account of this statement"],
    [{ type: "credit" }, "$.type", "is neither CREDIT nor DEBIT"],
    [{ currency: "usd" }, "$.currency", "is not a known upper-case currency code"],
    [{ currency: "XXX" }, "$.currency", "is not a known upper-case currency code"],
    [{ currency: "JPY" }, "$.amount", "has more decimals than JPY has (0)"],
    [{ balanceAfter: null }, "$.balanceAfter", "expected a decimal in a string, found null"],
    [{ balanceBefore: 1 }, "$.balanceBefore", "expected a decimal in a string, found a number"],
    [{ relatedResourceId: "x" }, "$.relatedResourceId", "is not a UUID"],
    [{ relatedResourceType: 7 }, "$.relatedResourceType", "expected a string, found a number"],
    [{ occurredAt: "2026-02-31T00:00:00Z" }, "$.occurredAt", "is a date that the calendar does not have"],
    [{ relatedResourceType: "a\0b" }, "$.relatedResourceType", "holds a NUL character"],
    [{ note: ["\ud800"] }, "$.note[0]", "holds half of a surrogate pair"],
    [{ "a\0": 1 }, "$", "has a field whose name holds a NUL character"],
  ])("[B] %j is malformed", (changes, path, reason) => {
    expect(refusal(decode(changes))).toMatchObject({ path, reason })
  })

  it("[B] whose bytes were not UTF-8 is malformed; a true replacement character is not", () => {
    const row = JSON.stringify({ ...plain, note: "\ufffd" })
    expect(refusal(decodeText(row, true))).toMatchObject({ path: "$.note", reason: "is not valid UTF-8" })
    expect(Either.isRight(decodeText(row, false))).toBe(true)
  })

  it("[B] keeps the raw text of a malformed row to the letter, free of NUL", () => {
    const row = '{ "entryId":"x\\u0000", "amount": 10.50 }'
    const malformed = refusal(decodeText(row))
    expect(malformed.raw).toBe(row)
    expect(malformed.raw).not.toContain("\0")
    expect(malformed.id).toEqual(Option.none())
  })

  it.each(["null", "1", "[]", '"x"'])("[B] that is %s is malformed", (row) => {
    expect(refusal(decodeText(row))).toMatchObject({ raw: row, path: "$", reason: "expected an object" })
  })

  it("[B] nested 10,000 deep is malformed and costs no stack", () => {
    const row = JSON.stringify(plain).replace("}", `,"x":${"[".repeat(10_000)}${"]".repeat(10_000)}}`)
    expect(refusal(decodeText(row)).reason).toBe("is nested deeper than 64 levels")
    const text = `[${row}]`
    const items: ReadonlyArray<unknown> = JSON.parse(text)
    const [unsuspected] = decodeAll(decoder(account), items, { text, suspect: false, replaced: false }, [])
    expect(unsuspected).toMatchObject({ left: { reason: "is nested deeper than 64 levels" } })
  })
})
