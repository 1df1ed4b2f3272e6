/** The header of `statement.csv`, the provider's statement entries behind a journal. */
export const statementColumns = [
  "account",
  "currency",
  "position",
  "entry_id",
  "occurred_at",
  "amount",
  "balance_after",
  "journal_number",
] as const
