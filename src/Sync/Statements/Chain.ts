/**
 * The running balance of a statement, entry by entry. Every new entry must continue the balance of the one before it;
 * behind a gap (a break, or a row that could not be read) nothing is booked until it heals. A row of an entry that is posted
 * already leaves no gap.
 */
import { Either, Option } from "effect"
import type { Amount } from "../../Common/Money.ts"
import * as Money from "../../Common/Money.ts"
import { isEnriched, sameContent } from "../../Mirror/EntryContent.ts"
import { signedAmount } from "../../Mirror/EntryRow.ts"
import type { KnownEntry, PlacedEntry } from "../../Mirror/StatementEntries.ts"
import type { Malformed, Row } from "../../Partner/Lists/Page.ts"
import { type StatementEntry, zeroThatMoves } from "../../Partner.ts"

export interface ChainState {
  /** Position of the last entry that is good. */
  readonly position: bigint
  /** The balance after it; none before the first entry. */
  readonly balance: Option.Option<Amount>
  /** Behind a gap. */
  readonly broken: boolean
}

export interface Walked {
  readonly state: ChainState
  /** New entries that continue the balance. */
  readonly good: ReadonlyArray<PlacedEntry>
  /** New entries behind a gap, in posting order. */
  readonly behind: ReadonlyArray<StatementEntry>
  /** Posted entries that now name the resource that they did not name before. */
  readonly enriched: ReadonlyArray<PlacedEntry>
  /** Entries that are posted already and now read differently. */
  readonly contradictions: ReadonlyArray<StatementEntry>
  readonly malformed: ReadonlyArray<Malformed>
  /** A balance did not continue: reading once more may heal that. */
  readonly breaks: boolean
}

/** Whether an entry continues a balance; the first entry only has to be consistent in itself. */
export const continues = (balance: Option.Option<Amount>, entry: StatementEntry): boolean => {
  const before = Option.getOrElse(balance, () => Money.subtract(entry.balanceAfter, signedAmount(entry)))
  return (
    Money.equals(Money.add(before, signedAmount(entry)), entry.balanceAfter) &&
    Option.match(entry.balanceBefore, {
      onNone: () => true,
      onSome: (stated) => Money.equals(stated, before),
    })
  )
}

/** An entry of zero after which the balance is another one, without stating a balance before it: the row is wrong. */
export const misstated = (balance: Option.Option<Amount>, entry: StatementEntry): Option.Option<Malformed> =>
  entry.source !== undefined && !continues(balance, entry)
    ? Option.some({
        raw: entry.source,
        reason: zeroThatMoves,
        path: "$.amount",
        id: Option.some(entry.entryId),
      })
    : Option.none()

/** Whether the rows make a chain when they are read from the last to the first: the newest entry comes first. */
export const runsBackwards = (rows: ReadonlyArray<Row<StatementEntry>>): boolean => {
  const entries = rows.flatMap((row) => (Either.isRight(row) ? [row.right] : [])).reverse()
  return (
    entries.length > 2 &&
    entries.every((entry, at) => {
      const before = entries[at - 1]
      return before === undefined || continues(Option.some(before.balanceAfter), entry)
    })
  )
}

/** `known`: the mirrored entries that the rows name, those that could not be understood as well. */
export const walk = (
  start: ChainState,
  rows: ReadonlyArray<Row<StatementEntry>>,
  known: ReadonlyMap<string, KnownEntry>,
): Walked => {
  let { position, balance, broken } = start
  let breaks = false
  const good: Array<PlacedEntry> = []
  const behind: Array<StatementEntry> = []
  const enriched: Array<PlacedEntry> = []
  const contradictions: Array<StatementEntry> = []
  const malformed: Array<Malformed> = []
  const seen = new Map<string, StatementEntry>()
  for (const row of rows) {
    if (Either.isLeft(row)) {
      malformed.push(row.left)
      const mirrored = known.get(Option.getOrElse(row.left.id, () => ""))
      if (mirrored === undefined || mirrored.held) broken = true
      continue
    }
    const entry = row.right
    const mirrored = known.get(entry.entryId)
    const earlier = mirrored !== undefined && !mirrored.held ? mirrored.entry : seen.get(entry.entryId)
    if (earlier !== undefined) {
      // An entry that is read again changes nothing and must have the same content.
      if (mirrored !== undefined && !mirrored.held && isEnriched(earlier, entry)) {
        enriched.push({ entry, position: mirrored.position })
      } else if (!sameContent(earlier, entry)) contradictions.push(entry)
      continue
    }
    seen.set(entry.entryId, entry)
    const wrong = broken ? Option.none() : misstated(balance, entry)
    if (Option.isSome(wrong)) {
      malformed.push(wrong.value)
      broken = true
      breaks = true
      continue
    }
    if (!broken && !continues(balance, entry)) {
      broken = true
      breaks = true
    }
    if (broken) {
      if (mirrored === undefined) behind.push(entry)
      continue
    }
    position += 1n
    balance = Option.some(entry.balanceAfter)
    good.push({ entry, position })
  }
  return { state: { position, balance, broken }, good, behind, enriched, contradictions, malformed, breaks }
}
