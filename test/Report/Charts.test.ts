/** The figures of the page's charts: exact, and on the side that they are on in the books. */
import { expect, it } from "@effect/vitest"
import { balancesSection, feesSection, flowsSection } from "../../src/Report/Page/Charts.ts"
import type { AccountBalance, Movement } from "../../src/Report/ReportBalances.ts"

const movement = (kind: string, debit: bigint, credit: bigint): Movement => ({
  ...{ kind, debit, credit },
  postings: 1,
})

const balance = (
  role: string,
  currency: string,
  scale: number,
  movements: ReadonlyArray<Movement>,
  closing = 0n,
): AccountBalance => ({
  account: { code: "1", name: `${role} ${currency}`, role, currency, scale, partnerAccountId: null },
  ...{ opening: 0n, debit: 0n, credit: 0n, closing, movements },
})

/** The texts of the cells of the tables, row by row, without the bars. */
const cells = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/<tr>(.*?)<\/tr>/g)].map(([, row = ""]) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/g)]
      .slice(0, 3)
      .map(([, cell = ""]) => cell.replaceAll(/<[^>]*>/g, ""))
      .join("|"),
  )

it("add up what came into and went out of all cash accounts of a currency, by kind", () => {
  const { text } = flowsSection([
    balance("cash", "JPY", 0, [movement("withdrawal_return", 7n, 0n)]),
    balance("cash", "EUR", 2, [movement("deposit", 100_000n, 500n), movement("conversion", 0n, 1n)]),
    balance("cash", "EUR", 2, [movement("deposit", 25n, 0n)]),
    balance("fees", "EUR", 2, [movement("deposit", 500n, 0n)]),
  ])
  expect(cells(text)).toEqual([
    ...["EUR|In|Out", "conversion||0.01", "deposit|1,000.25|5.00"],
    ...["JPY|In|Out", "withdrawal return|7|"],
  ])
})

it("show fees net, a refund as a negative one without a bar, and their total", () => {
  const { text } = feesSection([
    balance("fees", "BHD", 3, [movement("deposit", 1_500n, 250n), movement("withdrawal_return", 0n, 2_000n)]),
  ])
  expect(cells(text)).toEqual([
    "BHD|Fees|",
    ...["deposit|1.250|", "withdrawal return|-2.000|", "total|-0.750|"],
  ])
  expect(text.match(/class="in"/g)).toHaveLength(1)
})

it("draw each day's balance until the next, from zero, with the lowest and the highest", () => {
  const account = balance("cash", "EUR", 2, [], 50n)
  const { text } = balancesSection([{ balance: account, points: [100n, -100n, 50n] }], 1, "2026-02")
  // Two days of 155 each: 86 is 4 below the top of what a height of 92 leaves, 41 is half of it.
  expect(text).toContain('<path class="line" d="M0 6H0.0V88H155.0V26.5H310"/>')
  expect(text).toContain('<path class="zero" d="M0 47H310"/>')
  expect(text).toContain("lowest -1.00, highest 1.00, closes with 0.50 EUR")
  expect(text).toContain("<span>low -1.00</span><span>high 1.00</span>")
  expect(text).toContain("<span>1 Feb</span><span>2 Feb</span>")
})
