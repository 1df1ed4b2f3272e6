/**
 * Proves that a file holds exactly the rows of a snapshot: for each table the number of rows, and the sums of the first and of
 * the second 60 bits of the SHA-256 of every row's line. The database computes them from its rows, and the reader of the file
 * from its lines; the order of the rows does not matter.
 */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import { int4, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import type { RowDigest } from "./ArchiveHeader.ts"
import { lineOf, type TableShape } from "./Catalog.ts"

/** Hexadecimal digits of each half: 60 bits. */
const half = 15

/** Part of the caller's transaction. */
export const rowDigest = Effect.fn("Backup.rowDigest")(function* (shape: TableShape) {
  const database = yield* Database
  const { digest, rows } = yield* database.row(
    "Backup.rowDigest",
    { rows: int4, digest: text },
    (sql) => sql`
      select count(*)::integer as rows, coalesce(sum(('x' || substr(h.hash, 1, ${half}))::bit(60)::bigint), 0)::text
        || '-' || coalesce(sum(('x' || substr(h.hash, ${half + 1}, ${half}))::bit(60)::bigint), 0)::text as digest
      from (
        select encode(sha256(convert_to(l.line, 'UTF8')), 'hex') as hash
        from (select ${sql.unsafe(lineOf(shape))} as line from ${sql.unsafe(shape.name)}) l) h`,
  )
  return { table: shape.name, rows, digest } satisfies RowDigest
})

/** The same, from lines. */
export class LineSums {
  private rows = 0
  private first = 0n
  private second = 0n

  add(line: string): void {
    const hash = createHash("sha256").update(line).digest("hex")
    this.rows += 1
    this.first += BigInt(`0x${hash.slice(0, half)}`)
    this.second += BigInt(`0x${hash.slice(half, 2 * half)}`)
  }

  of(table: string): RowDigest {
    return { table, rows: this.rows, digest: `${this.first}-${this.second}` }
  }
}
