/**
 * Entries of the base-currency journal as journals in the currencies that moved, each with its value in the base currency and
 * one rate: for systems that take foreign currency with a rate. Amounts that a system cannot express (a stablecoin, three
 * decimals), or whose rate it cannot, become a journal in the base currency. Lines that only the base-currency journal has are left out, unless they are
 * wanted.
 */
import { parse } from "../../Common/MinorUnits.ts"
import type { Account, Entry, NativeMovement } from "../Entry.ts"
import { type JournalLine, type Journals, journalIn, type TableJournal, Unholdable } from "./Journals.ts"
import type { Profile, RateStyle } from "./Profile.ts"
import { takesCurrency } from "./Profile.ts"

/** Decimals of the base currency's amounts. */
export const baseScale = 2

export interface RatedOptions {
  readonly profile: Profile
  readonly style: RateStyle
  readonly baseCurrency: string
  /** The books' account behind one of the base-currency journal. */
  readonly nativeOf: (account: Account) => Account
  /** The account that takes an entry's rounding difference. */
  readonly rounding: Account
  /** Whether exchange gains, losses and revaluations are written, too. */
  readonly withResults: boolean
}

const absolute = (value: bigint): bigint => (value < 0n ? -value : value)

/** A half goes away from zero, as accounting systems round. */
const nearest = (numerator: bigint, denominator: bigint): bigint => {
  const size = (absolute(numerator) * 2n + denominator) / (denominator * 2n)
  return numerator < 0n ? -size : size
}

const sumOf = (amounts: ReadonlyArray<bigint>): bigint => amounts.reduce((sum, amount) => sum + amount, 0n)

/** The value of a major unit in the base currency, or its inverse: at the style's decimals, in units of the last of them. */
const rateOf = (
  lines: ReadonlyArray<JournalLine>,
  scale: number,
  { decimals, quantity }: RateStyle,
): bigint => {
  const native = sumOf(lines.map(({ minor }) => absolute(minor))) * 10n ** BigInt(baseScale)
  const base = sumOf(lines.map((line) => absolute(line.base ?? 0n))) * 10n ** BigInt(scale)
  const [over, under] = quantity ? [native, base] : [base, native]
  return under === 0n ? 0n : nearest(over * 10n ** BigInt(decimals), under)
}

/** The base-currency value that a system computes for an amount at a rate, in cents. */
export const valuedAt = (minor: bigint, scale: number, rate: bigint, { decimals }: RateStyle): bigint =>
  nearest(minor * rate * 10n ** BigInt(baseScale), 10n ** BigInt(scale + decimals))

/** Zero is the rate of what is worth nothing, which has no rows. */
const takesRate = (rate: bigint, { decimals, digits, least }: RateStyle): boolean =>
  rate === 0n || (rate >= least && rate < 10n ** BigInt(digits + decimals))

interface Group {
  readonly scale: number
  readonly lines: Array<JournalLine>
}

const lineIn = (
  { account, amount, line, minor }: NativeMovement,
  scale: number | undefined,
): JournalLine => ({
  ...{ account, number: line, base: minor },
  minor: scale === undefined ? minor : parse(amount, scale),
})

/** Each native line in its currency, or in the base currency if the system cannot express that currency or `without` has it. */
const groupedWithout = (
  without: ReadonlySet<string>,
  entry: Entry,
  { baseCurrency, nativeOf, profile }: RatedOptions,
) => {
  const groups = new Map<string, Group>()
  for (const native of entry.natives ?? []) {
    const { scale } = nativeOf(native.account)
    const isForeign =
      native.currency !== baseCurrency &&
      !without.has(native.currency) &&
      takesCurrency(profile, native.currency, baseCurrency) &&
      scale <= profile.decimals.most
    const currency = isForeign ? native.currency : baseCurrency
    const group = groups.get(currency) ?? { scale: isForeign ? scale : baseScale, lines: [] }
    groups.set(currency, group)
    const line = lineIn(native, isForeign ? scale : undefined)
    if (line.minor !== 0n) group.lines.push(line)
  }
  return groups
}

/** The groups, and those among them that the base currency has instead, since the system cannot express their rate. */
const grouped = (entry: Entry, options: RatedOptions) => {
  const { baseCurrency, style } = options
  const groups = groupedWithout(new Set(), entry, options)
  const replaced = [...groups].filter(
    ([currency, { lines, scale }]) =>
      currency !== baseCurrency && !takesRate(rateOf(lines, scale, style), style),
  )
  const without = new Set(replaced.map(([currency]) => currency))
  return { replaced, groups: without.size === 0 ? groups : groupedWithout(without, entry, options) }
}

/** The lines without a native one come last: what was realized, revalued or rounded. */
const aloneIn = ({ lines, natives = [] }: Entry): ReadonlyArray<JournalLine> =>
  lines
    .slice(natives.filter(({ minor }) => minor !== 0n).length)
    .map(({ account, minor, number }) => ({ account, minor, number, base: minor }))

const journalsOfEntry = (entry: Entry, options: RatedOptions): ReadonlyArray<TableJournal> => {
  const { baseCurrency, rounding, style, withResults } = options
  const { groups, replaced } = grouped(entry, options)
  const alone = aloneIn(entry)
  const results = alone.filter(({ account }) => account !== rounding)
  const own = groups.get(baseCurrency)?.lines ?? []
  const wanted = withResults && sumOf(results.map(({ minor }) => minor)) === 0n ? results : []
  const inBase = [...own, ...wanted]
  const residue = sumOf(inBase.map(({ minor }) => minor))
  if (absolute(residue) * 2n > BigInt(inBase.length)) {
    throw new Unholdable(`what ${entry.number} has in ${baseCurrency} does not balance`)
  }
  // The rounding difference that the base-currency journal needs may be more or less than the books' own.
  const needed = residue === 0n ? [] : [{ account: rounding, minor: -residue, number: 0, base: 0n }]
  groups.set(baseCurrency, { scale: baseScale, lines: [...inBase, ...needed] })
  const left = alone.filter((line) => !wanted.includes(line))
  const made = [...groups].flatMap(([currency, { lines, scale }]): ReadonlyArray<TableJournal> => {
    if (lines.length === 0) return []
    if (sumOf(lines.map(({ minor }) => minor)) !== 0n) {
      throw new Unholdable(`${entry.number} does not balance in ${currency}`)
    }
    const rate = currency === baseCurrency ? null : rateOf(lines, scale, style)
    return [{ ...journalIn(entry, currency, lines), scale, rate, left: [] }]
  })
  const several = made.length > 1
  const journals = made.map((journal) => ({ ...journal, several }))
  // Journals without rows name the amounts that moved, which no file has, and what was left out.
  const unsaid = replaced.map(([currency, { lines, scale }]) => ({
    ...journalIn(
      entry,
      currency,
      lines.map((line) => ({ ...line, base: 0n })),
    ),
    ...{ scale, rate: 0n, left: [] },
  }))
  if (left.length === 0) return [...journals, ...unsaid]
  return [
    ...journals,
    ...unsaid,
    { ...journalIn(entry, baseCurrency, []), scale: baseScale, rate: null, left },
  ]
}

export const ratedJournals = (options: RatedOptions): Journals => ({
  add: (entry) => journalsOfEntry(entry, options),
  end: () => [],
})
