import { expect, it } from "vitest"
import { openItemsSection } from "../../src/Report/Page/Items.ts"

const item = (amount: number) => ({
  account_code: "1990",
  account_name: "Assets:Suspense:USD",
  account_role: "suspense",
  currency: "USD",
  line: "item",
  period: null,
  item_type: "STATEMENT_ENTRY",
  item_id: `item ${amount}`,
  since: "2026-10-01",
  age_days: "30",
  amount: `${amount}.00`,
  balance: null,
  status: null,
  external_reference: null,
  counterparty: null,
})

it.each([
  { items: 10, note: "" },
  { items: 11, note: "Not shown: 1 smaller one; all stand in" },
  { items: 12, note: "Not shown: 2 smaller ones; all stand in" },
])("of $items open items the page shows ten, and says of how many it does not", ({ items, note }) => {
  const first = Array.from({ length: items }, (_, at) => item(at + 1))
  expect(openItemsSection({ first, count: items }, {}).text).toContain(note)
})
