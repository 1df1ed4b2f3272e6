/** The checks of the reconciliation, with the severity of their findings. What each proves: `docs/close.md`, "Findings". */

/** `warning`: a person should look at it before the period closes. `blocking`: the books cannot be relied on. */
export type Severity = "warning" | "blocking"

export const checks = [
  {
    name: "running-balance",
    severity: "blocking",
    todo: "tieout sync --full reads every statement from its start; what stays broken is the provider's to explain",
  },
  {
    name: "cash-balance",
    severity: "blocking",
    todo: "tieout sync --full; what stays is the provider's to explain",
  },
  {
    name: "movement-entries",
    severity: "blocking",
    todo: "wait for the entries that are missing (one in suspense may name its movement by now: tieout sync --full); what stays is the provider's to explain, and a close can accept it",
  },
  {
    name: "stated-fee",
    severity: "warning",
    todo: "ask the provider which of the two holds: its entries, or the fee that it states; one that was booked by other settings says what to run",
  },
  {
    name: "missing-resource",
    severity: "blocking",
    todo: "the next sync asks again for what is not archived; then tieout reclassify F… --to CODE --reason TEXT",
  },
  {
    name: "unclassified-entry",
    severity: "warning",
    todo: "tieout reclassify F… --to CODE --reason TEXT",
  },
  {
    name: "adjustment",
    severity: "warning",
    todo: "tieout reclassify F… --to CODE --reason TEXT, or --all-of adjustment; a rule of the settings for what comes again",
  },
  {
    name: "zero-entry",
    severity: "warning",
    todo: "nothing to do: it moves nothing",
  },
  {
    name: "dated-ahead",
    severity: "blocking",
    todo: "ask the provider; a close can accept it",
  },
  {
    name: "conversion-rate",
    severity: "warning",
    todo: "ask the provider; tieout explain shows the rate that it states",
  },
  {
    name: "conversion-in-transit",
    severity: "warning",
    todo: "wait for the other side, and accept it when closing; what never comes: tieout reclassify F… --to CODE --reason TEXT",
  },
  {
    name: "clearing-nets",
    severity: "blocking",
    todo: "tieout explain shows what is left; then tieout reclassify F… --to CODE --reason TEXT",
  },
  {
    name: "clearing-movement",
    severity: "warning",
    todo: "tieout reclassify F… --to CODE --reason TEXT",
  },
  {
    name: "unknown-state",
    severity: "warning",
    todo: "ask the provider what the state means",
  },
  {
    name: "receivable-state",
    severity: "blocking",
    todo: "ask the provider what it means; a close can accept it",
  },
  {
    name: "open-items",
    severity: "blocking",
    todo: "tieout reconcile --full again; a defect, where it stays",
  },
  {
    name: "loan-clearing",
    severity: "blocking",
    todo: "tieout reclassify F… --to CODE --reason TEXT; where nothing stands in loan clearing (too little interest was paid), a close can accept it",
  },
  {
    name: "loan-in-transit",
    severity: "warning",
    todo: "wait for its cash, or ask the provider",
  },
  {
    name: "credit-totals",
    severity: "blocking",
    todo: "tieout sync --full; what stays is the provider's to explain",
  },
  {
    name: "trial-balance",
    severity: "blocking",
    todo: "tieout verify --database; do not close",
  },
  {
    name: "contradiction",
    severity: "blocking",
    todo: "tieout explain shows both; where one was missing, tieout backfill reads it again; ask the provider; a close can accept it",
  },
  {
    name: "export-totals",
    severity: "blocking",
    todo: "tieout batches show B; tieout export --again",
  },
  {
    name: "base-exports",
    severity: "warning",
    todo: "tieout export --again, with --base or --with-rates as each says",
  },
  {
    name: "base-journal",
    severity: "blocking",
    todo: "tieout verify --database; do not export in the base currency",
  },
  {
    name: "valuation-method",
    severity: "warning",
    todo: "set accounting.valuation.method back, or reopen the months",
  },
  {
    name: "quarantine",
    severity: "blocking",
    todo: "tieout quarantine list",
  },
  {
    name: "stream-unread",
    severity: "blocking",
    todo: "tieout doctor; then tieout sync",
  },
  {
    name: "account-gone",
    severity: "blocking",
    todo: "ask the provider; a close can accept it",
  },
  {
    name: "account-shared",
    severity: "blocking",
    todo: "ask the provider whose account it is; leave a surface out of the connection where both list the same; what is booked twice stays so: a close can accept it",
  },
  {
    name: "client-gone",
    severity: "blocking",
    todo: "ask the provider; a close can accept it",
  },
  {
    name: "receivable-gone",
    severity: "blocking",
    todo: "ask the provider; a close can accept it",
  },
  {
    name: "bridge",
    severity: "blocking",
    todo: "tieout backfill --period YYYY-MM; then tieout close YYYY-MM --dry-run",
  },
  {
    name: "dead-letter",
    severity: "blocking",
    todo: "the workers' logs say why; then tieout sync, or after a backfill the same tieout backfill again",
  },
  {
    name: "event-conflict",
    severity: "warning",
    todo: "tieout sync --full",
  },
] as const satisfies ReadonlyArray<{
  readonly name: string
  readonly severity: Severity
  /** What a person does about its findings, in a line. */
  readonly todo: string
}>

export type CheckName = (typeof checks)[number]["name"]

export const severityOf = (name: CheckName): Severity =>
  checks.find((check) => check.name === name)?.severity ?? "blocking"
