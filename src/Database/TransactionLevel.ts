import { Effect } from "effect"
import type { Connection } from "./Connections.ts"

/** What all levels of one transaction share. */
export interface TransactionState {
  /** A serialization failure or deadlock was met: the whole may be tried again. */
  conflict: boolean
  savepoints: number
  /** A cursor is open: the connection can do nothing else. */
  streaming: boolean
}

/** One level of an open transaction: the outermost, or a savepoint. */
export interface TransactionLevel {
  readonly connection: Connection
  readonly state: TransactionState
  /** Statements hold one permit, a savepoint within holds them all: siblings must not run inside it. */
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

/** Dies on misuse: what would hang, or write outside the transaction, is a bug. */
export const usable = (level: TransactionLevel): Effect.Effect<void> =>
  level.ended
    ? Effect.dieMessage("A transaction was used after its end, by a fiber that outlived it")
    : level.state.streaming
      ? Effect.dieMessage(
          "A transaction was used while one of its streams was being read: collect the stream first",
        )
      : Effect.void
