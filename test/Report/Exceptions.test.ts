/** What `exceptions.csv` makes of its sources, without a database. */
import { expect, it } from "@effect/vitest"
import type { Account } from "../../src/Format/Entry.ts"
import { type ExceptionSources, exceptionRows } from "../../src/Report/Exceptions.ts"

const sources: ExceptionSources = {
  state: { close: null, approval: null, locked: false, reasons: [], accepted: [] },
  ...{ accounts: [], findings: [], suspense: new Map(), quarantine: [], reserved: [], unsettled: [] },
}

const suspense = (currency: string, scale: number): Account => ({
  ...{ code: "1990", name: `Assets:Suspense:${currency}`, role: "suspense", currency, scale },
  partnerAccountId: null,
})

it("shows each currency in suspense, in order and at its own decimals, debit positive", () => {
  const rows = exceptionRows({
    ...sources,
    suspense: new Map([
      [suspense("USD", 2), -1_500n],
      [suspense("JPY", 0), 2_500n],
      [suspense("EUR", 2), 0n],
      [suspense("BHD", 3), 1n],
    ]),
  })
  expect(rows.map(({ amount, currency }) => [currency, amount])).toEqual([
    ["BHD", "0.001"],
    ["JPY", "2500"],
    ["USD", "-15.00"],
  ])
})

const reserved = (currency: string, late: number, amount: string, estimated = 0) => ({
  ...{ currency, late, amount, estimated },
  knownFrom: late === 0 ? null : "2026-11-21",
})

it.each([
  { of: [reserved("USD", 1, "60")], amount: "60.00 USD" },
  // Currencies are never added together, and neither of them stands for both.
  { of: [reserved("EUR", 1, "7.5"), reserved("USD", 1, "60")], amount: "null null" },
  { of: [reserved("EUR", 0, "0", 2), reserved("USD", 1, "60")], amount: "60.00 USD" },
  { of: [reserved("EUR", 0, "0", 2)], amount: "null null" },
])("gives interest that became known later an amount where that is one: $amount", ({ of, amount }) => {
  const rows = exceptionRows({ ...sources, reserved: of })
  expect(rows.map((row) => `${row.amount} ${row.currency}`)).toEqual([amount])
})
