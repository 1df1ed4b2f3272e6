/** The rows of `journal.csv`, each checked by itself. The cells that all lines of an entry share are read once. */

import { guarded } from "../Common/Csv.ts"
import { parse } from "../Common/MinorUnits.ts"
import type { Manifest } from "../Export/Batch/Manifest.ts"
import { seriesOf } from "../Format/Entry.ts"
import type { ExpectedAccount } from "./AccountsProof.ts"
import { encoded } from "./ByteText.ts"
import type { CsvRow } from "./CsvRows.ts"

/** By the contract, independently of the writer. */
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

/** The fields that all lines of a journal entry share. */
export interface JournalHead {
  readonly number: string
  /** The number without its counter: the base-currency journal has two series per period. */
  readonly series: string
  /** The counter of the number. */
  readonly sequence: number
  readonly period: string
  /** `YYYY-MM-DD` */
  readonly date: string
  readonly sourceType: string
}

export interface JournalRow {
  /** The same object for all lines of an entry, as long as they agree in it. */
  readonly head: JournalHead
  readonly line: number
  readonly account: ExpectedAccount
  /** Smallest units, debit positive. */
  readonly minor: bigint
}

const quotedCell = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

const contentOf = ({ account }: ExpectedAccount): ReadonlyArray<string> => {
  const { code, currency, name, partnerAccountId, role } = account
  return [guarded(code), guarded(name), guarded(role), partnerAccountId ?? "", currency]
}

/** Finds a row's account in the manifest: by the raw cells, or by their content where they are quoted differently. */
class Accounts {
  private readonly written = new Map<string, ExpectedAccount>()
  private readonly read = new Map<string, ExpectedAccount>()

  constructor(accounts: ReadonlyArray<ExpectedAccount>) {
    for (const expected of accounts) {
      const cells = contentOf(expected)
      this.written.set(encoded(cells.map(quotedCell).join()), expected)
      this.read.set(cells.join("\n"), expected)
    }
  }

  of(row: CsvRow): ExpectedAccount | undefined {
    const known = this.written.get(row.raw(columns.code, columns.currency))
    if (known !== undefined) return known
    const cells = [columns.code, columns.name, columns.role, columns.partner, columns.currency]
    return this.read.get(cells.map((column) => row.cell(column)).join("\n"))
  }
}

const positive = /^(?:0|[1-9]\d*)(?:\.\d+)?$/

/** Exactly one of the two is filled, positive and at the currency's scale; otherwise a reason. */
const amountOf = (row: CsvRow, scale: number): bigint | string => {
  const isCredit = row.isEmpty(columns.debit)
  if (isCredit === row.isEmpty(columns.credit)) return "exactly one of debit and credit must be filled"
  const text = row.cell(isCredit ? columns.credit : columns.debit)
  const point = text.indexOf(".")
  const decimals = point < 0 ? 0 : text.length - point - 1
  if (!positive.test(text) || decimals !== scale) return `"${text}" is not an amount with ${scale} decimals`
  const minor = parse(text, scale)
  if (minor === 0n) return "the amount is zero"
  return isCredit ? -minor : minor
}

/** Reads the rows of one journal, in their order. */
export class JournalRows {
  private readonly manifest: Pick<Manifest, "base" | "book" | "scope">
  private readonly accounts: Accounts
  private head: JournalHead | undefined
  // Raw text of the last row: the number, and the cells before the account and after the amounts.
  private number = ""
  private before = ""
  private behind = ""

  constructor(manifest: Pick<Manifest, "base" | "book" | "scope">, accounts: ReadonlyArray<ExpectedAccount>) {
    this.manifest = manifest
    this.accounts = new Accounts(accounts)
  }

  private headOf(row: CsvRow): JournalHead | string {
    const { base, book, scope } = this.manifest
    const period = row.cell(columns.period)
    const number = row.cell(columns.number)
    const own = `${book.code}-${period}`
    const series = seriesOf(number)
    const digits = number.slice(series.length + 1)
    const isOwn = series === own || (base !== undefined && series === `${book.code}-FX-${period}`)
    if (!isOwn || !/^\d{6,}$/.test(digits)) return `"${number}" is not a journal number of ${own}-…`
    const code = row.cell(columns.book)
    if (code !== book.code) return `the book is "${code}", not ${book.code}`
    const date = row.cell(columns.date)
    if (!/^\d{4}-\d{2}-\d{2}$/.test(date) || date.slice(0, 7) !== period) {
      return `the effective date "${date}" is not in ${period}`
    }
    if ((scope.from !== null && date < scope.from) || (scope.to !== null && date > scope.to)) {
      return `the effective date ${date} is outside the scope ${scope.text}`
    }
    return { number, series, sequence: Number(digits), period, date, sourceType: row.cell(columns.source) }
  }

  /** A row that is valid by itself, or the reason why it is not. */
  read(row: CsvRow): JournalRow | string {
    const number = row.raw(columns.number, columns.number)
    const before = row.raw(columns.book, columns.code - 1)
    const behind = row.raw(columns.kind, journalColumns.length - 1)
    let head = this.head
    if (head === undefined || number !== this.number || before !== this.before || behind !== this.behind) {
      const found = this.headOf(row)
      if (typeof found === "string") return found
      head = found
      this.head = head
      this.number = number
      this.before = before
      this.behind = behind
    }
    const account = this.accounts.of(row)
    if (account === undefined) {
      const [code, name, role, currency] = [columns.code, columns.name, columns.role, columns.currency].map(
        (column) => row.cell(column),
      )
      return `the account ${code} ${name} (${role}, ${currency}) is not in the manifest`
    }
    const minor = amountOf(row, account.account.scale)
    if (typeof minor === "string") return minor
    return { head, line: Number(row.cell(columns.line)), account, minor }
  }
}
