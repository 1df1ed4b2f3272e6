/** `close-package.xlsx`: the figures that a controller works with, in one workbook; the CSV files beside it have every row. */
import { count } from "../Common/Text.ts"
import type { WorkbookCell, WorkbookSheet } from "../Common/Workbook/Workbook.ts"
import { baseRatesSheet, baseResultsSheet, baseTrialBalanceSheet } from "./Base/BaseSheets.ts"
import { exceptionsSheet } from "./Exceptions.ts"
import { comparisonSheet } from "./MonthComparison.ts"
import { openItemsSheet, type Waiting } from "./OpenItemsSheet.ts"
import type { BasePage } from "./Page/BaseCurrency.ts"
import type { ReconciledAccount } from "./Reconciliation.ts"
import type { ReportScope } from "./ReportScope.ts"
import { type State, standingOf } from "./ReportState.ts"
import type { Columns, Row, Written } from "./Sheet.ts"
import { trialBalanceSheet } from "./TrialBalanceSheet.ts"

export const workbookFile = "close-package.xlsx"

/** The most rows of a sheet. */
export const workbookRows = 5_000

interface Content {
  readonly name: string
  readonly sheet: Written<Columns>
  readonly columns: Columns
  /** Which of its rows; none: all. */
  readonly only?: (row: Row<Columns>) => boolean
}

const sheetOf = ({ columns, name, only, sheet }: Content): WorkbookSheet => {
  const names = Object.keys(columns)
  const rows = sheet.first
    .slice(0, workbookRows)
    .filter(only ?? (() => true))
    .map((row) =>
      names.map((column): WorkbookCell => {
        const value = row[column] ?? null
        return value === null || columns[column] === "text" ? value : { figure: value }
      }),
    )
  const more = sheet.rows - Math.min(sheet.first.length, workbookRows)
  return {
    name,
    header: names,
    rows: more > 0 ? [...rows, [`${count(more)} more lines stand in ${sheet.name}`]] : rows,
  }
}

export interface PackageContent {
  readonly scope: ReportScope
  readonly state: State
  readonly waiting: Waiting
  /** ISO 8601 in UTC. */
  readonly createdAt: string
  readonly accounts: ReadonlyArray<ReconciledAccount>
  readonly sheets: {
    readonly trialBalance: Written<typeof trialBalanceSheet.columns>
    readonly comparison: Written<typeof comparisonSheet.columns>
    readonly exceptions: Written<typeof exceptionsSheet.columns>
    readonly openItems: Written<typeof openItemsSheet.columns>
  }
  readonly base: BasePage | null
}

type Fact = readonly [string, WorkbookCell]

const factsOf = ({ accounts, createdAt, scope, state, waiting }: PackageContent): ReadonlyArray<Fact> => {
  const { approval, close, reasons } = state
  const { text, word } = standingOf(state, waiting)
  const figure = (value: number): WorkbookCell => ({ figure: String(value) })
  return [
    ["book", `${scope.book.name} (${scope.book.code})`],
    ["month", scope.period],
    ["time zone", scope.month.timeZone],
    ["as of", scope.asOf],
    ["made", createdAt],
    ["state", `${word}: ${text}`],
    ...reasons.map((reason): Fact => ["draft because", reason]),
    ["closed by", close?.who ?? null],
    ["closed at", close?.at ?? null],
    ["hash of the close", close?.hash ?? null],
    ["hash of its record", close?.recordHash ?? null],
    ["approved by", approval?.name ?? null],
    ["approved at", approval?.at ?? null],
    ["hash of the approval", approval?.hash ?? null],
    ["accounts of the provider", figure(accounts.length)],
    ["of these, without a difference", figure(accounts.filter(({ tiesOut }) => tiesOut).length)],
    ["accepted exceptions", figure(state.accepted.length)],
    ["suspense items", figure(waiting.suspense)],
    ["conversions in transit", figure(waiting.transit)],
  ]
}

/** Items of open-items.csv, without the months that pass through and the sums. */
const isItem = ({ line }: Row<Columns>): boolean => line === "item"

export const closePackage = (content: PackageContent): ReadonlyArray<WorkbookSheet> => {
  const { base, sheets } = content
  const currency = base?.figures.currency ?? ""
  return [
    { name: "Summary", header: ["what", "value"], rows: factsOf(content) },
    ...[
      { ...trialBalanceSheet, name: "Trial balance", sheet: sheets.trialBalance },
      ...(base === null
        ? []
        : [{ ...baseTrialBalanceSheet, name: `Trial balance ${currency}`, sheet: base.trialBalance }]),
      { ...exceptionsSheet, name: "Findings", sheet: sheets.exceptions },
      { ...openItemsSheet, name: "Open items", sheet: sheets.openItems, only: isItem },
      { ...comparisonSheet, name: "Month before", sheet: sheets.comparison },
      ...(base === null
        ? []
        : [
            { ...baseResultsSheet, name: "Exchange results", sheet: base.results },
            { ...baseRatesSheet, name: "Rates", sheet: base.rates },
          ]),
    ].map(sheetOf),
  ]
}
