/** The conversions on the page: the first of the sheet, with figures that fit on paper. */
import { scaleOf } from "../../Common/Currency.ts"
import { type Html, html } from "../../Common/Html.ts"
import * as Money from "../../Common/Money.ts"
import type { ConversionRow } from "../Conversions/ConversionsSheet.ts"
import type { Written } from "../Sheet.ts"
import { figure, section, sum, table } from "./Figures.ts"

/** Decimals of an effective rate in the sheet. */
const rateDecimals = 10

/** At most so many decimals: a service states rates to 28, and their products have more than a page is wide. */
const shortened = (figure: string | null | undefined, decimals: number | undefined): string | null => {
  if (figure === null || figure === undefined) return null
  const exact = Money.fromTrusted(figure)
  return decimals === undefined || exact.scale <= decimals ? figure : Money.rounded(exact, decimals)
}

/** Of a leg in another month there is no amount. */
const leg = (amount: string | null | undefined, currency: string | null | undefined): Html =>
  amount === null || amount === undefined ? html`` : sum(amount, currency ?? "")

/** A spread, at the decimals of the currency bought. */
const inBought = (
  { bought_currency: currency }: Partial<ConversionRow>,
  spread: string | null | undefined,
): Html => figure(shortened(spread, scaleOf(currency ?? "")))

export const conversionsSection = (sheet: Written<Record<keyof ConversionRow, "text" | "figure">>): Html =>
  section(
    "Conversions",
    "Sold and bought are what the statement showed. The spread is what lies between the service's stated rate and what was credited, in the currency bought; the data hold no market rate to compare with. Stated rates and spreads are rounded here; conversions.csv has all of their digits.",
    table({
      columns: [
        { title: "Date", look: "nowrap", content: (row) => row.effective_date ?? null },
        { title: "Sold", look: "num", content: (row) => leg(row.sold, row.sold_currency) },
        { title: "Bought", look: "num", content: (row) => leg(row.bought, row.bought_currency) },
        { title: "Effective rate", look: "num", content: (row) => row.effective_rate ?? "" },
        { title: "Stated rate", look: "num", content: (row) => shortened(row.stated_rate, rateDecimals) },
        { title: "Fee", look: "num", content: (row) => leg(row.fee, row.fee_currency) },
        { title: "Spread", look: "num", content: (row) => inBought(row, row.spread) },
        { title: "Beyond fee", look: "num", content: (row) => inBought(row, row.spread_beyond_fee) },
      ],
      note: (row) => row.remark ?? null,
      rows: sheet.first,
      total: sheet.rows,
      file: sheet.name,
      none: "No conversions in this month.",
    }),
  )
