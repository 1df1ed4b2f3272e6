/** What the vendors' systems take, by `docs/formats.md`: a template that allows more would be refused there, not here. */
import { describe, expect, it } from "vitest"
import { tablesOf } from "../../src/Format/Formats.ts"

describe("the limits of an accounting system", () => {
  it.each([
    // Rows of a file and of a journal, characters of a number and of a text, digits and decimals of an amount.
    ["xero", [300, 300], [80, 200], [20, 8]],
    ["xero-statement", [1000, 1000], [80, 255], [20, 2]],
    ["qbo", [1000, 1000], [21, 1000], [20, 8]],
    ["netsuite", [25_000, 10_000], [80, 300], [10, 2]],
    ["intacct", [5000, 5000], [20, 200], [20, 8]],
    ["sage50", [100_000, 10_000], [30, 60], [20, 8]],
    ["business-central", [100_000, 10_000], [20, 100], [20, 8]],
    ["datev", [99_999, 99_999], [36, 60], [10, 2]],
    ["gl-detail", [1_000_000, 1_000_000], [80, 1000], [20, 8]],
    ["fec", [1_000_000, 1_000_000], [80, 200], [15, 2]],
    ["sie", [1_000_000, 1_000_000], [80, 200], [15, 2]],
  ])("are those of the documents: %s", (name, rows, characters, amount) => {
    const [template] = tablesOf([name]).map((format) => format.template)
    expect([template?.limits.rowsPerFile, template?.limits.rowsPerJournal]).toEqual(rows)
    expect([template?.number, template?.text.most]).toEqual(characters)
    expect([template?.digits, template?.decimals.most]).toEqual(amount)
  })

  it.each([
    ["intacct", "DESCRIPTION", 80],
    ["business-central", "External Document No.", 35],
    ["datev", "Belegfeld 2", 12],
    ["datev", "Buchungstext", 60],
    ["fec", "PieceRef", 50],
    ["fec", "CompteLib", 100],
  ])("are those of its columns: %s, %s", (name, header, most) => {
    const columns = tablesOf([name]).flatMap(({ template }) => template.columns)
    expect(columns.find((column) => column.header === header)?.most).toBe(most)
  })

  it("does not write an amount with fewer decimals than the system wants", () => {
    const least = tablesOf(["xero", "qbo", "datev", "fec", "sie"]).map(
      ({ template }) => template.decimals.least,
    )
    expect(least).toEqual([2, 2, 2, 2, 2])
  })
})
