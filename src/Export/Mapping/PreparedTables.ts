/** Everything that accounting systems' formats need before the first line, and whether they can hold the accounts at all. */
import { Effect } from "effect"
import type { BankStatementFormat } from "../../Format/BankStatement.ts"
import type { Account } from "../../Format/Entry.ts"
import { type FormatSettings, leftOut, profileWith } from "../../Format/FormatSettings.ts"
import type { TableFormat } from "../../Format/Table/Define.ts"
import type { Mode } from "../../Format/Table/Journals.ts"
import type { Profile } from "../../Format/Table/Profile.ts"
import type { SummaryStyle } from "../../Format/Table/SummaryJournals.ts"
import { systemNames } from "../../Format/Table/TableRows.ts"
import type { TableContext } from "../Batch/TableFiles/TableContext.ts"
import { refused } from "../ExportError.ts"
import type { Days } from "../Request/Days.ts"
import type { Selection } from "../Request/ExportScope.ts"
import { opened } from "../Source/Balances.ts"
import type { Source } from "../Source.ts"
import type { StoredMapping } from "./KeptMappings.ts"
import { mapAccounts, numberAccounts } from "./Mapped.ts"
import { adviceFor, findUnfit, type Used, withoutWhich } from "./Unfit.ts"

export interface TableOptions {
  readonly mode: Mode
  readonly settings: FormatSettings
  readonly baseCurrency: string
  /** In the currency that moved, with rates; else as the source has it. */
  readonly rated?: boolean
  /** The export is in the base currency. */
  readonly inBase?: boolean
  /** Debits and credits by day where absent. */
  readonly summary?: SummaryStyle
  /** Everything is written again, which the command that a refusal advises has to say, too. */
  readonly again?: boolean
}

const byDay: SummaryStyle = { by: "day", net: false }

const settingProblems = ({ lacks = [], name }: Profile): ReadonlyArray<string> =>
  lacks.map((key) => `${name} needs the setting formats.${name}.${key}`)

/** As the command line takes them. */
const modeOptions = (mode: Mode, { by, net }: SummaryStyle): string =>
  mode === "detail" ? "" : ` --mode summary${by === "day" ? "" : " --by month"}${net ? " --net" : ""}`

/** Whether a file of the formats has the days of the selection in its name. */
export const namesDays = (formats: ReadonlyArray<TableFormat>): boolean =>
  formats.some(({ template: { file } }) => file.includes("{from}") || file.includes("{to}"))

/** What the database holds for the formats of one book. */
export interface Prepared {
  /** Null: the chart's own codes and names. */
  readonly stored: StoredMapping | null
  /** The days of the selection, where `namesDays` asks for them. */
  readonly days: Days | null
  /** The snapshot's time. */
  readonly createdAt: string
  /** Its day in the book's time zone. */
  readonly createdOn: string
}

const accountsAdvice = "Accounts: tieout accounts export, fill in what is missing, tieout accounts import."

/** The contexts of the formats, and the version of the mapping behind them. Fails before anything is written. */
export const prepareTables = Effect.fn("Export.prepareTables")(function* (
  { code, name }: { readonly code: string; readonly name: string },
  selection: Selection,
  {
    accounts,
    entriesByCurrency,
    moved,
    opening,
    touched: touchedSums,
  }: Pick<Source, "accounts" | "entriesByCurrency" | "moved" | "opening" | "touched">,
  formats: ReadonlyArray<TableFormat>,
  { again = false, baseCurrency, mode, rated = false, settings, summary = byDay }: TableOptions,
  { createdAt, createdOn, days, stored }: Prepared,
  banks: ReadonlyArray<Pick<BankStatementFormat, "profile">> = [],
) {
  if (formats.length + banks.length === 0) return { contexts: [], mappingVersion: null }
  // Files with rates have the amounts that moved, whatever they are worth.
  const sums = yield* rated ? touchedSums : moved
  const touched = accounts.ordered.filter(
    (account) => sums.has(account) || (rated && account.role === "rounding"),
  )
  const lacking: Array<string> = []
  const unknown: Array<string> = []
  const used: Array<Used> = []
  const contexts = formats.map((format): TableContext => {
    const profile = profileWith(format, settings, rated)
    const leaveOut = leftOut(format, settings)
    const isHeld = ({ currency }: Account) => !leaveOut.includes(currency)
    const own = touched.filter(isHeld)
    const mapped = (some: ReadonlyArray<Account>) =>
      mapAccounts(some, format.target, profile, stored, accounts.nativeOf)
    const { mapping, unmapped } =
      format.numbers === null ? mapped(own) : numberAccounts(accounts, format.numbers)
    used.push({ profile, accounts: own })
    lacking.push(...settingProblems(profile))
    unknown.push(...unmapped.map((line) => `${format.name}: account ${line}`))
    const { accountFiles } = format
    const all = opened(accounts, opening)
    return {
      ...{ profile, leaveOut, baseCurrency, mode, summary, mapping, createdAt, createdOn, days },
      ...{ accountFiles, book: { code, name }, accounts: all },
      // An account is called the same in every file, whichever of the books' accounts moved in it.
      names: systemNames(mapped(accounts.ordered.filter(isHeld)).mapping),
      nativeOf: accounts.nativeOf,
      withResults: settings.exchangeResults,
    }
  })
  const ofCash = touched.filter(
    ({ currency, role }) => role === "cash" && !settings.leaveOut.includes(currency),
  )
  used.push(...banks.map(({ profile }): Used => ({ profile, accounts: ofCash })))
  const unfit = yield* findUnfit(used, baseCurrency, entriesByCurrency)
  const problems = [...lacking, ...unfit.map(({ message }) => message), ...unknown]
  if (problems.length > 0) {
    const advice = [
      ...adviceFor(
        unfit,
        { mode: `${modeOptions(mode, summary)}${again ? " --again" : ""}`, selection },
        baseCurrency,
      ),
      ...(unknown.length > 0 ? [{ text: accountsAdvice, perBook: false }] : []),
    ]
    return yield* refused([{ book: code, problems, advice, without: withoutWhich(unfit, settings) }])
  }
  return { contexts, mappingVersion: stored?.version ?? null }
})
