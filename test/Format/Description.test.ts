import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import type { Entry } from "../../src/Format/Entry.ts"
import { defaultTemplate, described, Template } from "../../src/Format/Table/Description.ts"

const all = { personalData: true, isHoldable: () => true }

const entry: Entry = {
  number: "ORG-2026-10-000007",
  period: "2026-10",
  effectiveDate: "2026-10-05",
  occurredAt: "2026-10-05T09:30:00.000000Z",
  recordedAt: "2026-10-05T09:30:00.000000Z",
  recordedOn: "2026-10-05",
  kind: "withdrawal_return",
  description: "Withdrawal returned",
  sourceType: "statement_entry",
  sourceId: "s",
  resourceType: "WITHDRAWAL",
  resourceId: "22222222-0000-4000-8000-000000000001",
  externalReference: "INV-7",
  counterparty: "Acme Ltd",
  reverses: null,
  lateFor: null,
  payment: { reference: "October rent", purpose: null, transactionHash: "0xabc" },
  lines: [
    {
      number: 1,
      minor: 1n,
      account: {
        ...{ code: "1010", name: "Assets:Partner:EUR", role: "cash", currency: "EUR", scale: 2 },
        partnerAccountId: null,
      },
    },
  ],
}

const bare: Entry = {
  ...entry,
  counterparty: null,
  externalReference: null,
  payment: { reference: null, purpose: null, transactionHash: null },
}

describe("the text of a line", () => {
  it.each([
    [defaultTemplate, "Withdrawal returned / Acme Ltd / INV-7 / October rent / 0xabc"],
    ["{kind} {number} {account}", "withdrawal return ORG-2026-10-000007 Assets:Partner:EUR"],
    ["Payment of {counterparty}.", "Payment of Acme Ltd."],
    ["{purpose} of {counterparty}.", "Acme Ltd."],
    ["{externalReference} / {externalReference}", "INV-7"],
    ["{kind} ({externalReference}).", "withdrawal return (INV-7)."],
    ["{counterparty} ({purpose})", "Acme Ltd"],
    ["{counterparty} ({purpose}), {externalReference}", "Acme Ltd, INV-7"],
    ["{purpose} ({externalReference})", "INV-7"],
    ["{resource}", "22222222-0000-4000-8000-000000000001"],
    ["always this", "always this"],
    ["", ""],
  ])("by %j is %j", (template, text) => {
    expect(described(template, entry, all)).toBe(text)
  })

  it("has no gap where the movement lacks something", () => {
    expect(described(defaultTemplate, bare, all)).toBe("Withdrawal returned")
    expect(described("{counterparty} / {externalReference}", bare, all)).toBe("")
    expect(described("Ref {externalReference} by {counterparty}", bare, all)).toBe("")
  })

  it("has no names and free texts of people where these are left out", () => {
    expect(described(defaultTemplate, entry, { ...all, personalData: false })).toBe(
      "Withdrawal returned / INV-7 / 0xabc",
    )
  })

  it("leaves out only characters that the file's encoding lacks", () => {
    const ascii = { ...all, isHoldable: (text: string) => /^[ -~]*$/.test(text) }
    expect(described(defaultTemplate, { ...entry, counterparty: "株式会社 例" }, ascii)).toBe(
      "Withdrawal returned / INV-7 / October rent / 0xabc",
    )
  })
})

describe("a template", () => {
  it("with an unknown placeholder is refused with a list of the known ones", () => {
    for (const wrong of ["{iban}", "{Kind}", "{", "}", "{}", "{toString}", "{kind"]) {
      const read = Schema.decodeUnknownEither(Template)(`x ${wrong}`)
      expect([wrong, Either.isLeft(read)]).toEqual([wrong, true])
      if (Either.isLeft(read)) expect(read.left.message).toContain("{kind} {description} {counterparty}")
    }
  })
})
