import { expect, it } from "@effect/vitest"
import { decodeSync } from "effect/Schema"
import { mapAccounts } from "../../../src/Export/Mapping/Mapped.ts"
import { inBase } from "../../../src/Export/Source/Accounts.ts"
import { datev } from "../../../src/Format/Datev/Datev.ts"
import type { Account } from "../../../src/Format/Entry.ts"
import { profileWith } from "../../../src/Format/FormatSettings.ts"
import { qbo } from "../../../src/Format/QuickBooks/QuickBooks.ts"
import { Content } from "../../../src/Settings/Content.ts"

const { formats } = decodeSync(Content)({})

const corrections = (currency: string): Account => ({
  ...{ code: "6890", name: "Expenses:Corrections", role: "other", currency },
  scale: 2,
  partnerAccountId: null,
})

/** What QuickBooks calls the accounts of these currencies in a base-currency export, without a mapping. */
const names = (...currencies: ReadonlyArray<string>): ReadonlyArray<string> => {
  const ordered = currencies.map(corrections)
  const byKey = new Map(ordered.map((account, at) => [String(at), account]))
  const { nativeOf, ordered: based } = inBase({ byKey, ordered }, [], "EUR")
  const { mapping, unmapped } = mapAccounts(based, qbo.target, profileWith(qbo, formats), null, nativeOf)
  expect(unmapped).toEqual([])
  return [...mapping.values()].map(({ account }) => account)
}

it("calls an account by the chart's name in the base currency, whatever account comes beside it later", () => {
  expect(names("EUR")).toEqual(["Expenses:Corrections"])
  // A batch that was imported before the second account existed went to the first name.
  expect(names("EUR", "USD")).toEqual(["Expenses:Corrections", "Expenses:Corrections"])
})

/** What stands in the way of a DATEV file where two accounts are called so. */
const refusedAs = (...numbers: ReadonlyArray<string>): ReadonlyArray<string> => {
  const accounts = numbers.map((code): Account => ({ ...corrections("EUR"), code }))
  return mapAccounts(accounts, datev.target, profileWith(datev, formats), null).unmapped
}

it("refuses a number of DATEV that is written in two ways, since it would be one account there", () => {
  expect(refusedAs("0600", "0600", "6000")).toEqual([])
  expect(refusedAs("0600", "600")).toEqual([
    "600 Expenses:Corrections (other, EUR) is called 600 and another account 0600: both are one in datev, write them alike",
  ])
})
