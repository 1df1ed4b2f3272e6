/**
 * The evidence of a finding for the status page: figures, currencies, identifiers of the interface, times. It shows only the
 * fields listed here, so that a new field (such as a raw row with names in it) is not shown by accident.
 */
import { isRecord } from "../Common/Record.ts"
import { firstNames } from "../Common/Text.ts"

/** A field and its value; the fields of a nested value follow, one level deeper. */
export interface EvidenceLine {
  readonly depth: number
  readonly name: string
  readonly value: string
}

export interface Evidence {
  readonly lines: ReadonlyArray<EvidenceLine>
  /** The number of fields not shown; `tieout explain` shows them. */
  readonly withheld: number
}

const shown: ReadonlySet<string> = new Set(
  `accountId amount balance balanceAfter balanceReadAt before bodies book bought buyAccountId buyAmount
  buyCredits buyCurrency buyDebits buyFee clearing code count creditAccounts credit credits currencies
  currency debit debits difference digest entries entryId eventId events expected expectedFee fee
  feeCurrency firstMissedAt firstSeenAt found givenUpAt held journalNumber kept kind lastEntryId ledger ledgerCredit
  ledgerDebit ledgerEntries missing occurredAt path paymentRails period position posted postedCredit
  postedDebit principal rate readAt reason receivables receivedAt relatedId relatedResourceId
  relatedResourceType relatedType repayment role roles rows run scope service sold statedFee statedPrincipal
  statedRepayment statement statementReadAt status suspense tolerance tries type unit`.split(/\s+/),
)

const mostLines = 40
const mostDepth = 3
const longestValue = 200

const isPlain = (value: unknown): value is string | number | boolean =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean"

/** What is left out is shown to be: a part of an identifier would be taken for one. */
const cut = (value: string): string => {
  const characters = [...value]
  return characters.length <= longestValue ? value : `${characters.slice(0, longestValue - 1).join("")}…`
}

/** As many of the items as there is room for, and one at least. */
const listText = (items: ReadonlyArray<string | number | boolean>): string => {
  const texts = items.map((item) => cut(String(item)))
  let length = 0
  const beyond = texts.findIndex((text, index) => {
    length += text.length + (index === 0 ? 0 : 2)
    return index > 0 && length > longestValue
  })
  return firstNames(texts, beyond === -1 ? texts.length : beyond)
}

export const evidenceOf = (value: unknown): Evidence => {
  const lines: Array<EvidenceLine> = []
  let withheld = 0
  const add = (name: string, found: unknown, depth: number): void => {
    if (found === null || found === undefined) return
    if (lines.length >= mostLines || depth > mostDepth) {
      withheld += 1
    } else if (isPlain(found)) {
      lines.push({ depth, name, value: cut(String(found)) })
    } else if (Array.isArray(found) && found.every(isPlain)) {
      lines.push({ depth, name, value: listText(found) })
    } else if (Array.isArray(found)) {
      found.forEach((item: unknown, index) => {
        add(`${name} ${index + 1}`, item, depth)
      })
    } else if (isRecord(found)) {
      lines.push({ depth, name, value: "" })
      addFields(found, depth + 1)
    }
  }
  const addFields = (fields: Record<string, unknown>, depth: number): void => {
    for (const [name, found] of Object.entries(fields)) {
      if (shown.has(name)) add(name, found, depth)
      else withheld += 1
    }
  }
  if (isRecord(value)) addFields(value, 0)
  return { lines, withheld }
}
