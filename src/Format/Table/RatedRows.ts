/** How a file with rates differs from the base-currency journal, account by account of the system. */
import { print } from "../../Common/MinorUnits.ts"
import { accompanyingFiles } from "../AccompanyingFiles.ts"
import type { TableJournal } from "./Journals.ts"
import type { Row } from "./Profile.ts"
import { baseScale } from "./RatedJournals.ts"
import type { Mapping } from "./TableRows.ts"

/** The journal's amount less the file's, in smallest units, debit positive. */
interface Difference {
  minor: bigint
  base: bigint
}

export const rateDifferenceColumns = [
  "journal_number",
  "account",
  "currency",
  "amount",
  "base_amount",
  "reason",
] as const

export const rateDifferencesFile = (format: string): string =>
  accompanyingFiles.rateDifferences.file.replace("{format}", format)

const cell = (text: string): string => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** A line per account; `reason` is `omitted` where the file has nothing of it, because only the base currency has it. */
export const differencesOf = (
  journal: TableJournal,
  rows: ReadonlyArray<Row>,
  mapping: Mapping,
): ReadonlyArray<string> => {
  const found = new Map<string, Difference>()
  const add = (account: string, minor: bigint, base: bigint) => {
    const sum = found.get(account) ?? { minor: 0n, base: 0n }
    found.set(account, { minor: sum.minor + minor, base: sum.base + base })
  }
  const left = journal.left ?? []
  for (const { account, base = 0n } of left) add(mapping.get(account)?.account ?? "", 0n, base)
  for (const { account, base = 0n, minor } of journal.lines) {
    add(mapping.get(account)?.account ?? "", minor, base)
  }
  for (const { base, contra, mapped, minor } of rows) {
    add(mapped.account, -minor, -base)
    if (contra !== undefined) add(contra.account, minor, base)
  }
  return [...found]
    .filter(([, { base, minor }]) => base !== 0n || minor !== 0n)
    .map(([account, { base, minor }]) =>
      [
        journal.number,
        cell(account),
        journal.currency,
        print(minor, journal.scale),
        print(base, baseScale),
        left.length > 0 ? "omitted" : "difference",
      ].join(","),
    )
}
