/** The manifest's accounts and amounts as exact numbers, and whether they agree with each other. */

import { parse, print } from "../Common/MinorUnits.ts"
import type { Problems } from "../Common/Problems.ts"
import { type AccountTotal, bankEntries, type Manifest, manifestFile } from "../Export/Batch/Manifest.ts"
import { holdsWhole } from "../Export/Request/ExportScope.ts"
import type { Account, OpenedAccount } from "../Format/Entry.ts"

export interface ExpectedAccount extends OpenedAccount {
  readonly debit: bigint
  readonly credit: bigint
  readonly closing: bigint
  /** The account's name in the formats of accounting systems, by format. */
  readonly mapped: Readonly<Record<string, string>>
}

/** An amount's decimals: every amount of the manifest is printed at its currency's scale. */
const scaleOf = (text: string): number => (text.includes(".") ? text.length - text.indexOf(".") - 1 : 0)

const expectedAccount = (total: AccountTotal): ExpectedAccount => {
  const { code, name, role, currency, partnerAccountId } = total
  const scale = scaleOf(total.opening)
  const account: Account = { code, name, role, currency, partnerAccountId, scale }
  return {
    account,
    opening: parse(total.opening, scale),
    debit: parse(total.debit, scale),
    credit: parse(total.credit, scale),
    closing: parse(total.closing, scale),
    mapped: total.mapped ?? {},
  }
}

export const expectedAccounts = (manifest: Manifest): ReadonlyArray<ExpectedAccount> =>
  manifest.accounts.map(expectedAccount)

interface Sums {
  opening: bigint
  debit: bigint
  credit: bigint
}

const byCurrency = (accounts: ReadonlyArray<ExpectedAccount>): ReadonlyMap<string, Sums> => {
  const sums = new Map<string, Sums>()
  for (const { account, opening, debit, credit } of accounts) {
    const sum = sums.get(account.currency) ?? { opening: 0n, debit: 0n, credit: 0n }
    sums.set(account.currency, {
      opening: sum.opening + opening,
      debit: sum.debit + debit,
      credit: sum.credit + credit,
    })
  }
  return sums
}

const checkCurrencies = (
  manifest: Manifest,
  accounts: ReadonlyArray<ExpectedAccount>,
  problems: Problems,
) => {
  const sums = byCurrency(accounts)
  for (const { currency, scale, debit, credit } of manifest.currencies) {
    const sum = sums.get(currency)
    const same = sum !== undefined && print(sum.debit, scale) === debit && print(sum.credit, scale) === credit
    if (!same) problems.add(manifestFile, null, `the totals of ${currency} are not those of its accounts`)
    if (debit !== credit) {
      problems.add(manifestFile, null, `${currency}: debits of ${debit} and credits of ${credit} differ`)
    }
  }
  const stated = new Set(manifest.currencies.map(({ currency }) => currency))
  for (const [currency, { credit, debit, opening }] of sums) {
    if (opening !== 0n)
      problems.add(manifestFile, null, `the opening balances of ${currency} do not add up to zero`)
    if ((debit !== 0n || credit !== 0n) && !stated.has(currency))
      problems.add(manifestFile, null, `has no totals of ${currency}, in which its accounts moved`)
  }
}

/** Whether a period's numbers must be gapless; entries worth zero in the base currency leave gaps. */
export const isGapless = ({ base, scope }: Pick<Manifest, "base" | "scope">, period: string): boolean =>
  holdsWhole(scope, period) && (base === undefined || base.omitted === 0)

/** Opening, turnovers, closing and counts of the manifest must agree among themselves. */
export const checkArithmetic = (
  manifest: Manifest,
  accounts: ReadonlyArray<ExpectedAccount>,
  problems: Problems,
): void => {
  const scales = new Map(manifest.currencies.map(({ currency, scale }) => [currency, scale]))
  for (const { account, opening, debit, credit, closing } of accounts) {
    const place = `${account.code} ${account.name} (${account.currency})`
    const scale = scales.get(account.currency) ?? account.scale
    scales.set(account.currency, scale)
    // Sums are of smallest units, which must be the same ones.
    if (account.scale !== scale) {
      problems.add(manifestFile, null, `${place}: has amounts with ${account.scale} decimals, not ${scale}`)
    }
    if (opening + debit - credit !== closing) {
      problems.add(manifestFile, null, `${place}: opening and turnovers do not lead to the closing balance`)
    }
  }
  checkCurrencies(manifest, accounts, problems)
  const [entries, place] =
    manifest.holds === undefined
      ? [manifest.periods.reduce((sum, period) => sum + period.entries, 0), "periods"]
      : [bankEntries(manifest), "bank statements"]
  if (entries !== manifest.entries) {
    problems.add(manifestFile, null, `${manifest.entries} entries in all, but ${entries} in its ${place}`)
  }
  const postings = manifest.currencies.reduce((sum, currency) => sum + currency.postings, 0)
  if (postings !== manifest.postings) {
    problems.add(
      manifestFile,
      null,
      `${manifest.postings} postings in all, but ${postings} in its currencies`,
    )
  }
  for (const { period, first, last, entries: count } of manifest.periods) {
    const [from, to] = [first, last].map((number) => Number(number.slice(number.lastIndexOf("-") + 1)))
    if (from === undefined || to === undefined) continue
    const whole = isGapless(manifest, period)
    if ((whole && from !== 1) || (whole && to - from + 1 !== count) || to - from + 1 < count) {
      problems.add(
        manifestFile,
        null,
        `the journal numbers of ${period} (${first} to ${last}) are not gapless`,
      )
    }
  }
}
