/** Follows one reading of a list, to detect a list that would never end. */
import { Option } from "effect"
import type { Bounds } from "../ServiceLimits.ts"
import { idOf } from "../Wire/RowDecoder.ts"
import type { Page } from "./Page.ts"

/** A page, and what distinguishes it from other pages of its list. */
export interface Fetched<A> {
  readonly page: Page<A>
  readonly mark: string
}

/** How many rows a page has, and its first and last row; a row without an identifier is represented by its text. */
export const markOf = (items: ReadonlyArray<unknown>, idField: string): string =>
  JSON.stringify([
    items.length,
    ...[items.at(0), items.at(-1)].map((item) => Option.getOrElse(idOf(item, idField), () => item)),
  ])

/**
 * Detects a repeated cursor in bounded memory: it remembers the latest thousand, and detects longer cycles by keeping one
 * cursor for ever longer stretches (Brent's algorithm).
 */
class Cursors {
  private readonly recent = new Set<string>()
  private kept: string | undefined
  private steps = 0
  private stretch = 1024

  /** Whether the cursor was seen before; then remembers it. */
  repeats(cursor: string): boolean {
    if (this.recent.has(cursor) || this.kept === cursor) return true
    this.recent.add(cursor)
    if (this.recent.size > 1024) {
      const [oldest] = this.recent
      if (oldest !== undefined) this.recent.delete(oldest)
    }
    this.steps++
    if (this.steps === this.stretch) {
      this.kept = cursor
      this.steps = 0
      this.stretch *= 2
    }
    return false
  }
}

/** A page may come again if rows moved between two requests; if it comes this often, the service ignores the cursor. */
const mostRepeats = 3

export type ListBounds = Pick<Bounds, "maxPages" | "maxEmptyPages">

/** What is wrong with a page, and the bound of the settings that it reached. */
export interface TrailProblem {
  readonly detail: string
  readonly setting?: keyof ListBounds
}

/** Follows one reading of a list, and says what is wrong with a page. */
export class Trail {
  private readonly bounds: ListBounds
  private readonly cursors = new Cursors()
  private pages = 0
  private empty = 0
  private mark: string | undefined
  private repeats = 1

  constructor(bounds: ListBounds, from: Option.Option<string>) {
    this.bounds = bounds
    if (Option.isSome(from)) this.cursors.repeats(from.value)
  }

  problem({ mark, page }: Fetched<unknown>): TrailProblem | undefined {
    this.pages++
    this.repeats = page.rows.length > 0 && mark === this.mark ? this.repeats + 1 : 1
    this.mark = mark
    this.empty = page.rows.length === 0 ? this.empty + 1 : 0
    if (!page.hasNextPage) return undefined
    if (Option.isNone(page.endCursor)) return { detail: "it promises a next page without a cursor to it" }
    if (this.cursors.repeats(page.endCursor.value)) return { detail: "it gives a cursor that it gave before" }
    if (this.repeats >= mostRepeats) {
      return { detail: `it gave the same page ${this.repeats} times, one after the other` }
    }
    if (this.pages >= this.bounds.maxPages) {
      return { detail: `it has more than ${this.bounds.maxPages} pages`, setting: "maxPages" }
    }
    if (this.empty > this.bounds.maxEmptyPages) {
      return { detail: `it gave ${this.empty} empty pages, one after the other`, setting: "maxEmptyPages" }
    }
    return undefined
  }
}
