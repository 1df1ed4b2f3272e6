/**
 * Entries as the journals that an accounting system imports: each in one currency, each balanced, none longer than the
 * system takes. Detail: a journal per entry. Summary: a journal per day, with debits and credits per account. Statement: no
 * journals, but the movements of the provider's statement on its cash accounts.
 */
import { type Account, type Entry, seriesOf } from "../Entry.ts"

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

export interface TableJournal {
  /** The first entry's number: unique, since an entry is in one journal per currency only. */
  readonly number: string
  readonly entries: number
  readonly mode: Mode
  readonly date: string
  readonly period: string
  readonly kind: string
  readonly description: string
  /** Null in a summary. */
  readonly entry: Entry | null
  /** When the first entry was recorded, ISO 8601 in UTC. */
  readonly recordedAt: string
  readonly sourceType: string
  readonly currency: string
  /** The service's account that a statement's movement belongs to. */
  readonly partnerAccountId: string | null
  readonly scale: number
  readonly lines: ReadonlyArray<JournalLine>
  /** Whether the entry has a journal in another currency, too. */
  readonly several?: boolean
  /** In units of its last decimal; null: in the base currency. Absent where the file has no rates. */
  readonly rate?: bigint | null
  /** Lines of the entry that no file with rates has: only the base currency has them. */
  readonly left?: ReadonlyArray<JournalLine>
}

/** An entry's lines by currency; it balances in each. */
const byCurrency = (entry: Entry): ReadonlyMap<string, ReadonlyArray<JournalLine>> => {
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

const checkBalance = (entry: Entry, currency: string, lines: ReadonlyArray<JournalLine>): void => {
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

/** Journal numbers that follow one another. */
interface Run {
  readonly first: string
  last: string
}

interface Day {
  readonly first: Entry
  readonly runs: Array<Run>
  entries: number
  readonly scale: number
  readonly turnovers: Map<Account, { debit: bigint; credit: bigint }>
}

const linesOf = ({ turnovers }: Day): ReadonlyArray<JournalLine> =>
  [...turnovers].flatMap(([account, { debit, credit }]) => [
    ...(debit > 0n ? [{ account, minor: debit, number: 0 }] : []),
    ...(credit > 0n ? [{ account, minor: -credit, number: 0 }] : []),
  ])

/** Whether a number is the next of its series. */
const follows = (last: string, next: string): boolean =>
  seriesOf(last) === seriesOf(next) &&
  Number(next.slice(seriesOf(next).length + 1)) === Number(last.slice(seriesOf(last).length + 1)) + 1

const addNumber = (runs: Array<Run>, number: string): void => {
  const run = runs.at(-1)
  if (run !== undefined && follows(run.last, number)) run.last = number
  else runs.push({ first: number, last: number })
}

/** More runs than a text has room for; the journal of the same batch lists them all. */
const mostRuns = 3

/** `3 entries, ORG-2026-10-000001 to ORG-2026-10-000002, ORG-2026-10-000006` */
const summarized = ({ entries, runs }: Day): string => {
  const shown = runs
    .slice(0, mostRuns)
    .map(({ first, last }) => (first === last ? first : `${first} to ${last}`))
  const more = runs.length > mostRuns ? " and others" : ""
  return `${entries === 1 ? "1 entry" : `${entries} entries`}, ${shown.join(", ")}${more}`
}

const summaryOf = (day: Day, currency: string): TableJournal => ({
  number: day.first.number,
  entries: day.entries,
  mode: "summary",
  date: day.first.effectiveDate,
  period: day.first.period,
  kind: "summary",
  description: summarized(day),
  entry: null,
  recordedAt: day.first.recordedAt,
  sourceType: "summary",
  currency,
  partnerAccountId: null,
  scale: day.scale,
  lines: linesOf(day),
})

export interface Journals {
  readonly add: (entry: Entry) => ReadonlyArray<TableJournal>
  readonly end: () => ReadonlyArray<TableJournal>
}

const detail = (leaveOut: ReadonlySet<string>): Journals => ({
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
const statement = (leaveOut: ReadonlySet<string>): Journals => ({
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

/** The account that stands for it in sums: those of one account of the system are summed up together. */
export type Represented = (account: Account) => Account

/** Two lines at most per account of the system: a day with more accounts than fit becomes several journals of whole entries. */
const summary = (leaveOut: ReadonlySet<string>, most: number, represented: Represented): Journals => {
  const days = new Map<string, Day>()
  const put = (entry: Entry, currency: string, lines: ReadonlyArray<JournalLine>) => {
    const finished: Array<TableJournal> = []
    const open = days.get(currency)
    const own = new Set(lines.map(({ account }) => represented(account)))
    const size = open === undefined ? 0 : new Set([...open.turnovers.keys(), ...own]).size * 2
    if (open !== undefined && (open.first.effectiveDate !== entry.effectiveDate || size > most)) {
      finished.push(summaryOf(open, currency))
      days.delete(currency)
    }
    const scale = lines[0]?.account.scale ?? 0
    const day: Day = days.get(currency) ?? {
      first: entry,
      runs: [],
      entries: 0,
      scale,
      turnovers: new Map(),
    }
    days.set(currency, day)
    addNumber(day.runs, entry.number)
    day.entries += 1
    for (const line of lines) {
      const { minor } = line
      const account = represented(line.account)
      const turnover = day.turnovers.get(account) ?? { debit: 0n, credit: 0n }
      if (minor > 0n) turnover.debit += minor
      else turnover.credit -= minor
      day.turnovers.set(account, turnover)
    }
    return finished
  }
  return {
    add: (entry) =>
      [...byCurrency(entry)].flatMap(([currency, lines]) => {
        if (leaveOut.has(currency)) return []
        checkBalance(entry, currency, lines)
        return put(entry, currency, lines)
      }),
    end: () => [...days].map(([currency, day]) => summaryOf(day, currency)),
  }
}

/** Entries must come by date. `rowsPerJournal` bounds a summary; the writer refuses a single entry that is longer. */
export const journalsOf = (
  mode: Mode | "statement",
  leaveOut: ReadonlySet<string>,
  rowsPerJournal: number,
  represented: Represented,
): Journals => {
  if (mode === "statement") return statement(leaveOut)
  return mode === "detail" ? detail(leaveOut) : summary(leaveOut, rowsPerJournal, represented)
}
