/** A journal as rows of text. */

import { holds } from "../Encoding.ts"
import type { Account } from "../Entry.ts"
import { type Mapped, type Row, type Setup, textOf } from "./Cells.ts"
import { quoted } from "./CellText.ts"
import { type JournalLine, type TableJournal, Unholdable } from "./Journals.ts"
import type { Column } from "./Profile.ts"

export type Mapping = ReadonlyMap<Account, Mapped>

const mappedOf = (mapping: Mapping, account: Account): Mapped => {
  const mapped = mapping.get(account)
  if (mapped === undefined) throw new Unholdable(`account ${account.code} (${account.name}) is not mapped`)
  return mapped
}

const lineRows = (journal: TableJournal, mapping: Mapping, before: number): ReadonlyArray<Row> =>
  journal.lines.map(({ account, minor, number }, at) => ({
    journal,
    place: at + 1,
    fileRow: before + at + 1,
    lineNumber: number,
    mapped: mappedOf(mapping, account),
    contra: undefined,
    minor,
  }))

interface Open {
  readonly mapped: Mapped
  left: bigint
}

/** The lines netted per account of the accounting system, where two ledger accounts may share one. */
const netted = (lines: ReadonlyArray<JournalLine>, mapping: Mapping): ReadonlyArray<Open> => {
  const sums = new Map<string, Open>()
  for (const { account, minor } of lines) {
    const mapped = mappedOf(mapping, account)
    const key = JSON.stringify([mapped.account, mapped.dimension])
    const sum = sums.get(key)
    if (sum === undefined) sums.set(key, { mapped, left: minor })
    else sum.left += minor
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
      debit.left -= minor
      credit.left += minor
      if (credit.left === 0n) credits.shift()
      if (debit.mapped.account === credit.mapped.account) continue
      rows.push({
        journal,
        place: rows.length + 1,
        fileRow: before + rows.length + 1,
        lineNumber: 0,
        mapped: debit.mapped,
        contra: credit.mapped,
        minor,
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

/** One text per row, with its line end. `before`: the rows that the format's files have already. */
export const rowsOf = (
  journal: TableJournal,
  mapping: Mapping,
  setup: Setup,
  before: number,
): ReadonlyArray<string> => {
  const { profile } = setup
  const rows =
    profile.row === "line" ? lineRows(journal, mapping, before) : pairRows(journal, mapping, before)
  if (rows.length > profile.limits.rowsPerJournal) {
    throw new Unholdable(
      `${journal.number} has ${rows.length} rows, ${profile.name} takes ${profile.limits.rowsPerJournal} in one journal`,
    )
  }
  return rows.map(
    (row) =>
      profile.columns.map((column) => cellOf(column, row, setup)).join(profile.delimiter) + profile.lineEnd,
  )
}
