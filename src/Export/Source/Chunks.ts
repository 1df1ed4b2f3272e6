/**
 * What an export reads, some hundred rows or entries at a time: of a large book as they come from the server, of small books all
 * that is held in memory. Of what is held no stream is made: for a book of twenty entries that took as long as to write its files.
 */
import { Effect, Stream } from "effect"
import type { DatabaseError } from "../../Database/DatabaseError.ts"
import type { Database } from "../../Database.ts"
import type { ExportError } from "../ExportError.ts"

export interface Chunks<A, E = DatabaseError | ExportError, R = Database> {
  /** From the first on, one after the other. */
  readonly forEach: <E2, R2>(
    use: (chunk: A) => Effect.Effect<void, E2, R2>,
  ) => Effect.Effect<void, E | E2, R | R2>
}

export const heldChunks = <A>(chunks: ReadonlyArray<A>): Chunks<A, never, never> => ({
  forEach: (use) => Effect.forEach(chunks, use, { discard: true }),
})

export const streamedChunks = <A, E, R>(chunks: Stream.Stream<A, E, R>): Chunks<A, E, R> => ({
  forEach: (use) => Stream.runForEach(chunks, use),
})
