import { expect, it } from "@effect/vitest"
import { weighed } from "../../src/Report/Materiality.ts"

const row = (text: string) => {
  const [amount = "", currency = ""] = text.split(" ")
  return { text, amount, currency }
}

const shown = (materiality: Record<string, string>, most: number, rows: ReadonlyArray<string>) => {
  const { material, shown: found, small } = weighed(rows.map(row), (one) => one, materiality, most)
  return [found.map(({ text }) => text), material, small]
}

it.each([
  { what: "the largest first, whatever their sign", rows: ["2.00 USD", "-10.00 USD", "9.99 USD"], most: 9 },
  { what: "digits, not texts", rows: ["9 JPY", "10 JPY", "100 JPY"], most: 9 },
  { what: "what lies in the last of eight decimals", rows: ["1.00000001 USDT", "1.00000002 USDT"], most: 9 },
])("weighs $what", ({ rows, most }) => {
  const size = (text: string) => Number(text.split(" ")[0]?.replace("-", ""))
  expect(shown({}, most, rows)).toEqual([[...rows].sort((a, b) => size(b) - size(a)), rows.length, 0])
})

it("shows of each currency as many, by its own materiality, and counts the others", () => {
  const rows = ["10.00 USD", "30.00 USD", "-10.01 USD", "20.00 USD", "5.00 EUR", "0.00 EUR"]
  // An amount that equals the materiality is not above it; one of zero is nothing.
  expect(shown({ USD: "10", GBP: "1000" }, 2, rows)).toEqual([["5.00 EUR", "30.00 USD", "20.00 USD"], 4, 1])
})
