/**
 * Files beside the canonical journal must hold the same amounts: journal by journal, or day by day where they are summaries.
 */

import { join } from "node:path"
import { chunksOf } from "../Common/Files/RegularFile.ts"
import { Problems } from "../Common/Problems.ts"
import type { Manifest } from "../Export/Batch/Manifest.ts"
import { scale } from "../Format/Reading/Booked.ts"
import type { ExpectedAccount } from "./AccountsProof.ts"
import { bucketOf, Fingerprint } from "./Fingerprint.ts"
import { checkJournal } from "./JournalProof.ts"
import type { JournalRow } from "./JournalRow.ts"

/** An amount as a file or the journal has it, in 10⁻¹⁸ of the currency, debit positive. */
export interface Amount {
  /** The unit of comparison: a journal number, or a day. */
  readonly group: string
  readonly account: string
  readonly amount: bigint
}

/** The files of one format. */
export interface Side {
  readonly name: string
  /** The fingerprint of the files, once they have been read. */
  readonly own: Fingerprint
  /** Reads the files again, from the beginning. */
  readonly read: (visit: (amount: Amount, file: string, line: number) => void) => Promise<void>
  /** The amount that the files should hold for a line of the journal; undefined: none. */
  readonly expected: (row: JournalRow) => Omit<Amount, "amount"> | undefined
}

/** The most differing buckets that are explained. */
const explainedBuckets = 8

const unitsOf = ({ account, minor }: JournalRow): bigint =>
  minor * 10n ** BigInt(scale - account.account.scale)

const keyOf = ({ account, group }: Omit<Amount, "amount">): string => `${group}\n${account}`

interface Held {
  readonly file: string
  readonly line: number | null
  readonly group: string
  readonly account: string
  amount: bigint
}

const put = (held: Map<string, Held>, amount: Amount, file: string, line: number | null, sign: bigint) => {
  const known = held.get(keyOf(amount))
  if (known === undefined) held.set(keyOf(amount), { file, line, ...amount, amount: sign * amount.amount })
  else known.amount += sign * amount.amount
}

const shown = (amount: bigint): string => {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(scale + 1, "0")
  const text = `${digits.slice(0, -scale)}.${digits.slice(-scale)}`.replace(/\.?0+$/, "")
  return amount < 0n ? `-${text}` : text
}

/** Reads both sides again and reports where they differ. */
const explain = async (
  journalFile: string,
  side: Side,
  differing: ReadonlySet<number>,
  journal: (visit: (row: JournalRow) => void) => Promise<void>,
  problems: Problems,
): Promise<void> => {
  const buckets = new Set([...differing].slice(0, explainedBuckets))
  const held = new Map<string, Held>()
  await side.read((amount, file, line) => {
    if (buckets.has(bucketOf(amount.group))) put(held, amount, file, line, 1n)
  })
  await journal((row) => {
    const expected = side.expected(row)
    if (expected === undefined || !buckets.has(bucketOf(expected.group))) return
    put(held, { ...expected, amount: unitsOf(row) }, journalFile, null, -1n)
  })
  for (const { account, amount, file, group, line } of held.values()) {
    if (amount === 0n) continue
    const by = `by ${shown(amount)} in ${account.replaceAll("\n", " ")}`
    if (line === null) problems.add(side.name, null, `lacks what ${journalFile} has of ${group}, ${by}`)
    else problems.add(file, line, `${group} differs from ${journalFile} ${by}`)
  }
}

/** The bytes that a manifest states of a file: no more of it is read again. */
export const statedBytes = ({ files }: Manifest, file: string): number =>
  files.find(({ name }) => name === file)?.bytes ?? 0

/** Compares files with the journal: collects what they should hold while the journal is read. */
export class Comparison {
  private readonly prints: ReadonlyArray<{ readonly side: Side; readonly journal: Fingerprint }>

  constructor(sides: ReadonlyArray<Side>) {
    this.prints = sides.map((side) => ({ side, journal: new Fingerprint() }))
  }

  add(row: JournalRow): void {
    if (this.prints.length === 0) return
    const units = unitsOf(row)
    for (const { journal, side } of this.prints) {
      const expected = side.expected(row)
      if (expected !== undefined) journal.add(expected.group, expected.account, units)
    }
  }

  /** After all files were read: reports where the sides among `names` differ from the journal. */
  async finish(
    folder: string,
    journalFile: string,
    manifest: Manifest,
    accounts: ReadonlyArray<ExpectedAccount>,
    names: ReadonlySet<string>,
    problems: Problems,
  ): Promise<void> {
    // Problems of the journal itself were reported when it was read.
    const again = (visit: (row: JournalRow) => void) =>
      checkJournal(
        chunksOf(join(folder, journalFile), statedBytes(manifest, journalFile)),
        { name: journalFile, rows: 0 },
        manifest,
        accounts,
        new Problems(),
        visit,
      )
    for (const { journal, side } of this.prints) {
      const differing = side.own.differences(journal)
      if (names.has(side.name) && differing.size > 0) {
        await explain(journalFile, side, differing, again, problems)
      }
    }
  }
}
