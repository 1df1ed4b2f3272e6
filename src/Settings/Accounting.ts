/** How movements are dated, valued and booked. */
import { Schema } from "effect"
import { CurrencyCode, section, TimeZone, withDefault } from "./Field.ts"

const Receivables = Schema.Struct({
  /** On whose side of a loan the book stands. */
  view: withDefault(Schema.Literal("lender", "borrower"), "lender"),
  /** Whether `repaymentAmount` falls with repayments or stays as it was at the start. */
  repaymentAmount: withDefault(Schema.Literal("outstanding", "original"), "outstanding"),
})

export const Accounting = Schema.Struct({
  /** Decides the effective date of an entry, and so its period. */
  timeZone: withDefault(TimeZone, "UTC"),
  /** The currency that formats with one currency are valued in. */
  baseCurrency: withDefault(CurrencyCode, "EUR"),
  /** Where a flat withdrawal's entries total its amount: is the stated fee inside it, or was there none? */
  flatWithdrawalFee: withDefault(Schema.Literal("inside", "none"), "inside"),
  receivables: section(Receivables),
})
export type Accounting = typeof Accounting.Type
