/** A list's pages as the rest of Tieout sees them: rows that were understood, and rows that were not. */
import { Either, Option } from "effect"
import type { Instant } from "../Instant.ts"
import type { PartnerError } from "../PartnerError.ts"
import type { Walks } from "./Walk.ts"

/** A row that could not be understood: its JSON, why, and where in it. */
export interface Malformed {
  readonly raw: string
  readonly reason: string
  /** JSON path within the row, e.g. `$.amount`. */
  readonly path: string
  /** The row's own identifier, where that much could be read. */
  readonly id: Option.Option<string>
}

export type Row<A> = Either.Either<A, Malformed>

export interface Page<A> {
  readonly rows: ReadonlyArray<Row<A>>
  readonly hasNextPage: boolean
  /** Cursor to continue after this page; may be absent. */
  readonly endCursor: Option.Option<string>
  /** The cursor that this page was asked with; none for the first page. */
  readonly askedWith: Option.Option<string>
  /** Epoch milliseconds, our clock, when the request was sent. */
  readonly requestedAt: number
  /** The service's clock when it answered (its `Date` header); none where it does not say. */
  readonly servedAt: Option.Option<Instant>
  /**
   * When it was asked, by the service's clock and by ours, whichever is behind: what it shows may be of that moment, however long
   * it took to say so. None where the service does not say when it answered.
   */
  readonly askedAt: Option.Option<Instant>
  /** Its answer is so large that it is committed by itself, not together with other pages. */
  readonly isLarge?: boolean
}

/** The rows of a page that were understood. */
export const understoodRows = <A>({ rows }: Page<A>): ReadonlyArray<A> =>
  rows.flatMap((row) => (Either.isRight(row) ? [row.right] : []))

/** Those that were not. */
export const malformedRows = <A>({ rows }: Page<A>): ReadonlyArray<Malformed> =>
  rows.flatMap((row) => (Either.isLeft(row) ? [row.left] : []))

/** The identifiers of all rows that have one, understood or not. */
export const identifiersOf = <A>({ rows }: Page<A>, idOf: (item: A) => string): ReadonlyArray<string> =>
  rows.flatMap((row) => (Either.isRight(row) ? [idOf(row.right)] : Option.toArray(row.left.id)))

/** What a list has shown: an item is missing from it only where each row says which item it is. */
export class Shown<A> {
  readonly ids = new Set<string>()
  private readonly idOf: (item: A) => string
  private hasNameless = false

  constructor(idOf: (item: A) => string) {
    this.idOf = idOf
  }

  take(page: Page<A>): void {
    const ids = identifiersOf(page, this.idOf)
    this.hasNameless ||= ids.length < page.rows.length
    for (const id of ids) this.ids.add(id)
  }

  /** None where a row says not even which item it is: it may be any that seems missing. */
  get all(): Option.Option<ReadonlySet<string>> {
    return this.hasNameless ? Option.none() : Option.some(this.ids)
  }
}

/**
 * Pages of a list from a cursor on (none: from the start), in sequence, one page ahead of the reader. `ahead` decides
 * whether to prefetch the page after this one; a reader that may stop at this page answers no, and wastes no request. Fails
 * with `CursorLoop` where a cursor repeats, cycles or is missing while more is promised, and with `CursorExpired` where the
 * service refuses the first cursor.
 */
export type Pages<A> = (
  from: Option.Option<string>,
  ahead?: (page: Page<A>) => boolean,
) => Walks<Page<A>, PartnerError>
