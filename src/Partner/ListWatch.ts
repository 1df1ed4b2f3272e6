/** What a list's pages must not do: repeat a cursor, go on without one or without end. */
import { Option } from "effect"
import type { Page } from "../Partner.ts"
import type { Bounds } from "./Bounds.ts"

/**
 * Detects a repeated cursor in bounded memory: it remembers the latest thousand, and detects longer cycles by keeping one
 * cursor for ever longer stretches (Brent's algorithm).
 */
class Trail {
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

export type ListBounds = Pick<Bounds, "maxPages" | "maxEmptyPages">

/** Follows one reading of a list, and says what is wrong with a page. */
export class ListWatch {
  private readonly bounds: ListBounds
  private readonly trail = new Trail()
  private pages = 0
  private empty = 0

  constructor(bounds: ListBounds, from: Option.Option<string>) {
    this.bounds = bounds
    if (Option.isSome(from)) this.trail.repeats(from.value)
  }

  problem(page: Page<unknown>): string | undefined {
    this.pages++
    this.empty = page.rows.length === 0 ? this.empty + 1 : 0
    if (!page.hasNextPage) return undefined
    if (Option.isNone(page.endCursor)) return "it promises a next page without a cursor to it"
    if (this.trail.repeats(page.endCursor.value)) return "it gives a cursor that it gave before"
    if (this.pages >= this.bounds.maxPages) return `it has more than ${this.bounds.maxPages} pages`
    if (this.empty > this.bounds.maxEmptyPages)
      return `it gave ${this.empty} empty pages, one after the other`
    return undefined
  }
}
