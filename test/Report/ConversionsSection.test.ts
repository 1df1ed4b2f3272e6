import { expect, it } from "vitest"
import { conversionsSection } from "../../src/Report/Page/Conversions.ts"

const conversion = {
  effective_date: "2026-10-05",
  conversion: "00000000-0000-4000-8000-000000000501",
  external_reference: null,
  status: "COMPLETED",
  sold_currency: "EUR",
  sold: "1422.77",
  returned: null,
  bought_currency: "USDT",
  bought: "1519.86354838",
  effective_rate: "1.0682426171",
  stated_rate: "1.069370034110337937197013938",
  rate_difference: "-0.0011274170",
  fee_currency: "EUR",
  fee: "1.50",
  spread: "1.60405505116550690579552056826",
  spread_beyond_fee: "-0.00000000000000000000000033874",
  journal_numbers: null,
  remark: null,
}

const cells = (row: typeof conversion | Record<keyof typeof conversion, string | null>) =>
  [
    ...conversionsSection({
      first: [row],
      rows: 1,
      name: "conversions.csv",
      bytes: 1,
      sha256: "",
    }).text.matchAll(/<td class="num" data-label="([^"]*)">(.*?)<\/td>/g),
  ].map(([, title, content = ""]) => `${title}: ${content.replaceAll(/<[^>]*>/g, "").trim()}`)

it("a conversion's figures fit on paper: rates to ten decimals, the spread to those of its currency", () => {
  expect(cells(conversion)).toEqual([
    "Sold: 1,422.77 EUR",
    "Bought: 1,519.86354838 USDT",
    "Effective rate: 1.0682426171",
    "Stated rate: 1.0693700341",
    "Fee: 1.50 EUR",
    "Spread: 1.60405505",
    "Beyond fee: 0.00000000",
  ])
  expect(
    cells({ ...conversion, stated_rate: "0.92184", bought_currency: "EUR", spread: "-0.0052112" }),
  ).toEqual(expect.arrayContaining(["Stated rate: 0.92184", "Spread: -0.01"]))
})

it("a leg of another month leaves no currency without an amount", () => {
  expect(
    cells({ ...conversion, sold: null, spread: null, spread_beyond_fee: null, effective_rate: null }),
  ).toEqual([
    "Sold: ",
    "Bought: 1,519.86354838 USDT",
    "Effective rate: ",
    "Stated rate: 1.0693700341",
    "Fee: 1.50 EUR",
    "Spread: ",
    "Beyond fee: ",
  ])
})
