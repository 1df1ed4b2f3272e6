/** Everything that accounting systems' formats need before the first line, and whether they can hold the accounts at all. */
import { Effect } from "effect"
import type { Account } from "../../Format/Entry.ts"
import type { Formats } from "../../Format/FormatSettings.ts"
import { profileOf, type TableName } from "../../Format/Formats.ts"
import type { Mode } from "../../Format/Table/Journals.ts"
import { overridden } from "../../Format/Table/Override.ts"
import type { Profile } from "../../Format/Table/Profile.ts"
import { leftOut, type TableContext } from "../Batch/TableFiles.ts"
import { exportError } from "../ExportError.ts"
import { daysOf } from "../Request/Days.ts"
import type { Selection } from "../Request/Scope.ts"
import type { Source } from "../Source.ts"
import { mapAccounts } from "./Mapped.ts"
import { newestMapping } from "./Store.ts"

export interface TableOptions {
  readonly mode: Mode
  readonly settings: Formats
  readonly baseCurrency: string
}

const settingProblems = ({ name }: Profile, { datev }: Formats): ReadonlyArray<string> =>
  name !== "datev"
    ? []
    : (["consultant", "client"] as const)
        .filter((key) => datev[key] === null)
        .map((key) => `datev needs the setting formats.datev.${key}`)

const currencyProblems = (
  { currency: pattern, name }: Profile,
  accounts: ReadonlyArray<Account>,
): ReadonlyArray<string> =>
  [...new Set(accounts.map(({ currency }) => currency))]
    .filter((currency) => !pattern.test(currency))
    .map(
      (currency) =>
        `${name} has no currency ${currency}: name it in the setting formats.leaveOut to export the others`,
    )

const most = 50

const refusal = (problems: ReadonlyArray<string>) => {
  const shown = problems.slice(0, most)
  const more = problems.length > most ? [`… and ${problems.length - most} more`] : []
  return exportError(
    "Refused",
    [
      "The export is refused, nothing was written:",
      ...[...shown, ...more].map((line) => `  ${line}`),
      "Accounts: tieout accounts export, fill in what is missing, tieout accounts import.",
    ].join("\n"),
  )
}

/** The contexts of the formats, and the version of the mapping behind them. Fails before anything is written. */
export const prepareTables = Effect.fn("Export.prepareTables")(function* (
  bookId: number,
  selection: Selection,
  { accounts, moved, nativeOf }: Pick<Source, "accounts" | "moved" | "nativeOf">,
  names: ReadonlyArray<TableName>,
  { baseCurrency, mode, settings }: TableOptions,
  createdAt: string,
) {
  if (names.length === 0) return { contexts: [], mappingVersion: null }
  const stored = yield* newestMapping(bookId, selection.asOf)
  const sums = yield* moved
  const touched = accounts.ordered.filter((account) => sums.has(account))
  const problems: Array<string> = []
  const days = names.includes("gl-detail") ? yield* daysOf(bookId, selection) : null
  const contexts = names.map((name): TableContext => {
    const profile = overridden(profileOf(name), settings.profiles[name] ?? {})
    const without = leftOut(name, settings.leaveOut)
    const used = touched.filter(({ currency }) => !without.includes(currency))
    const { mapping, unmapped } = mapAccounts(used, profile, settings, stored, nativeOf)
    problems.push(
      ...settingProblems(profile, settings),
      ...currencyProblems(profile, used),
      ...unmapped.map((line) => `${name}: account ${line}`),
    )
    return { name, profile, settings, baseCurrency, mode, mapping, createdAt, days }
  })
  if (problems.length > 0) return yield* refusal(problems)
  return { contexts, mappingVersion: stored?.version ?? null }
})
