/** One pass over the entries of an export, in which all its files are written, and the totals that they must reach. */
import { Effect } from "effect"
import { inStage } from "../../Common/Progress.ts"
import { count } from "../../Common/Text.ts"
import type { Entry, OpenedAccount } from "../../Format/Entry.ts"
import type { SingleFile } from "../../Format/Format.ts"
import { RunningTotals } from "../../Format/Totals.ts"
import { exportError } from "../ExportError.ts"
import type { Sums } from "../Source/Balances.ts"
import type { EntryChunk } from "../Source/Entries.ts"
import type { Source } from "../Source.ts"
import { filesAtOnce } from "./Folder.ts"
import type { FileRecord } from "./Manifest.ts"
import type { Output } from "./Outputs.ts"

const hasLines = ({ lines }: Entry): boolean => lines.length > 0

export type Order = SingleFile["order"]
export type Files = ReadonlyArray<FileRecord>

/** An entry out of order is a defect and not a state of the books; an importer would refuse the file. */
const assertDates = (entries: ReadonlyArray<Entry>, since: string): string =>
  entries.reduce((last, { effectiveDate, number }) => {
    if (effectiveDate < last)
      throw new Error(`${number} of ${effectiveDate} stands after an entry of ${last}`)
    return effectiveDate
  }, since)

/** Reads the entries once, hands each chunk to every output, and finishes the files. */
export const writePass = Effect.fn("Export.writePass")(function* (
  source: Source,
  order: Order | "both",
  outputs: ReadonlyArray<Output>,
  withPayments: boolean,
) {
  const totals = new RunningTotals()
  let lastDate = ""
  let through = 0n
  let omitted = 0
  let begun = false
  let read = 0
  const begin = (firstDate: string | undefined) => {
    begun = true
    return Effect.forEach(outputs, (output) => output.begin(firstDate), { discard: true })
  }
  const by = order === "date" ? "date" : "number"
  const writeChunk = Effect.fnUntraced(function* ({ entries, numbering }: EntryChunk) {
    if (!begun) yield* begin(entries[0]?.effectiveDate)
    const worth = entries.every(hasLines) ? entries : entries.filter(hasLines)
    read += entries.length
    omitted += entries.length - worth.length
    for (const entry of worth) totals.add(entry)
    if (order !== "number") lastDate = assertDates(worth, lastDate)
    if (numbering > through) through = numbering
    for (const output of outputs) yield* output.write(output.takesAll ? entries : worth)
  })
  yield* source
    .entries(by, withPayments)
    .forEach(writeChunk)
    .pipe(inStage("journal entries", () => count(read)))
  if (!begun) yield* begin(undefined)
  // Side by side, since each mostly waits for the disk.
  const files = yield* Effect.forEach(
    outputs,
    (output) => Effect.map(output.end(totals), (own): readonly [Output, Files] => [output, own]),
    { concurrency: filesAtOnce },
  )
  return { totals, through, omitted, files: new Map(files) }
})

/** The lines that were written must lead from the ledger's opening to its closing balances. */
export const checkTotals = (accounts: ReadonlyArray<OpenedAccount>, closing: Sums, totals: RunningTotals) => {
  const wrong = accounts.find(({ account, opening }) => {
    const { debit, credit } = totals.of(account)
    return opening + debit - credit !== (closing.get(account) ?? 0n)
  })
  const uneven = totals.currencies().find(({ debit, credit }) => debit !== credit)
  if (wrong === undefined && uneven === undefined) return Effect.void
  const what =
    wrong === undefined
      ? `the debits and credits of ${uneven?.currency}`
      : `the postings of account ${wrong.account.code} (${wrong.account.name}, ${wrong.account.currency}) and its balances`
  return exportError(
    "Disagrees",
    `In the ledger, ${what} do not agree: run \`tieout reconcile --full\`. Nothing was written.`,
  )
}
