/** The currencies of a book that the formats of accounting systems cannot hold: how many entries, and what to do about them. */
import { Effect } from "effect"
import { count, counted } from "../../Common/Text.ts"
import type { Account } from "../../Format/Entry.ts"
import type { FormatSettings } from "../../Format/FormatSettings.ts"
import { type Profile, takesCurrency } from "../../Format/Table/Profile.ts"
import type { Advice } from "../ExportError.ts"
import type { Selection } from "../Request/ExportScope.ts"
import type { CurrencyEntries, LinesOf } from "../Source/CurrencyEntries.ts"
import type { Source } from "../Source.ts"

/** The part of a profile that decides which currencies and amounts it can hold. */
type Limits = Pick<Profile, "name" | "currencies" | "decimals" | "mode">

export interface Used {
  readonly profile: Limits
  /** Those of the export that are not left out. */
  readonly accounts: ReadonlyArray<Account>
}

export interface Unfit {
  readonly profile: Limits
  readonly currencies: ReadonlyArray<string>
  /** Whether the format can hold any other currency that the export has. */
  readonly others: boolean
  readonly message: string
}

/** `12 entries are in USD, 1 in USDT` */
const listed = (found: ReadonlyArray<readonly [currency: string, entries: number]>): string =>
  found
    .map(([currency, entries], at) =>
      at === 0
        ? `${counted(entries, "entry is", "entries are")} in ${currency}`
        : `${count(entries)} in ${currency}`,
    )
    .join(", ")

const linesOf = ({ mode }: Limits): LinesOf => (mode === "statement" ? "statement" : "journal")

const currencyReason = ({ currencies, name }: Limits, baseCurrency: string): string =>
  currencies === "base"
    ? `${name} has no currency column and takes every amount for ${baseCurrency}`
    : `${name} has currencies of three letters only`

const unfitOf = (
  { accounts, profile }: Used,
  baseCurrency: string,
  entries: CurrencyEntries,
): ReadonlyArray<Unfit> => {
  const { decimals, name } = profile
  const used = [...new Set(accounts.map(({ currency }) => currency))].sort()
  const foreign = used.filter((currency) => !takesCurrency(profile, currency, baseCurrency))
  const precise = used
    .filter((currency) => !foreign.includes(currency))
    .flatMap((currency) => {
      const found = entries.get(currency)?.precise ?? 0
      return found > 0 ? [[currency, found] as const] : []
    })
  const one = (currencies: ReadonlyArray<string>, message: string): Unfit => ({
    ...{ profile, currencies, message },
    others: foreign.length + precise.length < used.length,
  })
  const inForeign = foreign.map((currency) => [currency, entries.get(currency)?.entries ?? 0] as const)
  return [
    ...(foreign.length === 0
      ? []
      : [one(foreign, `${currencyReason(profile, baseCurrency)}: ${listed(inForeign)}`)]),
    ...(precise.length > 0
      ? [
          one(
            precise.map(([currency]) => currency),
            `${name} has amounts of ${decimals.most} decimals, some here have more: ${listed(precise)}`,
          ),
        ]
      : []),
  ]
}

/** Everything that does not fit. The entries are counted only where something may not. */
export const findUnfit = Effect.fn("Export.findUnfit")(function* (
  used: ReadonlyArray<Used>,
  baseCurrency: string,
  countEntries: Source["entriesByCurrency"],
) {
  const suspects = used.filter(
    ({ accounts, profile }) =>
      accounts.some(({ currency }) => !takesCurrency(profile, currency, baseCurrency)) ||
      accounts.some(({ scale }) => scale > profile.decimals.most),
  )
  const keyOf = (profile: Limits) => `${profile.decimals.most} ${linesOf(profile)}`
  const counted = new Map<string, CurrencyEntries>()
  for (const { profile } of suspects) {
    const key = keyOf(profile)
    if (!counted.has(key)) counted.set(key, yield* countEntries(profile.decimals.most, linesOf(profile)))
  }
  return suspects.flatMap((each) =>
    unfitOf(each, baseCurrency, counted.get(keyOf(each.profile)) ?? new Map()),
  )
})

/** A base-currency export is of months: what `--since-last` would take is in one of them. */
const scopeOptions = ({ asOf, from, kind, text, to }: Selection): string => {
  const scope = {
    all: "--all",
    period: `--period ${text}`,
    range: `--from ${from} --to ${to}`,
    "since-last": "--period YYYY-MM",
  }[kind]
  return asOf === null ? scope : `${scope} --as-of ${asOf}`
}

/** Currencies to leave out, with those that `leaveOut` of the settings leaves out already; none where nothing else would be left. */
export const withoutWhich = (
  unfit: ReadonlyArray<Unfit>,
  { leaveOut }: Pick<FormatSettings, "leaveOut">,
): ReadonlyArray<string> =>
  unfit.length > 0 && unfit.every(({ others }) => others)
    ? [...new Set([...leaveOut, ...unfit.flatMap((each) => each.currencies)])].sort()
    : []

/** The command that holds everything. A bank statement is in its account's own currency: nothing values it. */
export const adviceFor = (
  unfit: ReadonlyArray<Unfit>,
  { mode, selection }: { readonly mode: string; readonly selection: Selection },
  baseCurrency: string,
): ReadonlyArray<Advice> => {
  const names = [
    ...new Set(
      unfit.filter(({ profile }) => profile.mode !== "statement").map(({ profile }) => profile.name),
    ),
  ]
  return names.length === 0
    ? []
    : [
        {
          text: `Everything in ${baseCurrency}: tieout export --base --format ${names.join(",")} ${scopeOptions(selection)}${mode}`,
          perBook: true,
        },
      ]
}
