/** The header of a DATEV file, and what its rows take from the settings. */
import { decodeUnknownSync } from "effect/Schema"
import { describe, expect, it } from "vitest"
import { datev } from "../../src/Format/Datev/Datev.ts"
import { DatevSettings, datevHeader } from "../../src/Format/Datev/DatevHeader.ts"
import type { PreambleOf } from "../../src/Format/Table/Profile.ts"

const settings = (own: object) => decodeUnknownSync(DatevSettings)({ consultant: 1001, client: 7, ...own })
const file: PreambleOf = {
  book: { code: "ORG", name: "Acme" },
  accounts: [],
  period: "2026-02",
  currency: "USD",
  baseCurrency: "EUR",
  createdAt: "2026-03-01T04:05:06.789Z",
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
    expect(wrongAccount?.("12345")).toBe(undefined)
    expect(wrongAccount?.("123456")).toBe(
      "is called 123456, longer than 5 digits (formats.datev.accountLength and one)",
    )
  })
})
