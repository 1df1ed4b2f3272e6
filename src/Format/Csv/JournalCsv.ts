/**
 * The canonical journal, `journal.csv`: UTF-8, LF, RFC 4180, one row per posting, ordered by journal number and line.
 * Source: last section of `docs/design.md`. A row is joined from parts that csv-stringify makes once: an account's cells
 * once per account, an entry's once per entry.
 */
import { cellCache, textCell, textCells } from "../../Common/Csv.ts"
import { print } from "../../Common/MinorUnits.ts"
import type { Account, Entry, Line } from "../Entry.ts"
import { definePlain } from "../Format.ts"

const journalColumns = [
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

/** The debit and credit cells: exactly one is filled, with a positive amount. */
const amountCells = ({ account, minor }: Line): string =>
  minor > 0n ? `${print(minor, account.scale)},` : `,${print(-minor, account.scale)}`

/** The free texts of a chunk as cells, in the order in which `rowsOf` takes them. */
const freeCells = (entries: ReadonlyArray<Entry>): ReadonlyArray<string> => {
  const texts: Array<string> = []
  for (const entry of entries) {
    texts.push(entry.description)
    if (entry.externalReference !== null) texts.push(entry.externalReference)
    if (entry.counterparty !== null) texts.push(entry.counterparty)
  }
  return textCells(texts)
}

export const journal = definePlain({
  name: "journal",
  description: "canonical CSV, a row per posting, with the provider's statement beside it",
  file: "journal.csv",
  besideStatement: true,
  reading: { kind: "postings" },
  order: "number",
  open: ({ book }) => {
    const cell = cellCache()
    const bookCell = textCell(book.code)
    const accounts = new Map<Account, string>()
    let rows = 0

    const accountCells = (account: Account): string => {
      const known = accounts.get(account)
      if (known !== undefined) return known
      const { code, name, role, partnerAccountId, currency } = account
      const cells = [cell(code), cell(name), cell(role), partnerAccountId ?? "", cell(currency)].join(",")
      accounts.set(account, cells)
      return cells
    }

    const write = (entries: ReadonlyArray<Entry>): string => {
      const free = freeCells(entries)
      let next = 0
      let text = ""
      for (const entry of entries) {
        const head = `${bookCell},${entry.period},${entry.effectiveDate},${entry.occurredAt},${entry.recordedAt}`
        const description = free[next++]
        const reference = entry.externalReference === null ? "" : free[next++]
        const counterparty = entry.counterparty === null ? "" : free[next++]
        const tail =
          `${cell(entry.kind)},${description},${cell(entry.sourceType)},${entry.sourceId},` +
          `${cell(entry.resourceType)},${entry.resourceId ?? ""},${reference},${counterparty},` +
          `${entry.reverses ?? ""},${entry.lateFor ?? ""}\n`
        for (const line of entry.lines) {
          text += `${entry.number},${line.number},${head},${accountCells(line.account)},${amountCells(line)},${tail}`
        }
        rows += entry.lines.length
      }
      return text
    }

    return { begin: () => `${journalColumns.join(",")}\n`, write, end: () => "", rows: () => rows }
  },
})
