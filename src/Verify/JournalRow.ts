/** One row of `journal.csv`, checked by itself. */
import { guarded } from "../Common/Csv.ts"
import { parse } from "../Common/MinorUnits.ts"
import type { Manifest } from "../Export/Batch/Manifest.ts"
import { seriesOf } from "../Format/Entry.ts"
import type { ExpectedAccount } from "./AccountsProof.ts"

/** As the contract has them, not as the writer does. */
export const journalColumns = [
  "journal_number",
  "line_number",
  "book",
  "period",
  "effective_date",
  "occurred_at",
  "recorded_at",
  "account_code",
  "account_name",
  "account_role",
  "partner_account_id",
  "currency",
  "debit",
  "credit",
  "kind",
  "description",
  "source_type",
  "source_id",
  "resource_type",
  "resource_id",
  "external_reference",
  "counterparty",
  "reverses",
  "late_for",
] as const

const at = (column: (typeof journalColumns)[number]): number => journalColumns.indexOf(column)

const columns = {
  number: at("journal_number"),
  line: at("line_number"),
  book: at("book"),
  period: at("period"),
  date: at("effective_date"),
  code: at("account_code"),
  name: at("account_name"),
  role: at("account_role"),
  partner: at("partner_account_id"),
  currency: at("currency"),
  debit: at("debit"),
  credit: at("credit"),
  kind: at("kind"),
  source: at("source_type"),
}

export interface JournalRow {
  readonly number: string
  /** What comes before the count: the base-currency journal has two in a period. */
  readonly series: string
  /** The last part of the number. */
  readonly sequence: number
  readonly line: number
  readonly period: string
  /** `YYYY-MM-DD` */
  readonly date: string
  readonly sourceType: string
  /** Everything that all lines of an entry share. */
  readonly common: string
  readonly account: ExpectedAccount
  /** Smallest units, debit positive. */
  readonly minor: bigint
}

const keyOf = (code: string, name: string, role: string, partner: string, currency: string): string =>
  [code, name, role, partner, currency].join("\n")

/** Finds the manifest's account of a row. */
export type AccountIndex = ReadonlyMap<string, ExpectedAccount>

export const indexAccounts = (accounts: ReadonlyArray<ExpectedAccount>): AccountIndex =>
  new Map(
    accounts.map((expected) => {
      const { code, name, role, partnerAccountId, currency } = expected.account
      return [keyOf(guarded(code), guarded(name), guarded(role), partnerAccountId ?? "", currency), expected]
    }),
  )

const positive = /^(?:0|[1-9]\d*)(?:\.\d+)?$/

/** Exactly one of the two is filled, positive and at the currency's scale; otherwise a reason. */
const amountOf = (debit: string, credit: string, scale: number): bigint | string => {
  if ((debit === "") === (credit === "")) return "exactly one of debit and credit must be filled"
  const text = debit === "" ? credit : debit
  const decimals = text.includes(".") ? text.length - text.indexOf(".") - 1 : 0
  if (!positive.test(text) || decimals !== scale) return `"${text}" is not an amount with ${scale} decimals`
  const minor = parse(text, scale)
  if (minor === 0n) return "the amount is zero"
  return debit === "" ? -minor : minor
}

/** A row that makes sense by itself, or the reason why it does not. */
export const readRow = (
  cells: ReadonlyArray<string>,
  { base, book, scope }: Pick<Manifest, "base" | "book" | "scope">,
  accounts: AccountIndex,
): JournalRow | string => {
  const cell = (column: keyof typeof columns): string => cells[columns[column]] ?? ""
  const period = cell("period")
  const number = cell("number")
  const own = `${book.code}-${period}`
  const series = seriesOf(number)
  const digits = number.slice(series.length + 1)
  const isOwn = series === own || (base !== undefined && series === `${book.code}-FX-${period}`)
  if (!isOwn || !/^\d{6,}$/.test(digits)) return `"${number}" is not a journal number of ${own}-…`
  if (cell("book") !== book.code) return `the book is "${cell("book")}", not ${book.code}`
  const date = cell("date")
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date) || date.slice(0, 7) !== period) {
    return `the effective date "${date}" is not in ${period}`
  }
  if ((scope.from !== null && date < scope.from) || (scope.to !== null && date > scope.to)) {
    return `the effective date ${date} is outside the scope ${scope.text}`
  }
  const account = accounts.get(
    keyOf(cell("code"), cell("name"), cell("role"), cell("partner"), cell("currency")),
  )
  if (account === undefined) {
    return `the account ${cell("code")} ${cell("name")} (${cell("role")}, ${cell("currency")}) is not in the manifest`
  }
  const minor = amountOf(cell("debit"), cell("credit"), account.account.scale)
  if (typeof minor === "string") return minor
  const common = [...cells.slice(columns.book, columns.code), ...cells.slice(columns.kind)].join("\n")
  const shared = {
    number,
    series,
    sequence: Number(digits),
    period,
    date,
    sourceType: cell("source"),
    common,
  }
  return { ...shared, line: Number(cell("line")), account, minor }
}
