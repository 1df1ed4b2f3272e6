/** Bank accounts and wallets that are one account in a system are named: in a mapping, and in a batch. */
import { describe, expect, it } from "@effect/vitest"
import { importedLines } from "../../../src/Cli/Commands/Exporting/AccountsCommand.ts"
import type { Row } from "../../../src/Export/Mapping/MappingRow.ts"
import { sharedInBatch, sharedInMapping } from "../../../src/Export/Mapping/SharedCodes.ts"
import { targetColumns } from "../../../src/Format/Targets.ts"

const nothing = Object.fromEntries(targetColumns.map((column) => [column, ""]))

const row = (role: string, currency: string, codes: Readonly<Record<string, string>> = {}): Row => ({
  ...{ ...nothing, role, currency, code: "1010", name: `Assets:${role}:${currency}` },
  ...codes,
})

describe("bank accounts and wallets that are one account", () => {
  it("are those of a column that has codes, and of other roles none", () => {
    const rows = [
      row("cash", "EUR", { xero_code: "1010", datev_konto: "1810" }),
      row("cash", "USD", { xero_code: "1010", datev_konto: "1811" }),
      row("cash", "GBP", { xero_code: "1012" }),
      row("suspense", "EUR", { xero_code: "1012", datev_konto: "1990" }),
      row("suspense", "USD", { xero_code: "1990", datev_konto: "1990" }),
    ]
    expect(sharedInMapping(rows)).toEqual([
      { column: "xero_code", code: "1010", accounts: ["Assets:cash:EUR", "Assets:cash:USD"] },
    ])
  })

  it("are those of the chart where no column has a code, whatever the dimensions", () => {
    const shared = sharedInMapping([
      ...["EUR", "GBP", "JPY", "USD"].map((currency) => row("cash", currency, { dimension: "North" })),
      row("suspense", "EUR"),
    ])
    expect(shared).toEqual([
      {
        ...{ column: "code", code: "1010" },
        accounts: ["EUR", "GBP", "JPY", "USD"].map((currency) => `Assets:cash:${currency}`),
      },
    ])
    const imported = { book: "ORG", version: 2, accounts: 5, changes: [], unmapped: [], shared }
    expect(importedLines(imported)).toEqual([
      "ORG: nothing changed; version 2, 5 accounts.",
      "ORG: No column has a code, and in the chart's codes 4 bank accounts and wallets are one account, 1010: Assets:cash:EUR, Assets:cash:GBP, Assets:cash:JPY …",
      "  No single statement can be compared with it. Codes of their own: tieout accounts export --for FORMAT",
    ])
    expect(sharedInMapping([row("cash", "EUR"), row("suspense", "EUR")])).toEqual([])
  })

  it("are those of a batch's format, if that has accounts", () => {
    const account = (name: string, role: string, mapped: Readonly<Record<string, string>>) => ({
      ...{ code: "1010", name, role, currency: "EUR", partnerAccountId: null, mapped },
      ...{ opening: "0.00", debit: "0.00", credit: "0.00", closing: "0.00" },
    })
    const accounts = [
      account("A", "cash", { xero: "1010", "xero-statement": "1010" }),
      account("B", "cash", { xero: "1010", "xero-statement": "1010" }),
      account("C", "cash", { xero: "1012", "xero-statement": "1010" }),
      account("D", "fees", { xero: "1012" }),
    ]
    expect(sharedInBatch({ formats: ["journal", "xero", "xero-statement"], accounts })).toEqual([
      { column: "xero", code: "1010", accounts: ["A", "B"] },
    ])
  })
})
