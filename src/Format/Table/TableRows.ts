/** A journal as rows of text. */

import { holds } from "../Encoding.ts"
import type { Account } from "../Entry.ts"
import { quoted } from "./CellText.ts"
import { type JournalLine, type TableJournal, Unholdable } from "./Journals.ts"
import type { Column, Mapped, Profile, RateStyle, Row, Setup } from "./Profile.ts"
import { valuedAt } from "./RatedJournals.ts"
import { textOf } from "./SharedCells.ts"

export type Mapping = ReadonlyMap<Account, Mapped>

/** The parts that all names begin with: `Assets:Clearing:Deposits:EUR` and `…:USD` have `Assets:Clearing:Deposits`. */
const commonName = (names: ReadonlyArray<string>): string => {
  const [first = "", ...others] = names
  const parts = first.split(":")
  const different = parts.findIndex((part, at) => others.some((name) => name.split(":")[at] !== part))
  if (different === 0) return first
  return different < 0 ? first : parts.slice(0, different).join(":")
}

/** Characters of an account's name in a file: the FEC's columns and SIE's texts have room for them. */
const longestName = 100

const cutTo = (most: number, name: string): string => [...name].slice(0, Math.max(0, most)).join("")

/** The accounts whose name another one has, too. */
const namesakes = (names: ReadonlyMap<string, string>): ReadonlyArray<string> => {
  const times = new Map<string, number>()
  for (const name of names.values()) times.set(name, (times.get(name) ?? 0) + 1)
  return [...names].flatMap(([account, name]) => ((times.get(name) ?? 0) > 1 ? [account] : []))
}

/**
 * A name for each account of the system, and for each name one account. Of ledger accounts that share one it is the common part
 * of their names; where two accounts of the system would have the same, each has its number behind.
 */
export const systemNames = (mapping: Mapping): ReadonlyMap<string, string> => {
  const own = new Map<string, Array<string>>()
  for (const [{ name }, { account }] of mapping) own.set(account, [...(own.get(account) ?? []), name])
  const names = new Map([...own].map(([account, all]) => [account, cutTo(longestName, commonName(all))]))
  // With a number behind, a name may be what another account is called; then that one gets its number, too.
  for (let same = namesakes(names); same.length > 0; same = namesakes(names)) {
    for (const account of same) {
      const name = cutTo(longestName - account.length - 1, names.get(account) ?? "")
      names.set(account, `${name} ${account}`)
    }
  }
  return names
}

const mappedOf = (mapping: Mapping, account: Account): Mapped => {
  const mapped = mapping.get(account)
  if (mapped === undefined) throw new Unholdable(`account ${account.code} (${account.name}) is not mapped`)
  return mapped
}

/** The base-currency amount that the receiving system computes for a line; where the line is in the base currency or the file states the amount, the line's own. */
const systemValue = (
  { rate, scale }: TableJournal,
  minor: bigint,
  base: bigint,
  rates: RateStyle | undefined,
): bigint => {
  if (rate === null || rate === undefined) return minor
  return rates === undefined || rates.states ? base : valuedAt(minor, scale, rate, rates)
}

const lineRows = (
  journal: TableJournal,
  mapping: Mapping,
  before: number,
  rates: RateStyle | undefined,
): ReadonlyArray<Row> =>
  journal.lines.map(({ account, base, minor, number }, at) => ({
    journal,
    place: at + 1,
    fileRow: before + at + 1,
    lineNumber: number,
    mapped: mappedOf(mapping, account),
    contra: undefined,
    minor,
    base: base === undefined ? 0n : systemValue(journal, minor, base, rates),
  }))

interface Open {
  readonly mapped: Mapped
  left: bigint
  /** Of `left`, in cents of the base currency. */
  base: bigint
}

/** Whether the journal has a rate: it is in a currency other than the base currency, of a file with rates. */
const isRated = ({ rate }: TableJournal): boolean => rate !== null && rate !== undefined

