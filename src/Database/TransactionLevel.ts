import { Effect } from "effect"
import type { Connection } from "./ConnectionPool.ts"

/** What all levels of one transaction share. */
export interface TransactionState {
  /** A serialization failure or deadlock occurred: the whole transaction may be retried. */
  conflict: boolean
  savepoints: number
}

/** One level of an open transaction: the outermost, or a savepoint. */
export interface TransactionLevel {
  readonly connection: Connection
  readonly state: TransactionState
  /** A statement holds one permit, a nested savepoint holds all: its siblings must not run inside it. */
  readonly gate: Effect.Semaphore
  ended: boolean
}

/** All permits of a level's gate. */
export const everyPermit = 1_000_000

export const makeLevel = (connection: Connection, state: TransactionState): TransactionLevel => ({
  connection,
  state,
  gate: Effect.unsafeMakeSemaphore(everyPermit),
  ended: false,
})

/** Dies where a use would write outside the transaction: that is a bug. */
export const usable = (level: TransactionLevel): Effect.Effect<void> =>
  level.ended
    ? Effect.dieMessage("A transaction was used after its end, by a fiber that outlived it")
    : Effect.void
