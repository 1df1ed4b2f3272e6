/**
 * Entries as the journals that an accounting system imports: each in one currency, each balanced, none longer than the
 * system takes. Detail: a journal per entry. Statement: no journals, but the movements of the provider's statement on its cash
 * accounts. Summaries: `SummaryJournals.ts`; with rates: `RatedJournals.ts`.
 */
import type { Account, Entry } from "../Entry.ts"

export type Mode = "detail" | "summary"

/** Something that the format cannot hold; the batch is refused. */
export class Unholdable extends Error {
  override readonly name = "Unholdable"
}

export interface JournalLine {
  readonly account: Account
  /** Smallest units, debit positive, never zero. */
  readonly minor: bigint
  /** From 1, within the entry; 0 in a summary. */
  readonly number: number
  /** In cents of the base currency, where the journal is in the currency that moved. */
  readonly base?: bigint
}

/** What a journal's number in a file is made of. */
export interface NamedJournal {
  /** The first entry's number: unique, since an entry is in one journal per currency only. */
  readonly number: string
  readonly mode: Mode
  readonly currency: string
  /** Whether the entry has a journal in another currency, too. */
  readonly several?: boolean
}

export interface TableJournal extends NamedJournal {
  readonly entries: number
  readonly date: string
  readonly period: string
  readonly kind: string
  readonly description: string
  /** Of a summary: the same in fewer characters, the longest first. A range that was cut would name a number that it does not have. */
  readonly shorter?: ReadonlyArray<string>
  /** Null in a summary. */
  readonly entry: Entry | null
  /** When the first entry was recorded, ISO 8601 in UTC. */
  readonly recordedAt: string
  readonly sourceType: string
  /** The service's account that a statement's movement belongs to. */
  readonly partnerAccountId: string | null
  readonly scale: number
  readonly lines: ReadonlyArray<JournalLine>
  /** In units of its last decimal; null: in the base currency. Absent where the file has no rates. */
  readonly rate?: bigint | null
  /** Lines of the entry that only exist in the base currency, so that no file with rates has them. */
  readonly left?: ReadonlyArray<JournalLine>
}

/** An entry's lines by currency; it balances in each. */
export const byCurrency = (entry: Entry): ReadonlyMap<string, ReadonlyArray<JournalLine>> => {
  const parts = new Map<string, Array<JournalLine>>()
  for (const { account, minor, number } of entry.lines) {
    const part = parts.get(account.currency)
    if (part === undefined) parts.set(account.currency, [{ account, minor, number }])
    else part.push({ account, minor, number })
  }
  return parts
}

const unbalanced = (lines: ReadonlyArray<JournalLine>): boolean =>
  lines.reduce((sum, { minor }) => sum + minor, 0n) !== 0n

export const checkBalance = (entry: Entry, currency: string, lines: ReadonlyArray<JournalLine>): void => {
  if (unbalanced(lines)) throw new Unholdable(`${entry.number} does not balance in ${currency}`)
}

export const journalIn = (
  entry: Entry,
  currency: string,
  lines: ReadonlyArray<JournalLine>,
): TableJournal => ({
  number: entry.number,
  entries: 1,
  mode: "detail",
  date: entry.effectiveDate,
  period: entry.period,
  kind: entry.kind,
  description: entry.description,
  entry,
  recordedAt: entry.recordedAt,
  sourceType: entry.sourceType,
  currency,
  partnerAccountId: null,
  scale: lines[0]?.account.scale ?? 0,
  lines,
})

export interface Journals {
  readonly add: (entry: Entry) => ReadonlyArray<TableJournal>
  readonly end: () => ReadonlyArray<TableJournal>
  /** Of a summary: which of its journals, one at most for a currency, have the entry that was added last. */
  readonly placed?: () => ReadonlyArray<NamedJournal>
}

/** A journal per entry and currency. */
export const detailJournals = (leaveOut: ReadonlySet<string>): Journals => ({
  add: (entry) => {
    const parts = [...byCurrency(entry)]
    return parts
      .filter(([currency]) => !leaveOut.has(currency))
      .map(([currency, lines]) => {
        checkBalance(entry, currency, lines)
        return { ...journalIn(entry, currency, lines), several: parts.length > 1 }
      })
  },
  end: () => [],
})

/** Only movements of the provider's statement: an opening balance is not one. */
export const statementJournals = (leaveOut: ReadonlySet<string>): Journals => ({
  add: (entry) => {
    if (entry.sourceType !== "statement_entry") return []
    const cash = entry.lines.filter(
      ({ account }) => account.role === "cash" && !leaveOut.has(account.currency),
    )
    return [...new Set(cash.map(({ account }) => account))].flatMap((account) => {
      const own = cash.filter((line) => line.account === account)
      const minor = own.reduce((sum, line) => sum + line.minor, 0n)
      const line = { account, minor, number: own[0]?.number ?? 0 }
      const { partnerAccountId } = account
      return minor === 0n ? [] : [{ ...journalIn(entry, account.currency, [line]), partnerAccountId }]
    })
  },
  end: () => [],
})
