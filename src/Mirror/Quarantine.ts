/** Rows that could not be understood, kept raw with the reason until a later read of them can be. */
import { createHash } from "node:crypto"
import { Effect, Option } from "effect"
import type { Book } from "../Book.ts"
import { textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import type { Malformed } from "../Partner.ts"

/** Postgres text cannot hold NUL; JSON text never needs it. */
const storable = (text: string): string => text.replaceAll("\u0000", "\\u0000").toWellFormed()

export class Quarantine extends Effect.Service<Quarantine>()("tieout/Mirror/Quarantine", {
  effect: Effect.gen(function* () {
    const database = yield* Database

    /** Part of the caller's transaction. The same row read again stays one row. */
    const put = Effect.fn("Mirror.Quarantine.put")(function* (
      book: Book,
      runId: number,
      stream: string,
      rows: ReadonlyArray<Malformed>,
    ) {
      for (const row of rows) {
        const raw = storable(row.raw)
        const digest = createHash("sha256").update(raw).digest("hex")
        yield* database.query(
          "Mirror.Quarantine.put",
          (sql) => sql`
            insert into mirror.quarantine as q (book_id, stream, item_id, raw, reason, path, digest, run_id)
            values (${book.bookId}, ${stream}, ${Option.getOrNull(row.id)}, ${raw}, ${storable(row.reason)},
              ${storable(row.path)}, ${digest}, ${runId})
            on conflict (book_id, stream, digest) do update set
              last_seen_at = now(), resolved_at = null, reason = excluded.reason, path = excluded.path,
              run_id = excluded.run_id`,
        )
      }
    })

    /** Part of the caller's transaction: these items of the stream could be read after all. */
    const resolveItems = Effect.fn("Mirror.Quarantine.resolveItems")(function* (
      book: Book,
      stream: string,
      ids: ReadonlyArray<string>,
    ) {
      if (ids.length === 0) return
      yield* database.query(
        "Mirror.Quarantine.resolveItems",
        (sql) => sql`
          update mirror.quarantine set resolved_at = now()
          where book_id = ${book.bookId} and stream = ${stream} and resolved_at is null
            and item_id = any (${textArray(sql, ids)})`,
      )
    })

    /** The stream was read to its end without a gap by this run: what an earlier run could not read is there now. */
    const resolveStream = Effect.fn("Mirror.Quarantine.resolveStream")(function* (
      book: Book,
      stream: string,
      runId: number,
    ) {
      yield* database.query(
        "Mirror.Quarantine.resolveStream",
        (sql) => sql`
          update mirror.quarantine set resolved_at = now()
          where book_id = ${book.bookId} and stream = ${stream} and resolved_at is null and run_id < ${runId}`,
      )
    })

    /** Streams with open rows, and the identifiers in them that can be asked for. */
    const open = Effect.fn("Mirror.Quarantine.open")(function* (book: Book) {
      return yield* database.query(
        "Mirror.Quarantine.open",
        (sql) => sql<Array<{ stream: string; item_id: string | null }>>`
          select stream, item_id from mirror.quarantine where book_id = ${book.bookId} and resolved_at is null`,
      )
    })

    return { put, resolveItems, resolveStream, open }
  }),
}) {}
