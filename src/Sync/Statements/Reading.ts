/** How far the reading of one account's statement has come, and where the next run is to begin. */
import { Option } from "effect"
import { isoOf } from "../../Common/Time.ts"
import type { MirroredAccount } from "../../Mirror/MirroredAccounts.ts"
import type { KnownEntry } from "../../Mirror/StatementEntries.ts"
import type { Instant } from "../../Partner/Instant.ts"
import type { Row } from "../../Partner/Lists/Page.ts"
import type { StatementEntry } from "../../Partner.ts"
import type { Group } from "../Resources/Grouped.ts"
import { lastPageOf, type Place } from "../Resources/LastPage.ts"
import type { ChainState, Walked } from "./Chain.ts"
import type { Checkpoint } from "./Checkpoint.ts"

export interface Reading {
  chain: ChainState
  /** Where it begins. */
  from: Option.Option<string>
  /** It has to lead to an entry that is booked, or it has passed over some: balances may continue in spite of that. */
  meets: boolean
  /** Where the next run begins, as it is stored. */
  stored: Place
  /** The last page with rows; undefined where there was none. */
  lastFilled: Place | undefined
  heldNext: bigint
  newEntries: number
  held: number
  tailReadAt: Option.Option<string>
  /** The place of the last entry that was booked when it began; 0 where there was none. */
  readonly booked: bigint
  /** It has come to that entry: without it, nothing shows that its end is that of the whole statement. */
  meetsBooked: boolean
  beganAt: Option.Option<Instant> | undefined
}

/** The account's head and the checkpoint are those of the database. */
export const readingFrom = (account: MirroredAccount, checkpoint: Checkpoint): Reading => ({
  chain: { position: account.entries, balance: account.lastBalance, broken: false },
  from: checkpoint.cursor,
  // An earlier version's leads behind the last page, which is looked for; behind a break that would be every night.
  meets: Option.isSome(checkpoint.leadsTo) || account.held === 0n,
  stored: { cursor: checkpoint.cursor, leadsTo: checkpoint.leadsTo },
  lastFilled: undefined,
  heldNext: account.held,
  newEntries: 0,
  held: 0,
  tailReadAt: Option.none(),
  booked: account.entries,
  meetsBooked: account.entries === 0n,
  beganAt: undefined,
})

const lastFilledOf = (page: Group<StatementEntry>): Place | undefined =>
  lastPageOf(page, ({ entryId }) => entryId)

/** Where the next run is to begin: at the last page that had rows, also where others follow and this run does not come to them. */
const goesOnAt = ({ lastFilled, stored }: Reading, page: Group<StatementEntry>): Place =>
  lastFilledOf(page) ?? lastFilled ?? stored

const sameText = Option.getEquivalence<string>((one, other) => one === other)

const samePlace = (one: Place, other: Place): boolean =>
  sameText(one.cursor, other.cursor) && sameText(one.leadsTo, other.leadsTo)

/** The same where it is not stored yet, null where it is, and behind a break. */
export const movesTo = (reading: Reading, { state }: Walked, page: Group<StatementEntry>): Place | null => {
  const place = goesOnAt(reading, page)
  return state.broken || samePlace(place, reading.stored) ? null : place
}

/** Whether the first page that a cursor leads to is behind entries that were never read. */
export const passesOver = (
  { chain, from, meets }: Reading,
  { askedWith }: Group<StatementEntry>,
  rows: ReadonlyArray<Row<StatementEntry>>,
  known: ReadonlyMap<string, KnownEntry>,
): boolean =>
  meets &&
  chain.position > 0n &&
  Option.isSome(from) &&
  Option.contains(askedWith, from.value) &&
  rows.length > 0 &&
  ![...known.values()].some(({ held }) => !held)

/** Advances the position of the reading; only after the page is committed. */
export const note = (
  reading: Reading,
  walked: Walked,
  page: Group<StatementEntry>,
  known: ReadonlyMap<string, KnownEntry>,
): void => {
  reading.chain = walked.state
  reading.newEntries += walked.good.length
  reading.held += walked.behind.length
  reading.heldNext += BigInt(walked.behind.length)
  if (!walked.state.broken) reading.stored = goesOnAt(reading, page)
  reading.lastFilled = lastFilledOf(page) ?? reading.lastFilled
  reading.meetsBooked ||= [...known.values()].some(
    ({ held, position }) => !held && position >= reading.booked,
  )
  if (!page.hasNextPage && reading.meetsBooked) reading.tailReadAt = Option.some(isoOf(page.requestedAt))
}
