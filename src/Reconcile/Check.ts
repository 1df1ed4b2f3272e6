/** The checks of the reconciliation: what each proves, and how bad it is when it does not hold. Source: `docs/design.md`. */

/** `warning`: a person should look at it before the period closes. `blocking`: the books cannot be relied on. */
export type Severity = "warning" | "blocking"

export interface Check {
  readonly name: string
  readonly severity: Severity
  /** What holds when the check has no finding. */
  readonly proves: string
}

export const checks = [
  {
    name: "running-balance",
    severity: "blocking",
    proves: "Every statement's running balance continues from entry to entry, and no entry is held back.",
  },
  {
    name: "cash-balance",
    severity: "blocking",
    proves:
      "Ledger cash, the statement's last balance and the balance that the service reports are one figure.",
  },
  {
    name: "movement-entries",
    severity: "blocking",
    proves: "Every completed deposit, withdrawal and conversion has its entries, with the right totals.",
  },
  {
    name: "stated-fee",
    severity: "warning",
    proves: "Every fee that a completed movement states is shown by its entries.",
  },
  {
    name: "missing-resource",
    severity: "blocking",
    proves: "Every deposit, withdrawal and conversion that an entry names can be read.",
  },
  {
    name: "unclassified-entry",
    severity: "warning",
    proves: "Every entry names a resource of a type that is known, with its identifier.",
  },
  {
    name: "adjustment",
    severity: "warning",
    proves: "No entry without a resource stands in suspense.",
  },
  {
    name: "zero-entry",
    severity: "warning",
    proves:
      "No entry of an open month is of amount zero: such an entry moves nothing and is not in the books.",
  },
  {
    name: "conversion-rate",
    severity: "warning",
    proves: "Every completed conversion bought what it sold, less fees, at its rate.",
  },
  {
    name: "conversion-in-transit",
    severity: "warning",
    proves:
      "No conversion stands in transit: every one is whole or was returned, as far as its legs have come.",
  },
  {
    name: "clearing-nets",
    severity: "blocking",
    proves: "Every refused or cancelled movement nets to zero in clearing.",
  },
  {
    name: "clearing-movement",
    severity: "warning",
    proves: "Everything in the clearing of deposits and withdrawals names its movement.",
  },
  {
    name: "open-items",
    severity: "blocking",
    proves: "With --full, the open items of every balance-sheet account add up to its balance.",
  },
  {
    name: "loan-clearing",
    severity: "blocking",
    proves:
      "What stands in loan clearing of a receivable waits for its cash: nobody paid more or less than what was due.",
  },
  {
    name: "loan-in-transit",
    severity: "warning",
    proves:
      "The cash of every loan that was paid out or repaid is on a statement, or is not old and of weight.",
  },
  {
    name: "credit-totals",
    severity: "blocking",
    proves:
      "Per currency and rail, and per client where they name one, what stands in the books of receivables is what the credit accounts say.",
  },
  {
    name: "trial-balance",
    severity: "blocking",
    proves: "Debits equal credits in every currency; with --full, balances are the sums of their postings.",
  },
  {
    name: "contradiction",
    severity: "blocking",
    proves: "No statement entry was read with two contents.",
  },
  {
    name: "export-totals",
    severity: "blocking",
    proves: "The totals of every committed export are the ledger's.",
  },
  {
    name: "base-exports",
    severity: "warning",
    proves: "Every export in the base currency is of its months as they are valued now.",
  },
  {
    name: "base-journal",
    severity: "blocking",
    proves:
      "With --full, every entry of the base-currency journal balances, and every valued month's balances are the sums of its postings.",
  },
  {
    name: "valuation-method",
    severity: "warning",
    proves: "Every closed month is valued in the base currency by the method that the settings say.",
  },
  {
    name: "quarantine",
    severity: "blocking",
    proves: "Everything that the service sent could be understood.",
  },
  {
    name: "stream-unread",
    severity: "blocking",
    proves:
      "Every list and statement of a configured surface can be read; when a month is closed, each was read to its end after it.",
  },
  {
    name: "account-gone",
    severity: "blocking",
    proves:
      "Every account that was ever read is in the list of accounts, or its statement can still be read.",
  },
  {
    name: "client-gone",
    severity: "blocking",
    proves: "Every client whose accounts were ever read can still be read.",
  },
  {
    name: "receivable-gone",
    severity: "blocking",
    proves: "Every ACTIVE receivable that was ever read is in the list of receivables.",
  },
  {
    name: "bridge",
    severity: "blocking",
    proves: "When a month is closed, nothing is left over between its statements and the books.",
  },
  {
    name: "event-conflict",
    severity: "warning",
    proves: "No webhook event came with two bodies since the last full sync.",
  },
] as const satisfies ReadonlyArray<Check>

export type CheckName = (typeof checks)[number]["name"]

export const severityOf = (name: CheckName): Severity =>
  checks.find((check) => check.name === name)?.severity ?? "blocking"
