/** How far the reading of one account's statement has come, and where the next run is to begin. */
import { Option } from "effect"
import type { Instant, StatementEntry } from "../../Partner.ts"
import { nowIso } from "../../Run.ts"
import type { Group } from "../Resources/Grouped.ts"
import type { ChainState, Walked } from "./Chain.ts"

export interface Reading {
  chain: ChainState
  /** Where it begins. */
  from: Option.Option<string>
  /** Where the next run begins, as it is stored. */
  stored: Option.Option<string>
  /** What the last page with rows was asked with; undefined where there was none. */
  lastFilled: Option.Option<string> | undefined
  heldNext: bigint
  newEntries: number
  held: number
  tailReadAt: Option.Option<string>
  beganAt: Option.Option<Instant> | undefined
}

/** Where the next run is to begin: behind the page, or at the last one with rows where nothing follows. */
const goesOnAt = ({ lastFilled, stored }: Reading, page: Group<StatementEntry>): Option.Option<string> =>
  page.hasNextPage
    ? Option.orElse(page.endCursor, () => stored)
    : (page.lastFilled?.askedWith ?? lastFilled ?? stored)

const sameCursor = Option.getEquivalence<string>((one, other) => one === other)

/** The same where it is not stored yet, null where it is, and behind a break. */
export const movesTo = (reading: Reading, { state }: Walked, page: Group<StatementEntry>) => {
  const cursor = goesOnAt(reading, page)
  return state.broken || sameCursor(cursor, reading.stored) ? null : cursor
}

/** Advances the position of the reading; only after the page is committed. */
export const note = (reading: Reading, walked: Walked, page: Group<StatementEntry>): void => {
  reading.chain = walked.state
  reading.newEntries += walked.good.length
  reading.held += walked.behind.length
  reading.heldNext += BigInt(walked.behind.length)
  if (!walked.state.broken) reading.stored = goesOnAt(reading, page)
  reading.lastFilled = page.lastFilled?.askedWith ?? reading.lastFilled
  if (!page.hasNextPage) reading.tailReadAt = Option.some(nowIso(page.requestedAt))
}
