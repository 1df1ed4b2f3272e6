/** Several accounts that get one name, or each other's: no code may go to an account that was never given it. */
import { expect, it } from "@effect/vitest"
import type { MappingRow } from "../../../src/Export/Mapping/MappingRow.ts"
import { type Named, renamedRows } from "../../../src/Export/Mapping/Renamed.ts"

const cash = (name: string, partnerAccountId: string): Named => ({
  ...{ role: "cash", code: "1010", name, partnerAccountId, currency: "EUR" },
})

const rowOf = ({ partnerAccountId, ...account }: Named, xero_code: string): MappingRow => ({
  ...account,
  partnerAccountId: partnerAccountId ?? "",
  xero_code,
})

const codesOf = (rows: ReadonlyArray<MappingRow>) =>
  rows.map(({ name, xero_code }) => `${name}: ${xero_code}`)

it("follows the service's accounts where they get each other's names", () => {
  const rows = [rowOf(cash("North", "a"), "101"), rowOf(cash("South", "b"), "102")]
  expect(codesOf(renamedRows(rows, [cash("South", "a"), cash("North", "b")]))).toEqual([
    "South: 101",
    "North: 102",
  ])
})

it("follows one whose former name a new account has", () => {
  const rows = [rowOf(cash("North", "a"), "101")]
  expect(codesOf(renamedRows(rows, [cash("South", "a"), cash("North", "c")]))).toEqual(["South: 101"])
})

it("gives two that are called the same none of two codes", () => {
  const rows = [rowOf(cash("North", "a"), "101"), rowOf(cash("South", "b"), "102")]
  const now = [cash("Bank", "a"), cash("Bank", "b")]
  const byName = renamedRows(rows, now).filter(({ name }) => name === "Bank")
  expect(byName).toEqual([])
})
