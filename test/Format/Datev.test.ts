/** The header of a DATEV file, and what its rows take from the settings. */
import { decodeUnknownSync } from "effect/Schema"
import { describe, expect, it } from "vitest"
import { datev } from "../../src/Format/Datev/Datev.ts"
import { DatevSettings, datevHeader } from "../../src/Format/Datev/DatevHeader.ts"
import { datevReader } from "../../src/Format/Datev/DatevReader.ts"
import type { Account } from "../../src/Format/Entry.ts"
import type { TableJournal } from "../../src/Format/Table/Journals.ts"
import type { PreambleOf } from "../../src/Format/Table/Profile.ts"
import { rowsIn, textsOf } from "../../src/Format/Table/TableRows.ts"

const settings = (own: object) => decodeUnknownSync(DatevSettings)({ consultant: 1001, client: 7, ...own })
const file: PreambleOf = {
  book: { code: "ORG", name: "Acme" },
  accounts: [],
  period: "2026-02",
  currency: "USD",
  baseCurrency: "EUR",
  createdAt: "2026-03-01T04:05:06.789Z",
  createdOn: "2026-03-01",
  version: "1.2.3",
}

describe("a DATEV header", () => {
  it("names the month, the Mandant and the currency of the amounts", () => {
    const own = settings({ locked: true, accountLength: 5 })
    expect(datevHeader(own, false)(file)).toBe(
      '"EXTF";700;21;"Buchungsstapel";13;20260301040506789;;"RE";"";"";1001;7;20260101;5;20260201;20260228;' +
        '"Tieout 2026-02";"TO";1;0;1;"USD";;"";;;"03";;;"";""\r\n',
    )
    expect(datevHeader(settings({}), true)(file)).toContain(';1;0;0;"EUR";')
  })

  it.each([
    ["2026-01", "01-01", "20260101"],
    ["2026-12", "01-01", "20260101"],
    ["2026-06", "07-01", "20250701"],
    ["2026-07", "07-01", "20260701"],
    ["2027-01", "07-01", "20260701"],
    ["2026-11", "12-01", "20251201"],
  ])("of %s is in the fiscal year, from %s on, that begins on %s", (period, fiscalYearStart, begins) => {
    const header = datevHeader(settings({ fiscalYearStart }), false)({ ...file, period })
    expect(header.split(";")[12]).toBe(begins)
  })
})

describe("a DATEV row", () => {
  it("has an account of at most one digit more than general ledger accounts", () => {
    const { wrongAccount } = datev.profile({ ...settings({ accountLength: 4 }), description: "" })
    expect(wrongAccount?.({ account: "12345", dimension: "Sales_1 B" })).toBe(undefined)
    expect(wrongAccount?.({ account: "123456", dimension: "" })).toBe(
      "is called 123456, longer than 5 digits (formats.datev.accountLength and one)",
    )
    expect(wrongAccount?.({ account: "1010", dimension: "SALES-1" })).toBe(
      'has the dimension "SALES-1"; DATEV\'s KOST1 takes letters, digits, spaces and underscores',
    )
  })

  it.each([
    ["the Konto's", "North", "South", "North"],
    ["the Gegenkonto's where the Konto has none", "", "South", "South"],
    ["none", "", "", ""],
  ])("has for KOST1 %s, and is read back", (_, own, contra, cost) => {
    const account = (code: string): Account => ({
      ...{ code, name: code, role: "fees", currency: "USD", scale: 2, partnerAccountId: null },
    })
    const [debit, credit] = [account("1010"), account("6850")]
    const mapping = new Map([
      [debit, { account: "1010", dimension: own }],
      [credit, { account: "6850", dimension: contra }],
    ])
    const journal: TableJournal = {
      ...{ number: "ORG-2026-02-000001", entries: 1, mode: "detail", date: "2026-02-05", period: "2026-02" },
      ...{ kind: "fee", description: "", entry: null, recordedAt: "", sourceType: "statement_entry" },
      ...{ currency: "USD", partnerAccountId: null, scale: 2 },
      lines: [
        { account: debit, minor: 500n, number: 1 },
        { account: credit, minor: -500n, number: 2 },
      ],
    }
    const profile = datev.profile({ ...settings({}), description: "Fee" })
    const setup = { profile, book: "ORG", baseCurrency: "EUR", names: new Map<string, string>() }
    const [text = ""] = textsOf(rowsIn(journal, mapping, profile, 0), setup)
    const cellsOf = (line: string) =>
      line
        .trimEnd()
        .split(";")
        .map((cell) => ({ text: cell.replaceAll('"', ""), quoted: cell.startsWith('"') }))
    expect(cellsOf(text)[36]).toEqual({ text: cost, quoted: true })
    const read = datevReader.rows({
      layout: { date: "DDMM", decimalMark: "," },
      ...({ currency: "USD", account: "", mode: "detail", baseCurrency: "EUR" } as const),
    })
    read(cellsOf(datevHeader(settings({}), false)(file)))
    expect(read(cellsOf(text)).map((line) => line.account)).toEqual(["1010", "6850"])
  })
})
