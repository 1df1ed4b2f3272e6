/** The checks of the reconciliation, with the severity of their findings. What each proves: `docs/close.md`, "Findings". */

/** `warning`: a person should look at it before the period closes. `blocking`: the books cannot be relied on. */
export type Severity = "warning" | "blocking"

export const checks = [
  { name: "running-balance", severity: "blocking" },
  { name: "cash-balance", severity: "blocking" },
  { name: "movement-entries", severity: "blocking" },
  { name: "stated-fee", severity: "warning" },
  { name: "missing-resource", severity: "blocking" },
  { name: "unclassified-entry", severity: "warning" },
  { name: "adjustment", severity: "warning" },
  { name: "zero-entry", severity: "warning" },
  { name: "conversion-rate", severity: "warning" },
  { name: "conversion-in-transit", severity: "warning" },
  { name: "clearing-nets", severity: "blocking" },
  { name: "clearing-movement", severity: "warning" },
  { name: "open-items", severity: "blocking" },
  { name: "loan-clearing", severity: "blocking" },
  { name: "loan-in-transit", severity: "warning" },
  { name: "credit-totals", severity: "blocking" },
  { name: "trial-balance", severity: "blocking" },
  { name: "contradiction", severity: "blocking" },
  { name: "export-totals", severity: "blocking" },
  { name: "base-exports", severity: "warning" },
  { name: "base-journal", severity: "blocking" },
  { name: "valuation-method", severity: "warning" },
  { name: "quarantine", severity: "blocking" },
  { name: "stream-unread", severity: "blocking" },
  { name: "account-gone", severity: "blocking" },
  { name: "client-gone", severity: "blocking" },
  { name: "receivable-gone", severity: "blocking" },
  { name: "bridge", severity: "blocking" },
  { name: "event-conflict", severity: "warning" },
] as const satisfies ReadonlyArray<{ readonly name: string; readonly severity: Severity }>

export type CheckName = (typeof checks)[number]["name"]

export const severityOf = (name: CheckName): Severity =>
  checks.find((check) => check.name === name)?.severity ?? "blocking"
