/** Which journals an accounting system's files hold: with rates, a statement's, entry by entry, or summed up. */
import type { Account, OpenedAccount } from "../Entry.ts"
import { detailJournals, type Journals, type Mode, statementJournals } from "./Journals.ts"
import type { Profile } from "./Profile.ts"
import { ratedJournals } from "./RatedJournals.ts"
import { type Represented, type SummaryStyle, summaryJournals } from "./SummaryJournals.ts"
import type { Mapping } from "./TableRows.ts"

/** The facts that decide the choice. */
export interface JournalChoice {
  readonly profile: Profile
  /** Currencies. */
  readonly leaveOut: ReadonlyArray<string>
  readonly baseCurrency: string
  readonly mode: Mode
  readonly summary: SummaryStyle
  readonly mapping: Mapping
  /** The book's accounts with their balances before the first entry. */
  readonly accounts: ReadonlyArray<OpenedAccount>
  /** The books' account behind one of the base-currency journal, and whether results go into files with rates. */
  readonly nativeOf: (account: Account) => Account
  readonly withResults: boolean
}

/**
 * Of the ledger's accounts that are one in the system, with one dimension, the first stands for all of a currency. Where amounts are
 * netted, each of the service's accounts stands for itself.
 */
const representedIn = (mapping: Mapping, { net }: SummaryStyle): Represented => {
  const first = new Map<string, Account>()
  const standing = new Map<Account, Account>()
  for (const [account, mapped] of mapping) {
    const cash = net && account.role === "cash" ? account.partnerAccountId : null
    const key = JSON.stringify([account.currency, mapped.account, mapped.dimension, cash])
    const known = first.get(key) ?? account
    first.set(key, known)
    standing.set(account, known)
  }
  return (account) => standing.get(account) ?? account
}

/** Journals with rates, where the profile has them. */
const ratedOf = ({ accounts, baseCurrency, nativeOf, profile, withResults }: JournalChoice) => {
  const { rates: style } = profile
  const rounding = accounts.find(({ account }) => account.role === "rounding")?.account
  return style === undefined || rounding === undefined
    ? undefined
    : ratedJournals({ profile, style, baseCurrency, nativeOf, rounding, withResults })
}

/** The journals that a format's files hold. */
export const journalsOf = (context: JournalChoice): Journals => {
  const { mapping, mode, profile, summary } = context
  const leaveOut = new Set(context.leaveOut)
  const rated = ratedOf(context)
  if (rated !== undefined) return rated
  if (profile.mode === "statement") return statementJournals(leaveOut)
  if (profile.mode === "detail" || mode === "detail") return detailJournals(leaveOut)
  const { rowsPerJournal } = profile.limits
  return summaryJournals(leaveOut, rowsPerJournal, representedIn(mapping, summary), summary)
}
