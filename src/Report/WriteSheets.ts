/** Writes the review files of a report, and returns what the page and the workbook show of each. */
import { Effect, Option } from "effect"
import type { Folder } from "../Export/Batch/Folder.ts"
import type { BookAccounts } from "../Export/Source/Accounts.ts"
import { streamedChunks } from "../Export/Source/Chunks.ts"
import type { ValuationOptions } from "../Valuation/ValuedBook.ts"
import { readBase } from "./Base/BaseFigures.ts"
import {
  baseRatesRows,
  baseRatesSheet,
  baseResultsRows,
  baseResultsSheet,
  baseTrialBalanceRows,
  baseTrialBalanceSheet,
} from "./Base/BaseSheets.ts"
import { workbookRows } from "./ClosePackage.ts"
import { conversionRows, conversionsSheet } from "./Conversions/ConversionsSheet.ts"
import { differenceRows, differenceSheet } from "./DifferenceSheet.ts"
import { exceptionRows, exceptionsSheet } from "./Exceptions.ts"
import { feeRows, feesSheet } from "./Fees.ts"
import { readFindings, readQuarantine, readUnsettled } from "./FindingRows.ts"
import { generalLedgerRows, generalLedgerSheet } from "./GeneralLedger.ts"
import { lateRows, lateSheet } from "./LateSheet.ts"
import { compared, comparisonRows, comparisonSheet } from "./MonthComparison.ts"
import { openItemRows, openItemsSheet } from "./OpenItemsSheet.ts"
import type { BasePage } from "./Page/BaseCurrency.ts"
import { shownRows } from "./Page/Tables.ts"
import { ageingRows, ageingSheet } from "./Receivables/Ageing.ts"
import { readReserved } from "./Receivables/ReceivableInterest.ts"
import type { ReconciledAccount } from "./Reconciliation.ts"
import { reconciliationRows, reconciliationSheet } from "./ReconciliationSheet.ts"
import { type AccountBalance, readBefore, readSuspense } from "./ReportBalances.ts"
import type { ReportScope } from "./ReportScope.ts"
import { stateOf } from "./ReportState.ts"
import { rollForwardRows, rollForwardSheet } from "./RollForward.ts"
import { writeRows, writeSheet } from "./Sheet.ts"
import { trialBalanceRows, trialBalanceSheet } from "./TrialBalanceSheet.ts"

/** Every sheet that a report may have. */
export const sheetFiles: ReadonlyArray<string> = [
  trialBalanceSheet,
  generalLedgerSheet,
  reconciliationSheet,
  rollForwardSheet,
  conversionsSheet,
  feesSheet,
  ageingSheet,
  exceptionsSheet,
  openItemsSheet,
  lateSheet,
  differenceSheet,
  comparisonSheet,
  baseTrialBalanceSheet,
  baseRatesSheet,
  baseResultsSheet,
].map(({ name }) => name)

interface Known {
  readonly accounts: BookAccounts
  readonly balances: ReadonlyArray<AccountBalance>
  readonly providers: ReadonlyArray<ReconciledAccount>
  /** In an as-of report: value the month as of then, too. */
  readonly baseThen: ValuationOptions | undefined
}

/** Present if the month is valued. */
const writeBase = Effect.fn("Report.writeBase")(function* (
  scope: ReportScope,
  folder: Folder,
  accounts: BookAccounts,
  base: ValuationOptions | undefined,
) {
  const found = yield* readBase(scope, accounts, base)
  if (Option.isNone(found)) return null
  const figures = found.value
  const keep = workbookRows
  return {
    figures,
    trialBalance: yield* writeRows(folder, baseTrialBalanceSheet, baseTrialBalanceRows(figures), keep),
    rates: yield* writeRows(folder, baseRatesSheet, baseRatesRows(figures), keep),
    results: yield* writeRows(folder, baseResultsSheet, baseResultsRows(figures), keep),
  } satisfies BasePage
})

/** Part of the caller's transaction. */
export const writeSheets = Effect.fn("Report.writeSheets")(function* (
  scope: ReportScope,
  folder: Folder,
  { accounts, balances, baseThen, providers }: Known,
) {
  const findings = yield* readFindings(scope)
  const state = yield* stateOf(scope, providers, findings)
  const quarantine = yield* readQuarantine(scope)
  const unsettled = yield* readUnsettled(scope)
  const suspense = yield* readSuspense(scope, accounts)
  const reserved = yield* readReserved(scope)
  const sources = { state, findings, quarantine, suspense: suspense.sums, reserved, unsettled }
  const exceptions = exceptionRows({ ...sources, accounts: providers })
  const before = yield* readBefore(scope, accounts)
  const keep = workbookRows
  const items = openItemRows(scope, accounts, balances, suspense.accountIds, keep)
  const difference = scope.asOf === null ? null : yield* differenceRows(scope, accounts, balances)
  const sheets = {
    trialBalance: yield* writeRows(folder, trialBalanceSheet, trialBalanceRows(balances), keep),
    detail: yield* writeSheet(
      folder,
      generalLedgerSheet,
      streamedChunks(generalLedgerRows(scope, accounts, balances)),
      0,
    ),
    reconciliation: yield* writeRows(folder, reconciliationSheet, reconciliationRows(providers), 0),
    rollForward: yield* writeRows(folder, rollForwardSheet, rollForwardRows(balances), 0),
    comparison: yield* writeRows(folder, comparisonSheet, comparisonRows(compared(balances, before)), keep),
    conversions: yield* writeSheet(
      folder,
      conversionsSheet,
      streamedChunks(conversionRows(scope)),
      shownRows.conversions,
    ),
    fees: yield* writeRows(folder, feesSheet, yield* feeRows(scope), 0),
    ageing: yield* writeSheet(folder, ageingSheet, streamedChunks(ageingRows(scope)), shownRows.ageing),
    exceptions: yield* writeRows(folder, exceptionsSheet, exceptions, keep),
    openItems: yield* writeSheet(folder, openItemsSheet, streamedChunks(items.rows), keep),
    late: yield* writeRows(folder, lateSheet, yield* lateRows(scope), shownRows.late),
  }
  const base = yield* writeBase(scope, folder, accounts, baseThen)
  const later = difference === null ? [] : [yield* writeRows(folder, differenceSheet, difference, 0)]
  const ofBase = base === null ? [] : [base.trialBalance, base.rates, base.results]
  const files = [...Object.values(sheets), ...ofBase, ...later].map(({ bytes, name, rows, sha256 }) => ({
    name,
    rows,
    bytes,
    sha256,
  }))
  const counts = { waiting: items.waiting(), inFlight: items.inFlight(), notCompleted: unsettled.length }
  return { state, difference, sheets, base, files, ...counts }
})
