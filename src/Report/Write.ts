/** Writes the files of one report from one repeatable-read snapshot, with flat memory. */
import { Effect, Option } from "effect"
import { print } from "../Common/MinorUnits.ts"
import { productVersion } from "../Common/Version.ts"
import { text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import type { Folder } from "../Export/Batch/Folder.ts"
import type { Manifest } from "../Export/Batch/ReportManifest.ts"
import { type BookAccounts, readAccounts } from "../Export/Source/Accounts.ts"
import { instantText } from "../Reconcile/Scope.ts"
import { ageingRows, ageingSheet } from "./Ageing.ts"
import { conversionRows, conversionsSheet } from "./ConversionsSheet.ts"
import { readDaily } from "./Daily.ts"
import { differenceRows, differenceSheet } from "./DifferenceSheet.ts"
import { exceptionRows, exceptionsSheet } from "./Exceptions.ts"
import { feeRows, feesSheet } from "./Fees.ts"
import { readFindings, readQuarantine, readUnsettled } from "./FindingRows.ts"
import { generalLedgerRows, generalLedgerSheet } from "./GeneralLedger.ts"
import { lateRows, lateSheet } from "./LateEntries.ts"
import { openItemRows, openItemsSheet } from "./OpenItemsSheet.ts"
import { shownRows } from "./Page/Tables.ts"
import { readReserved } from "./ReceivableInterest.ts"
import { type ReconciledAccount, readReconciliation } from "./Reconciliation.ts"
import { reconciliationRows, reconciliationSheet } from "./ReconciliationSheet.ts"
import { type AccountBalance, readBalances, readSuspense } from "./ReportBalances.ts"
import { reportPage } from "./ReportPage.ts"
import type { ReportScope } from "./ReportScope.ts"
import { rollForwardRows, rollForwardSheet } from "./RollForward.ts"
import { writeRows, writeSheet } from "./Sheet.ts"
import { type State, stateOf } from "./State.ts"
import {
  type CurrencyTotal,
  currencyTotals,
  trialBalanceRows,
  trialBalanceSheet,
} from "./TrialBalanceSheet.ts"

const pageFile = "report.html"

/** Every file that a report may have, but the manifest. */
export const reportFiles: ReadonlyArray<string> = [
  { name: pageFile },
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
].map(({ name }) => name)

/** The most accounts that the page charts: the busiest. */
const chartedAccounts = 12

interface Known {
  readonly accounts: BookAccounts
  readonly balances: ReadonlyArray<AccountBalance>
  readonly providers: ReadonlyArray<ReconciledAccount>
}

const writeSheets = Effect.fn("Report.writeSheets")(function* (
  scope: ReportScope,
  folder: Folder,
  { accounts, balances, providers }: Known,
) {
  const findings = yield* readFindings(scope)
  const state = yield* stateOf(scope, providers, findings)
  const quarantine = yield* readQuarantine(scope)
  const unsettled = yield* readUnsettled(scope)
  const suspense = yield* readSuspense(scope, accounts)
  const reserved = yield* readReserved(scope)
  const sources = { state, findings, quarantine, suspense, reserved, unsettled }
  const exceptions = exceptionRows({ ...sources, accounts: providers })
  const difference = scope.asOf === null ? null : yield* differenceRows(scope, accounts, balances)
  const sheets = {
    trialBalance: yield* writeRows(
      folder,
      trialBalanceSheet,
      trialBalanceRows(balances),
      shownRows.trialBalance,
    ),
    detail: yield* writeSheet(folder, generalLedgerSheet, generalLedgerRows(scope, accounts, balances), 0),
    reconciliation: yield* writeRows(folder, reconciliationSheet, reconciliationRows(providers), 0),
    rollForward: yield* writeRows(folder, rollForwardSheet, rollForwardRows(balances), 0),
    conversions: yield* writeSheet(folder, conversionsSheet, conversionRows(scope), shownRows.conversions),
    fees: yield* writeRows(folder, feesSheet, yield* feeRows(scope), 0),
    ageing: yield* writeSheet(folder, ageingSheet, ageingRows(scope), shownRows.ageing),
    exceptions: yield* writeRows(folder, exceptionsSheet, exceptions, shownRows.exceptions),
    openItems: yield* writeSheet(
      folder,
      openItemsSheet,
      openItemRows(scope, accounts, balances),
      shownRows.openItems,
    ),
    late: yield* writeRows(folder, lateSheet, yield* lateRows(scope), shownRows.late),
  }
  const later = difference === null ? [] : [yield* writeRows(folder, differenceSheet, difference, 0)]
  const files = [...Object.values(sheets), ...later].map(({ bytes, name, rows, sha256 }) => ({
    name,
    rows,
    bytes,
    sha256,
  }))
  return { state, difference, sheets, files }
})

const clock = Effect.flatMap(Database, (database) =>
  database.rows("Report.clock", { now: text }, (sql) => sql`select ${instantText(sql, sql`now()`)} as now`),
)

const manifestOf = (
  { asOf, book, month, period }: ReportScope,
  { accepted, approval, close, locked, reasons }: State,
  providers: ReadonlyArray<ReconciledAccount>,
  totals: ReadonlyArray<CurrencyTotal>,
): Omit<Manifest, "createdAt" | "files"> => ({
  product: "tieout",
  kind: "report",
  version: productVersion(),
  formatVersion: 1,
  connection: book.connection,
  book: { code: book.code, name: book.name, clientId: Option.getOrNull(book.clientId) },
  period,
  timeZone: month.timeZone,
  asOf,
  state: locked ? "closed" : "open",
  close:
    close === null
      ? null
      : { sequence: close.sequence, hash: close.hash, who: close.who, at: close.at, reason: close.reason },
  approval:
    approval === null
      ? null
      : { name: approval.name, at: approval.at, closeHash: approval.closeHash, hash: approval.hash },
  draft: reasons.length > 0,
  reasons,
  accepted,
  currencies: totals.map(({ currency, scale, ...sums }) => ({
    currency,
    scale,
    opening: print(sums.opening, scale),
    debit: print(sums.debit, scale),
    credit: print(sums.credit, scale),
    closing: print(sums.closing, scale),
  })),
  accounts: providers.map((account) => ({
    accountId: account.accountId,
    currency: account.currency,
    opening: account.opening,
    closing: account.closing,
    datedLater: account.datedLater,
    carried: account.carried,
    provider: account.provider,
    difference: account.difference,
  })),
})

/** Part of the caller's transaction. The files keep their partial names until they are published. */
export const writeFiles = Effect.fn("Report.writeFiles")(function* (scope: ReportScope, folder: Folder) {
  const [{ now: createdAt = "" } = { now: "" }] = yield* clock
  const accounts = yield* readAccounts(scope.book.bookId)
  const balances = yield* readBalances(scope, accounts)
  const providers = yield* readReconciliation(scope, balances)
  const daily = yield* readDaily(scope, accounts, balances, chartedAccounts)
  const written = yield* writeSheets(scope, folder, { accounts, balances, providers })
  const totals = currencyTotals(balances)
  const page = reportPage({
    scope,
    state: written.state,
    createdAt,
    version: productVersion(),
    balances,
    totals,
    accounts: providers,
    daily,
    ...written.sheets,
    difference: written.difference,
    files: written.files,
  })
  const file = yield* folder.create(pageFile)
  yield* file.write(Buffer.from(page, "utf8"))
  const { bytes, name, sha256 } = yield* file.finish
  const manifest: Manifest = {
    ...manifestOf(scope, written.state, providers, totals),
    createdAt,
    files: [...written.files, { name, rows: 0, bytes, sha256 }],
  }
  return manifest
})
