import type { Option } from "effect"

/** A row in quarantine without its content, which is personal data and has a query of its own. */
export interface QuarantinedRow {
  readonly quarantineId: bigint
  readonly connection: string
  readonly bookId: number
  /** The book's code. */
  readonly book: string
  /** `deposits`, `statement:<accountId>`, `destination`, … */
  readonly stream: string
  readonly itemId: string | null
  readonly reason: string
  /** JSON path within the row. */
  readonly path: string
  /** ISO 8601, our clock, as are the other two. */
  readonly firstSeenAt: string
  readonly lastSeenAt: string
  /** Null while it waits. */
  readonly resolvedAt: string | null
  /** The month of the close that accepted for good what waits of the stream, `2026-10`; null: it waits for a person, or is settled. */
  readonly acceptedAt: string | null
  /** The run that saw it last. */
  readonly runId: number
}

/** Which rows: all of one connection or of all, with the settled ones if asked for; or rows by number. */
export interface WhichRows {
  readonly connection?: Option.Option<string>
  readonly settled?: boolean
  readonly ids?: ReadonlyArray<bigint>
}

/** What people call a row: `Q12`. */
export const quarantineNumber = ({ quarantineId }: Pick<QuarantinedRow, "quarantineId">): string =>
  `Q${quarantineId}`
