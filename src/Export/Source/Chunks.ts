/**
 * What an export reads, some hundred rows or entries at a time: of a large book as they come from the server, of small books all
 * that is held in memory. Of what is held no stream is made: for a book of twenty entries that took as long as to write its files.
 */
import { Effect, Stream } from "effect"
import type { DatabaseError } from "../../Database/DatabaseError.ts"
import type { Database } from "../../Database.ts"
import type { ExportError } from "../ExportError.ts"

export interface Chunks<A> {
  /** From the first on, one after the other. */
  readonly forEach: <E, R>(
    use: (chunk: A) => Effect.Effect<void, E, R>,
  ) => Effect.Effect<void, E | DatabaseError | ExportError, R | Database>
}

export const heldChunks = <A>(chunks: ReadonlyArray<A>): Chunks<A> => ({
  forEach: (use) => Effect.forEach(chunks, use, { discard: true }),
})

export const streamedChunks = <A>(
  chunks: Stream.Stream<A, DatabaseError | ExportError, Database>,
): Chunks<A> => ({
  forEach: (use) => Stream.runForEach(chunks, use),
})
