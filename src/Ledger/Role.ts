/** What a ledger account is for. Fixed: a book's chart maps a role to a code and a name. Source: `docs/design.md`. */
export const roles = [
  "cash",
  "deposits_clearing",
  "withdrawals_clearing",
  "payouts_clearing",
  "fees",
  "trading",
  "suspense",
  "opening_balance",
  "receivable_principal",
  "receivable_interest",
  "interest_income",
  "deferred_interest",
  "loan_clearing",
  "loan_payable",
  "interest_payable",
  "interest_expense",
  "conversions_in_transit",
  "other",
] as const

export type Role = (typeof roles)[number]
