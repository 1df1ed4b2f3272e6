/** How a list is read on, how far it has been read, and where that begins. */
import { Option } from "effect"
import type { Instant } from "../../Partner/Instant.ts"
import type { Checkpoint } from "../Statements/Checkpoint.ts"
import type { Place } from "./LastPage.ts"
import type { Newest } from "./Newest.ts"

/** How a list is read on. */
export interface ListPlan {
  /** Rows of the list are in quarantine and may be readable now. */
  readonly waits: boolean
  /** Where a newest-first list may end before its end; its checkpoint stays until then, so that a reading that stops begins again. */
  readonly until: Option.Option<Newest>
  /** It was read before, so that most rows are known. */
  readonly rereads: boolean
  /** Whether this reading ends at the end of the list. */
  readonly last: boolean
  readonly begins: Begins
}

/** How far it has been read. */
export interface ListProgress {
  checkpoint: Checkpoint
  lastCreatedAt: Option.Option<string>
  /** The last page with items. */
  lastPage: Place
  /** The first item of the list, once it was read from its start. */
  newest: Option.Option<string>
  /** It is read from its first page on, so that its last page makes it whole. */
  readonly isFromStart: boolean
  /** The page, or one before it, has come to the item that the plan names. */
  isReached: boolean
  /** Nothing new can follow this page. */
  reachedKnown: boolean
  /** The page that was the last one does not begin as it did. */
  isElsewhere: boolean
}

/** When the first page that this run asked for was asked for (`Page.askedAt`), once there is one. */
export interface Begins {
  at: Option.Option<Instant> | undefined
}

export const isOldestFirst = ({ ordering }: Checkpoint): boolean => Option.contains(ordering, "oldest-first")

/** Where this run starts in a list: see the head of `Lists.ts`. */
export const startOf = (checkpoint: Checkpoint): Checkpoint => {
  if (!checkpoint.complete || isOldestFirst(checkpoint)) return checkpoint
  return { ...checkpoint, cursor: Option.none(), complete: false }
}

export const progressFrom = (start: Checkpoint): ListProgress => ({
  checkpoint: start,
  lastCreatedAt: Option.none(),
  lastPage: { cursor: Option.none(), leadsTo: Option.none() },
  newest: Option.isNone(start.cursor) ? Option.none() : start.leadsTo,
  isFromStart: Option.isNone(start.cursor),
  isReached: false,
  reachedKnown: false,
  isElsewhere: false,
})