/** The lines netted per account of the accounting system, where two ledger accounts may share one. */
const netted = (lines: ReadonlyArray<JournalLine>, mapping: Mapping): ReadonlyArray<Open> => {
  const sums = new Map<string, Open>()
  for (const { account, base = 0n, minor } of lines) {
    const mapped = mappedOf(mapping, account)
    const key = JSON.stringify([mapped.account, mapped.dimension])
    const sum = sums.get(key)
    if (sum === undefined) sums.set(key, { mapped, left: minor, base })
    else {
      sum.left += minor
      sum.base += base
    }
  }
  return [...sums.values()]
}

/** `Math.min` takes no bigint. */
const smaller = (a: bigint, b: bigint): bigint => {
  if (a < b) return a
  return b
}

/**
 * Pairs debits with credits: at most one row fewer than there are accounts, and every account keeps the balance of its lines.
 * An account never pairs with itself.
 */
const pairRows = (journal: TableJournal, mapping: Mapping, before: number): ReadonlyArray<Row> => {
  const sums = netted(journal.lines, mapping)
  const credits = sums.filter(({ left }) => left < 0n)
  const rows: Array<Row> = []
  for (const debit of sums) {
    while (debit.left > 0n) {
      const credit = credits[0]
      if (credit === undefined) throw new Unholdable(`${journal.number} does not balance`)
      const minor = smaller(debit.left, -credit.left)
      // Of two that end here the debit keeps its value exactly.
      const base = debit.left === minor ? debit.base : -credit.base
      debit.base -= base
      credit.base += base
      debit.left -= minor
      credit.left += minor
      if (credit.left === 0n) credits.shift()
      if (debit.mapped.account === credit.mapped.account) continue
      // A row worth zero is left out, since the system would refuse it.
      if (isRated(journal) && base <= 0n) continue
      rows.push({
        journal,
        place: rows.length + 1,
        fileRow: before + rows.length + 1,
        lineNumber: 0,
        mapped: debit.mapped,
        contra: credit.mapped,
        minor,
        base: isRated(journal) ? base : minor,
      })
    }
  }
  return rows
}

const cellOf = (column: Column, row: Row, setup: Setup): string => {
  const { delimiter, encoding, quoteTexts } = setup.profile
  const empty = column.emptyQuoted === true ? '""' : ""
  if (column.constant !== undefined) return column.constant
  if (column.cell === undefined || (column.first === true && row.place > 1)) return empty
  if (column.cell.kind === "plain") return column.cell.fill(row, setup)
  const text = textOf(column.cell, column, row, setup)
  if (text === "") return empty
  if (!holds(text, encoding)) throw new Unholdable(`${JSON.stringify(text)} is not in ${encoding}`)
  return quoted(text, delimiter, quoteTexts)
}

/** A journal's rows. `before`: the rows that the format's files have already. */
export const rowsIn = (
  journal: TableJournal,
  mapping: Mapping,
  profile: Profile,
  before: number,
): ReadonlyArray<Row> => {
  // A line that is worth zero at any rate cannot be in a file with rates.
  if (journal.rate === 0n) return []
  const rows =
    profile.row === "line"
      ? lineRows(journal, mapping, before, profile.rates)
      : pairRows(journal, mapping, before)
  if (rows.length > profile.limits.rowsPerJournal) {
    throw new Unholdable(
      `${journal.number} has ${rows.length} rows, ${profile.name} takes ${profile.limits.rowsPerJournal} in one journal`,
    )
  }
  return rows
}

/** One text per row, with its line end; the first and the last with what encloses the journal. */
export const textsOf = (rows: ReadonlyArray<Row>, setup: Setup): ReadonlyArray<string> => {
  const { columns, delimiter, frame, lineEnd } = setup.profile
  const lineOf = (cells: ReadonlyArray<Column>, row: Row) =>
    cells.map((column) => cellOf(column, row, setup)).join(delimiter) + lineEnd
  const texts = rows.map((row) => lineOf(columns, row))
  if (frame === undefined) return texts
  return rows.map((row, at) =>
    [
      at === 0 ? `${lineOf(frame.columns, row)}${frame.open}${lineEnd}` : "",
      texts[at] ?? "",
      at === rows.length - 1 ? `${frame.close}${lineEnd}` : "",
    ].join(""),
  )
}
