/** Files that accompany an export in any format: their names in the manifest, and their file names. */
export const accompanyingFiles = {
  /** The provider's statement, which proves the journal. */
  statement: { name: "statement", file: "statement.csv" },
  /** With every export in the base currency. */
  nativeMovements: { name: "native-movements", file: "native_movements.csv" },
  /** Beside the general ledger detail, with the account numbers that it has: `{from}` and `{to}` are its days as YYYYMMDD. */
  chartOfAccounts: {
    name: "chart-of-accounts",
    file: "Chart_Of_Accounts_{from}_{to}.csv",
    of: "gl-detail",
  },
  periodBalances: { name: "period-balances", file: "Trial_Balance_{from}_{to}.csv", of: "gl-detail" },
  /** With files that have rates: how they differ from the base-currency journal. */
  rateDifferences: { name: "rate-differences", file: "rate_differences_{format}.csv" },
  /** With summaries: the entries behind each. */
  summaryEntries: { name: "summary-entries", file: "summary_entries_{format}.csv" },
  /** Entries that a format leaves out because their lines cancel on its accounts. */
  cancelledEntries: { name: "cancelled-entries", file: "cancelled_entries_{format}.csv" },
  /** With an as-of export: the entries recorded since. */
  difference: { name: "difference", file: "difference.csv" },
} as const
