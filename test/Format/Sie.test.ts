/** SIE 4I: what a file begins with, and how strictly it is read back. */
import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import { cellsOf } from "../../src/Format/Reading/LineCells.ts"
import { sie } from "../../src/Format/Sie/Sie.ts"
import { sieReader } from "../../src/Format/Sie/SieReader.ts"

const head = (settings: object, name = 'Ärlig "Bok" AB') =>
  sie.profile(Schema.decodeUnknownSync(sie.settings)(settings)).preamble?.({
    book: { code: "ORG", name },
    accounts: [{ account: "1930", name: "Assets:Partner:SEK" }],
    ...{ period: "2026-10", currency: "SEK", baseCurrency: "SEK", version: "0.1.0" },
    createdAt: "2026-11-01T03:30:00.123456Z",
    createdOn: "2026-11-01",
  })

const begun = [
  "#FLAGGA 0",
  '#PROGRAM "Tieout" "0.1.0"',
  "#FORMAT PC8",
  "#GEN 20261101",
  "#SIETYP 4",
  "#ORGNR 556036-0793",
  '#FNAMN "Ärlig Bok AB"',
  "#VALUTA SEK",
  '#KONTO 1930 "Assets:Partner:SEK"',
]

const voucher = [
  '#VER "" "" 20261001 "ORG-2026-10-000001 deposit"',
  "{",
  '#TRANS 1930 {} 995.00 20261001 "Deposit / Åsa"',
  '#TRANS 1930 {} -995.00 20261001 "Deposit / Åsa"',
  "}",
]

const reading = (lines: ReadonlyArray<string>) => {
  const rows = sieReader.rows({
    layout: { date: "YYYYMMDD", decimalMark: "." },
    ...({ currency: "SEK", account: "", mode: "detail", baseCurrency: "SEK" } as const),
  })
  return lines.flatMap((line) => rows(cellsOf(line, " ")))
}

describe("SIE 4I", () => {
  it("begins with what identifies it and the accounts, in the order of the standard", () => {
    expect(head({ organizationNumber: "556036-0793" })).toBe(begun.map((line) => `${line}\r\n`).join(""))
    expect(head({ company: "Bolaget AB" })).toContain('#FNAMN "Bolaget AB"\r\n')
    // A name with letters that the code page lacks is left out as a whole.
    expect(head({}, "株式会社")).toContain('#FNAMN "ORG"\r\n')
    for (const company of ["株式会社", 'Bolaget "Nord" AB', "Bolaget {1}", "AB #1"]) {
      expect(() => head({ company })).toThrow("code page 437")
    }
  })

  it("is read back line by line", () => {
    expect(
      reading([...begun, ...voucher, ...voucher]).map(({ amount, currency, journal }) => [
        journal,
        currency,
        amount,
      ]),
    ).toEqual([995n, -995n, 995n, -995n].map((units) => ["2026-10-000001", "SEK", units * 10n ** 18n]))
  })

  it("is read strictly", () => {
    const wrong: ReadonlyArray<readonly [from: string, to: string, why: string]> = [
      ["#FLAGGA 0", "#FLAGGA 1", "Tieout never writes #FLAGGA 1"],
      ["#FORMAT PC8", "#FORMAT UTF8", "Tieout never writes #FORMAT UTF8"],
      ["#SIETYP 4", "#GEN 20261101", "is not where it belongs"],
      [" 995.00", " 995,00", "has not two decimals"],
      [" 995.00", " 995.001", "has not two decimals"],
      ["#TRANS 1930 {} 995", "#TRANS 1940 {} 995", "the account 1940 has no #KONTO"],
      ["#TRANS 1930 {} 995.00 20261001", "#TRANS 1930 {} 995.00 20261002", "another date"],
      ["ORG-2026-10-000001 deposit", "Deposit", "is no journal number"],
      ["\n{\n", "\n", "is no line of a voucher"],
    ]
    const all = [...begun, ...voucher].join("\n")
    for (const [from, to, why] of wrong) {
      expect(all).toContain(from)
      expect(() => reading(all.replace(from, to).split("\n")), why).toThrow(why)
    }
    expect(() => reading([...begun, ...voucher.slice(0, -1), ...voucher])).toThrow(
      "the voucher before has no end",
    )
  })
})
