/** The checks that a reconciliation runs. */
import { trialBalance } from "./Checks/Balanced.ts"
import { baseExports } from "./Checks/BaseExports.ts"
import { baseJournal } from "./Checks/BaseJournal.ts"
import { cashBalance } from "./Checks/CashBalance.ts"
import { clearingMovement } from "./Checks/ClearingMovement.ts"
import { clearingNets } from "./Checks/ClearingNets.ts"
import { conflictingEvents } from "./Checks/ConflictingEvents.ts"
import { contradiction } from "./Checks/Contradiction.ts"
import { conversionRate } from "./Checks/ConversionRate.ts"
import { conversionsInTransit } from "./Checks/ConversionsInTransit.ts"
import { creditTotals } from "./Checks/Credit/CreditTotals.ts"
import { loanClearing } from "./Checks/Credit/LoanClearing.ts"
import { loansInTransit } from "./Checks/Credit/LoansInTransit.ts"
import { datedAhead } from "./Checks/DatedAhead.ts"
import { deadLetters } from "./Checks/DeadLetters.ts"
import { exportTotals } from "./Checks/ExportTotals.ts"
import { gone } from "./Checks/Gone.ts"
import { missingResource } from "./Checks/MissingResource.ts"
import { movementEntries } from "./Checks/MovementEntries.ts"
import { openItems } from "./Checks/OpenItemsAddUp.ts"
import { quarantinedRows } from "./Checks/QuarantinedRows.ts"
import { runningBalance } from "./Checks/RunningBalance.ts"
import { sharedAccounts } from "./Checks/SharedAccounts.ts"
import { streams } from "./Checks/Streams.ts"
import { suspense } from "./Checks/Suspense.ts"
import { unknownStates } from "./Checks/UnknownStates.ts"
import { valuationMethod } from "./Checks/ValuationMethod.ts"
import { zeroEntries } from "./Checks/ZeroEntries.ts"
import type { CheckQuery } from "./Findings.ts"

/** All checks, in the order in which they run. */
export const queries: ReadonlyArray<CheckQuery> = [
  runningBalance,
  cashBalance,
  movementEntries,
  missingResource,
  suspense,
  zeroEntries,
  datedAhead,
  conversionRate,
  conversionsInTransit,
  clearingNets,
  clearingMovement,
  unknownStates,
  openItems,
  loanClearing,
  loansInTransit,
  creditTotals,
  trialBalance,
  contradiction,
  exportTotals,
  baseExports,
  baseJournal,
  quarantinedRows,
  conflictingEvents,
  valuationMethod,
  streams,
  gone,
  sharedAccounts,
  deadLetters,
]
