/** The lines of a Business Central general journal. */
import { describe, expect, it } from "vitest"
import { businessCentral } from "../../src/Format/BusinessCentral/BusinessCentral.ts"
import type { Account, Entry } from "../../src/Format/Entry.ts"
import { detailJournals } from "../../src/Format/Table/Journals.ts"
import { rowsIn, textsOf } from "../../src/Format/Table/TableRows.ts"

const account = (code: string): Account => ({
  ...{ code, name: code, role: "suspense", currency: "EUR", scale: 2, partnerAccountId: null },
})

const lines = [
  { number: 1, account: account("1010"), minor: 100n },
  { number: 2, account: account("1990"), minor: -100n },
]
const mapping = new Map(lines.map(({ account: own }) => [own, { account: own.code, dimension: "" }]))

const entryOf = (externalReference: string | null): Entry => ({
  ...{ number: "ORG-2026-10-000001", period: "2026-10", effectiveDate: "2026-10-05", kind: "deposit" },
  ...{ occurredAt: "", recordedAt: "", recordedOn: "", description: "Deposit", sourceType: "x" },
  ...{
    sourceId: "",
    resourceType: null,
    resourceId: null,
    counterparty: null,
    reverses: null,
    lateFor: null,
  },
  ...{ externalReference, lines },
})

const profile = businessCentral.template
const setup = { profile, book: "ORG", baseCurrency: "EUR", names: new Map<string, string>() }

/** A cell of the first line, by its place. */
const cellOf = (
  place: number,
  reference: string | null,
  description = profile.description,
): string | undefined => {
  const journals = detailJournals(new Set()).add(entryOf(reference))
  const texts = journals.flatMap((journal) =>
    textsOf(rowsIn(journal, mapping, profile, 0), { ...setup, profile: { ...profile, description } }),
  )
  return texts[0]?.trimEnd().split(",")[place]
}

describe("External Document No.", () => {
  it.each([
    ["INV-7", "INV-7"],
    [null, ""],
    ["123e4567-e89b-42d3-a456-426614174000", "123e4567e89b42d3a456426614174000"],
    ["R".repeat(35), "R".repeat(35)],
    ["R".repeat(36), ""],
    // As it came, though other texts could have the same letters as two.
    [`INV 2026 ${"0".repeat(25)}\u{fb01}`, `INV 2026 ${"0".repeat(25)}\u{fb01}`],
    // What is not in the file takes no room.
    [`\u200b${"R".repeat(35)}`, "R".repeat(35)],
  ])("is all of the movement's own reference or empty: %j", (reference, shown) => {
    expect(cellOf(10, reference)).toBe(shown)
  })
})

describe("the description", () => {
  it.each([" ", "\u200b", "\u2066\u2069", "-", "'="])(
    "has no gap for a reference of which nothing is left: %j",
    (reference) => {
      const template = "{description} / {externalReference} / {kind}"
      expect(cellOf(7, reference, template)).toBe("Deposit / deposit")
    },
  )
})
