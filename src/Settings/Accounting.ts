/** How movements are dated, valued and booked. */
import { Schema } from "effect"
import { CurrencyCode, Percentage, section, TimeZone, withDefault } from "../Common/Field.ts"

const Receivables = Schema.Struct({
  /** The book's side of a loan. */
  view: withDefault(Schema.Literal("lender", "borrower"), "lender"),
  /** Whether `repaymentAmount` falls with repayments or stays as it was at the start. */
  repaymentAmount: withDefault(Schema.Literal("outstanding", "original"), "outstanding"),
  /**
   * When interest is income: when the service states it, or when it is paid; until then it stands in `deferred_interest`.
   * Neither is the effective-interest method.
   */
  interest: withDefault(Schema.Literal("as_stated", "when_paid"), "as_stated"),
  /** How much interest a repayment may hold that no version has stated yet: % of the principal per day between two reads. */
  interestBetweenReads: withDefault(Percentage, "0"),
})

/** The cost of outgoing foreign currency: averaged over the whole holding, or taken from the oldest lots. */
const Method = Schema.Literal("average", "fifo")
export type Method = typeof Method.Type

/**
 * The roles that may be revalued: assets and liabilities, unless the chart says otherwise. For `other` the account's name
 * decides, and `trading` holds nothing in the base currency.
 */
export const HeldRole = Schema.Literal(
  "cash",
  "deposits_clearing",
  "withdrawals_clearing",
  "payouts_clearing",
  "loan_clearing",
  "suspense",
  "receivable_principal",
  "receivable_interest",
  "deferred_interest",
  "loan_payable",
  "interest_payable",
  "conversions_in_transit",
)

const Valuation = Schema.Struct({
  method: withDefault(Method, "average"),
  /** Where rates come from: files (`tieout rates import`), or the month's own conversions. */
  rates: withDefault(Schema.Literal("file", "conversions"), "file"),
  /**
   * How old an imported rate may be, in days; 0: only a rate of the day itself. Four cover a weekend with a holiday on either side.
   */
  maxRateAgeDays: withDefault(
    Schema.Int.pipe(Schema.between(0, 31)).annotations({ description: "a whole number from 0 to 31" }),
    4,
  ),
  /** What is revalued at a month's end. Clearing is not: its other half stands in the accounting system. */
  monetaryRoles: withDefault(Schema.Array(HeldRole), [
    "cash",
    "receivable_principal",
    "receivable_interest",
    "deferred_interest",
    "loan_payable",
    "interest_payable",
    "loan_clearing",
    "conversions_in_transit",
  ]),
  /** Overrides for single books, by code. */
  books: withDefault(Schema.Record({ key: Schema.String, value: Schema.Struct({ method: Method }) }), {}),
})
export type Valuation = typeof Valuation.Type

export const Accounting = Schema.Struct({
  /** Decides an entry's effective date, and with it the period. */
  timeZone: withDefault(TimeZone, "UTC"),
  /** The currency that formats with one currency are valued in. */
  baseCurrency: withDefault(CurrencyCode, "EUR"),
  /** Where a flat withdrawal's entries total its amount: is the stated fee inside it, or was there none? */
  flatWithdrawalFee: withDefault(Schema.Literal("inside", "none"), "inside"),
  receivables: section(Receivables),
  /** How the base-currency journal is made. */
  valuation: section(Valuation),
})
export type Accounting = typeof Accounting.Type
