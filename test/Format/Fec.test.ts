/** The layout of the FEC, and how it is read back. */
import { describe, expect, it } from "vitest"
import type { Account } from "../../src/Format/Entry.ts"
import { fec } from "../../src/Format/Fec/Fec.ts"
import { fecReader } from "../../src/Format/Fec/FecReader.ts"
import { systemNames } from "../../src/Format/Table/TableRows.ts"

const columns =
  "JournalCode JournalLib EcritureNum EcritureDate CompteNum CompteLib CompAuxNum CompAuxLib PieceRef PieceDate EcritureLib Debit Credit EcritureLet DateLet ValidDate Montantdevise Idevise"

const row =
  "TO|Tieout|ORG-2026-10-000001|20261001|512100|Bank|||INV-7|20261001|Deposit|995,00|0,00|||20261101||"

const context = {
  layout: { date: "YYYYMMDD", decimalMark: "," },
  ...({ currency: "", account: "", mode: "detail", baseCurrency: "EUR" } as const),
}

const reading = (text: string) =>
  fecReader.rows(context)(text.split("|").map((cell) => ({ text: cell, quoted: false })))

describe("the layout of the FEC", () => {
  it("has the 18 columns of article A47 A-1 in their order, and the file its name", () => {
    const profile = fec.profile({
      siren: "732829320",
      journal: "TO",
      journalName: "Tieout",
      description: "x",
    })
    expect(profile.columns.map(({ header }) => header).join(" ")).toBe(columns)
    expect([profile.file, profile.delimiter, profile.baseCurrency, profile.lacks]).toEqual([
      ...["732829320FEC{to}{part}.txt", "\t", "EUR", []],
    ])
    expect(fec.template.lacks).toEqual(["siren"])
  })

  it("has one name for each account, of ledger accounts that share it what they have in common", () => {
    const own = (name: string): Account => ({
      ...{ code: "1020", name, role: "deposits_clearing", currency: "EUR", scale: 2, partnerAccountId: null },
    })
    const mapping = new Map(
      (
        [
          ["Assets:Clearing:Deposits:EUR", "467000"],
          ["Assets:Clearing:Deposits:USD", "467000"],
          ["Assets:Bank:ACME", "512100"],
          ["Expenses:Fees", "627000"],
          ["Income:Refunds", "627000"],
          // Namesakes: two of several ledger accounts, one that is called what another becomes, and two that only their ends tell apart.
          ["Assets:Bank:A", "512300"],
          ["Assets:Bank:B", "512300"],
          ["Assets:Bank:C", "512400"],
          ["Assets:Bank:D", "512400"],
          ["Assets:Bank 512300", "512500"],
          [`Assets:${"x".repeat(100)}:EUR`, "467100"],
          [`Assets:${"x".repeat(100)}:USD`, "467200"],
        ] as const
      ).map(([name, account]) => [own(name), { account, dimension: "" }] as const),
    )
    expect([...systemNames(mapping)]).toEqual([
      ["467000", "Assets:Clearing:Deposits"],
      ["512100", "Assets:Bank:ACME"],
      ["627000", "Expenses:Fees"],
      ["512300", "Assets:Bank 512300 512300"],
      ["512400", "Assets:Bank 512400"],
      ["512500", "Assets:Bank 512300 512500"],
      ["467100", `Assets:${"x".repeat(86)} 467100`],
      ["467200", `Assets:${"x".repeat(86)} 467200`],
    ])
  })

  it("is read back, strictly", () => {
    expect(reading(row)).toEqual([
      {
        ...{ journal: "2026-10-000001", date: "2026-10-01", account: "512100", currency: "EUR" },
        amount: 995n * 10n ** 18n,
      },
    ])
    expect(reading(row.replace("995,00|0,00", "0,00|5,00"))[0]?.amount).toBe(-5n * 10n ** 18n)
    const wrong: ReadonlyArray<readonly [from: string, to: string, why: string]> = [
      ["995,00|0,00", "995.00|0,00", "is no amount"],
      ["995,00|0,00", "995,00|5,00", "do not exclude each other"],
      ["995,00|0,00", "0,00|0,00", "do not exclude each other"],
      ["512100", "AB12", "is no account"],
      ["20261001|Deposit", "20261002|Deposit", "the document has another date"],
      ["20261101||", "20261101|1,00|", "a column that Tieout leaves empty is filled"],
      ["|20261001|512100", "|2026-10-01|512100", "is no date"],
    ]
    for (const [from, to, why] of wrong) expect(() => reading(row.replace(from, to))).toThrow(why)
  })
})
