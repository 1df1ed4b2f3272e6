/** Files that stand beside what was asked for, whatever the format: by what the manifest calls them, and their names. */
export const besides = {
  /** The provider's statement beside what it proves. */
  statement: { name: "statement", file: "statement.csv" },
  /** Beside every export in the base currency. */
  nativeMovements: { name: "native-movements", file: "native_movements.csv" },
  /** Beside the general ledger detail, with the account numbers that it has: `{from}` and `{to}` are its days as YYYYMMDD. */
  chartOfAccounts: {
    name: "chart-of-accounts",
    file: "Chart_Of_Accounts_{from}_{to}.csv",
    of: "gl-detail",
  },
  periodBalances: { name: "period-balances", file: "Trial_Balance_{from}_{to}.csv", of: "gl-detail" },
  /** What was recorded since the time that an export asks about. */
  difference: { name: "difference", file: "difference.csv" },
} as const
