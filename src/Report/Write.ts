/** Writes the files of one report from one repeatable-read snapshot, with flat memory. */
import { Effect, Option } from "effect"
import { print } from "../Common/MinorUnits.ts"
import { productVersion } from "../Common/Package.ts"
import { inStage } from "../Common/Progress.ts"
import { writeWorkbook } from "../Common/Workbook/Workbook.ts"
import { text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import type { Folder } from "../Export/Batch/Folder.ts"
import type { Manifest } from "../Export/Batch/Manifest/ReportManifest.ts"
import { readAccounts } from "../Export/Source/Accounts.ts"
import { instantText } from "../Reconcile/ReconcileScope.ts"
import type { ValuationOptions } from "../Valuation/ValuedBook.ts"
import { closePackage, workbookFile } from "./ClosePackage.ts"
import { readDaily } from "./Daily.ts"
import type { Materiality } from "./Materiality.ts"
import { type ReconciledAccount, readReconciliation } from "./Reconciliation.ts"
import { readBalances } from "./ReportBalances.ts"
import { reportPage } from "./ReportPage.ts"
import type { ReportScope } from "./ReportScope.ts"
import type { State } from "./ReportState.ts"
import { type CurrencyTotal, currencyTotals } from "./TrialBalanceSheet.ts"
import { sheetFiles, writeSheets } from "./WriteSheets.ts"

const pageFile = "report.html"

/** Every file that a report may have, but the manifest. */
export const reportFiles: ReadonlyArray<string> = [pageFile, workbookFile, ...sheetFiles]

/** The most accounts that the page charts: the busiest. */
const chartedAccounts = 12

const clock = Effect.flatMap(Database, (database) =>
  database.rows("Report.clock", { now: text }, (sql) => sql`select ${instantText(sql, sql`now()`)} as now`),
)

const manifestOf = (
  { asOf, book, month, period }: ReportScope,
  { accepted, approval, close, locked, reasons }: State,
  providers: ReadonlyArray<ReconciledAccount>,
  totals: ReadonlyArray<CurrencyTotal>,
): Omit<Manifest, "createdAt" | "files" | "waiting"> => ({
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
      : {
          sequence: close.sequence,
          hash: close.hash,
          recordHash: close.recordHash,
          who: close.who,
          at: close.at,
          reason: close.reason,
        },
  approval:
    approval === null
      ? null
      : { name: approval.name, at: approval.at, closeHash: approval.closeHash, hash: approval.hash },
  draft: reasons.length > 0,
  reasons,
  accepted: accepted.map(({ check, id, reason, what }) => ({ id, check, what, reason })),
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

/** Writes a file that is made in memory from what the other files hold. */
const writeWhole = Effect.fn("Report.writeWhole")(function* (folder: Folder, name: string, content: Buffer) {
  const file = yield* folder.create(name)
  yield* file.write(content)
  const { bytes, sha256 } = yield* file.finish
  return { name, rows: 0, bytes, sha256 }
})

/** Part of the caller's transaction. The files keep their partial names until they are published. */
export const writeFiles = Effect.fn("Report.writeFiles")(function* (
  scope: ReportScope,
  folder: Folder,
  materiality: Materiality,
  baseThen: ValuationOptions | undefined,
) {
  const [{ now: createdAt = "" } = { now: "" }] = yield* clock
  const accounts = yield* readAccounts(scope.book.bookId, scope.asOf)
  const balances = yield* readBalances(scope, accounts).pipe(inStage("balances"))
  const providers = yield* readReconciliation(scope, balances).pipe(inStage("reconciliation"))
  const daily = yield* readDaily(scope, accounts, balances, chartedAccounts).pipe(inStage("daily balances"))
  const written = yield* writeSheets(scope, folder, { accounts, balances, providers, baseThen })
  const { base, inFlight, notCompleted, sheets, state, waiting } = written
  const totals = currencyTotals(balances)
  const book = closePackage({ scope, state, waiting, createdAt, accounts: providers, sheets, base })
  const workbook = yield* writeWhole(
    folder,
    workbookFile,
    Buffer.from(yield* Effect.promise(() => writeWorkbook(book))),
  )
  const files = [...written.files, workbook]
  const page = reportPage({
    ...{ scope, state, waiting, createdAt, materiality, balances, totals, daily, base, files },
    ...{ inFlight, notCompleted },
    version: productVersion(),
    accounts: providers,
    ...sheets,
    difference: written.difference,
  })
  const manifest: Manifest = {
    ...manifestOf(scope, state, providers, totals),
    waiting,
    createdAt,
    files: [...files, yield* writeWhole(folder, pageFile, Buffer.from(page, "utf8"))],
  }
  return manifest
})
