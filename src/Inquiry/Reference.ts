/** The possible meanings of an identifier that a person types. */
import { isDate } from "../Common/Time.ts"

export type Reference =
  | {
      readonly kind: "number"
      readonly code: string
      readonly period: string
      readonly number: number
      /** Whether it is a summary's number: that of its first entry, followed by an S. */
      readonly summary: boolean
    }
  /** The number as import files have it: `beginning` is a book's code, perhaps with a checksum. */
  | {
      readonly kind: "short"
      readonly beginning: string
      readonly period: string
      readonly number: number
      readonly summary: boolean
    }
  | { readonly kind: "finding"; readonly findingId: string }
  | { readonly kind: "quarantined"; readonly quarantineId: string }
  | { readonly kind: "batch"; readonly code: string; readonly batch: number }
  /** A camt.053 message: an account's first 16 digits, from `from` to `to`, and the batch that has it. */
  | { readonly kind: "message"; readonly from: string; readonly to: string; readonly batch: number }
  /** A camt.053 statement of an account's day, `YYYY-MM-DD`. */
  | { readonly kind: "statement"; readonly from: string; readonly to: string; readonly day: string }
  /** A UUID, or the beginning of one: everything from `from` to `to`. */
  | { readonly kind: "uuid"; readonly from: string; readonly to: string }

/** Numbers as files have them: a summary's ends in S, followed by its currency if the books have several. */
const journalNumber =
  /^([A-Z0-9][A-Z0-9_.-]*)-((?!0000)\d{4}-(?:0[1-9]|1[0-2]))-(\d{1,9})(S?)(?:-[A-Z]{3,8})?$/
const shortNumber = /^([A-Z0-9][A-Z0-9-]*)-(\d{2})(0[1-9]|1[0-2])-(\d{6,9})(S?)(?:-[A-Z]{3,8})?$/
const finding = /^(?:FINDING[ -]?|F)(\d{1,18})$/
const quarantined = /^(?:QUARANTINE[ -]?|Q)(\d{1,18})$/
const batch = /^([A-Z0-9][A-Z0-9_.-]*)\/([1-9]\d{0,8})$/
/** Statements of earlier versions end in the number of their batch, too. */
const message = /^([0-9A-F]{16})(?:-\d{8})?-([1-9]\d{0,8})$/
const statement = /^([0-9A-F]{16})-(\d{4})(\d{2})(\d{2})-[0-9A-F]{8}$/
const hex = /^[0-9a-f]{8,32}$/

const uuidOf = (digits: string, filler: string): string => {
  const all = digits.padEnd(32, filler)
  return [all.slice(0, 8), all.slice(8, 12), all.slice(12, 16), all.slice(16, 20), all.slice(20)].join("-")
}

/** All possible meanings: `F1234567` is a finding or the beginning of a UUID. Case does not matter. */
export const parseReferences = (text: string): ReadonlyArray<Reference> => {
  const trimmed = text.trim().toUpperCase()
  const references: Array<Reference> = []
  const [, findingId] = finding.exec(trimmed) ?? []
  if (findingId !== undefined) references.push({ kind: "finding", findingId })
  const [, quarantineId] = quarantined.exec(trimmed) ?? []
  if (quarantineId !== undefined) references.push({ kind: "quarantined", quarantineId })
  const digits = trimmed.toLowerCase().replaceAll("-", "")
  if (hex.test(digits)) {
    references.push({ kind: "uuid", from: uuidOf(digits, "0"), to: uuidOf(digits, "f") })
  }
  const [, code, period, number, ofSummary] = journalNumber.exec(trimmed) ?? []
  if (code !== undefined && period !== undefined && number !== undefined) {
    const summary = ofSummary === "S"
    references.push({ kind: "number", code, period, number: Number.parseInt(number, 10), summary })
  }
  const [, beginning, year, month, counter, ofShortSummary] = shortNumber.exec(trimmed) ?? []
  if (beginning !== undefined) {
    references.push({
      ...{ kind: "short", beginning, period: `20${year}-${month}`, number: Number(counter) },
      summary: ofShortSummary === "S",
    })
  }
  const [, batchCode, batchNumber] = batch.exec(trimmed) ?? []
  if (batchCode !== undefined) {
    references.push({ kind: "batch", code: batchCode, batch: Number(batchNumber) })
  }
  const rangeOf = (account: string) => ({
    from: uuidOf(account.toLowerCase(), "0"),
    to: uuidOf(account.toLowerCase(), "f"),
  })
  const [, messageAccount, messageBatch] = message.exec(trimmed) ?? []
  if (messageAccount !== undefined) {
    references.push({ kind: "message", ...rangeOf(messageAccount), batch: Number(messageBatch) })
  }
  const [, account, ...day] = statement.exec(trimmed) ?? []
  if (account !== undefined && isDate(day.join("-"))) {
    references.push({ kind: "statement", ...rangeOf(account), day: day.join("-") })
  }
  return references
}
