/**
 * Entries summed up: a journal per day or month and currency, with debits and credits per account of the system, or net.
 * Amounts that must not be netted or mixed are kept apart: revaluations and their reversals have journals of their own, and
 * each cash account has a line.
 */
import { type Account, type Entry, seriesOf } from "../Entry.ts"
import {
  byCurrency,
  checkBalance,
  type JournalLine,
  type Journals,
  type NamedJournal,
  type TableJournal,
} from "./Journals.ts"

/** How a summary adds up. */
export interface SummaryStyle {
  readonly by: "day" | "month"
  /** A line per account with its net amount, instead of debits and credits. */
  readonly net: boolean
}

/** Journal numbers that follow one another. */
interface Run {
  readonly first: string
  last: string
}

interface Sum {
  readonly first: Entry
  /** The day of the last entry. */
  date: string
  readonly runs: Array<Run>
  entries: number
  readonly scale: number
  readonly turnovers: Map<Account, { debit: bigint; credit: bigint }>
}

const grossLines = ({ turnovers }: Sum): ReadonlyArray<JournalLine> =>
  [...turnovers].flatMap(([account, { debit, credit }]) => [
    ...(debit > 0n ? [{ account, minor: debit, number: 0 }] : []),
    ...(credit > 0n ? [{ account, minor: -credit, number: 0 }] : []),
  ])

const netLines = ({ turnovers }: Sum): ReadonlyArray<JournalLine> =>
  [...turnovers].flatMap(([account, { debit, credit }]) =>
    debit === credit ? [] : [{ account, minor: debit - credit, number: 0 }],
  )

/** Whether a number is the next of its series. */
const follows = (last: string, next: string): boolean =>
  seriesOf(last) === seriesOf(next) &&
  Number(next.slice(seriesOf(next).length + 1)) === Number(last.slice(seriesOf(last).length + 1)) + 1

const addNumber = (runs: Array<Run>, number: string): void => {
  const run = runs.at(-1)
  if (run !== undefined && follows(run.last, number)) run.last = number
  else runs.push({ first: number, last: number })
}

/** More runs than a text has room for; the list of entries beside the file has them all. */
const mostRuns = 3

/** `3 entries, ORG-2026-10-000001 to ORG-2026-10-000002, ORG-2026-10-000006`, with at most so many runs of numbers. */
const summarized = ({ entries, runs }: Sum, most: number): string => {
  const shown = runs.slice(0, most).map(({ first, last }) => (first === last ? first : `${first} to ${last}`))
  const more = runs.length > most ? " and others" : ""
  return `${entries === 1 ? "1 entry" : `${entries} entries`}, ${shown.join(", ")}${more}`
}

/** Of a month, the days that it really has, before its numbers: `2026-10-01 to 2026-10-30: 3 entries, …` */
const described = (sum: Sum, most: number): string =>
  sum.date === sum.first.effectiveDate
    ? summarized(sum, most)
    : `${sum.first.effectiveDate} to ${sum.date}: ${summarized(sum, most)}`

const nameOf = ({ first }: Sum, currency: string): NamedJournal => ({
  number: first.number,
  mode: "summary",
  currency,
  // The first entry may begin a summary in each of its currencies, with the same number.
  several: byCurrency(first).size > 1,
})

const summaryOf = (sum: Sum, currency: string, { net }: SummaryStyle): TableJournal => ({
  ...nameOf(sum, currency),
  entries: sum.entries,
  date: sum.date,
  period: sum.first.period,
  kind: "summary",
  description: described(sum, mostRuns),
  shorter: [...Array(mostRuns - 1).keys()].map((less) => described(sum, mostRuns - 1 - less)),
  entry: null,
  recordedAt: sum.first.recordedAt,
  sourceType: "summary",
  partnerAccountId: null,
  scale: sum.scale,
  lines: net ? netLines(sum) : grossLines(sum),
})

/** The account under which an account is summed up: all that the mapping makes one account of the system share it. */
export type Represented = (account: Account) => Account

/** Entries that only the base-currency journal has are summed up separately, and reversals apart from what they reverse. */
const classOf = ({ kind, sourceType }: Entry): string => (sourceType === "valuation" ? kind : "")

/** What a summary journal covers, beside its currency; the days of one key follow one another. */
const spanOf = ({ effectiveDate }: Entry, { by }: SummaryStyle): string =>
  by === "day" ? effectiveDate : effectiveDate.slice(0, 7)

const emptySum = (entry: Entry, scale: number): Sum => ({
  ...{ first: entry, date: entry.effectiveDate, runs: [], entries: 0, scale, turnovers: new Map() },
})

const addLines = (sum: Sum, entry: Entry, lines: ReadonlyArray<JournalLine>, represented: Represented) => {
  addNumber(sum.runs, entry.number)
  sum.entries += 1
  sum.date = entry.effectiveDate
  for (const line of lines) {
    const account = represented(line.account)
    const turnover = sum.turnovers.get(account) ?? { debit: 0n, credit: 0n }
    if (line.minor > 0n) turnover.debit += line.minor
    else turnover.credit -= line.minor
    sum.turnovers.set(account, turnover)
  }
}

/**
 * Entries must come by date. Two lines at most per account of the system: a span with more accounts than `most` rows have room for
 * becomes several journals of whole entries.
 */
export const summaryJournals = (
  leaveOut: ReadonlySet<string>,
  most: number,
  represented: Represented,
  style: SummaryStyle,
): Journals => {
  const open = new Map<string, { readonly currency: string; readonly sum: Sum }>()
  let placed: Array<NamedJournal> = []
  const put = (entry: Entry, currency: string, lines: ReadonlyArray<JournalLine>) => {
    const key = `${currency} ${classOf(entry)}`
    const finished: Array<TableJournal> = []
    // Journals of another class for an earlier span come before this one's.
    for (const [other, { sum, currency: otherCurrency }] of open) {
      if (otherCurrency !== currency || spanOf(sum.first, style) === spanOf(entry, style)) continue
      finished.push(summaryOf(sum, currency, style))
      open.delete(other)
    }
    const before = open.get(key)?.sum
    const own = lines.map(({ account }) => represented(account))
    const size = before === undefined ? 0 : new Set([...before.turnovers.keys(), ...own]).size * 2
    if (before !== undefined && size > most) {
      finished.push(summaryOf(before, currency, style))
      open.delete(key)
    }
    const sum = open.get(key)?.sum ?? emptySum(entry, lines[0]?.account.scale ?? 0)
    open.set(key, { currency, sum })
    addLines(sum, entry, lines, represented)
    placed.push(nameOf(sum, currency))
    return finished
  }
  return {
    add: (entry) => {
      placed = []
      return [...byCurrency(entry)].flatMap(([currency, lines]) => {
        if (leaveOut.has(currency)) return []
        checkBalance(entry, currency, lines)
        return put(entry, currency, lines)
      })
    },
    end: () => [...open.values()].map(({ currency, sum }) => summaryOf(sum, currency, style)),
    placed: () => placed,
  }
}
