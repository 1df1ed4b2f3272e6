import type { Reply } from "./SandboxReply.ts"
import { failure, json } from "./SandboxReply.ts"
import { envelope, type Wire } from "./Wire.ts"

const defaultSize = 100
const maximumSize = 1000

/** A list that can be paged through: `name` binds cursors to it, `render` gives the item at a position. */
export interface Listing {
  readonly name: string
  readonly size: number
  readonly render: (position: number) => string
  /** The item as it was before its last change, unless it never changed or was already seen as it is now. */
  readonly earlier?: (position: number) => string | undefined
}

/** Makes a page other than it should be: an item comes twice, or one is changed while the list is being read. */
export interface Twist {
  readonly name: "repeat" | "change"
  /** Decides which item. */
  readonly bits: number
  /** To be called if there was such an item. */
  readonly happened: () => void
}

/** What a list is asked for. */
export interface Asked {
  readonly query: string
  readonly twist: Twist | undefined
}

const encode = (name: string, position: number): string =>
  Buffer.from(`${name}:${position}`).toString("base64url")

/** The position after the item that a cursor names, or undefined if it is not a cursor of that list. */
const decode = (listing: Listing, cursor: string): number | undefined => {
  const text = Buffer.from(cursor, "base64url").toString()
  if (!text.startsWith(`${listing.name}:`)) return undefined
  const digits = text.slice(listing.name.length + 1)
  if (!/^(0|[1-9]\d{0,9})$/.test(digits)) return undefined
  const position = Number(digits)
  return position < listing.size && encode(listing.name, position) === cursor ? position + 1 : undefined
}

/** Puts in an item that this page, or the one before it, has already. */
const repeat = (listing: Listing, items: Array<string>, start: number, { bits, happened }: Twist): void => {
  const item = items[(bits >>> 1) % Math.max(items.length, 1)]
  if (start > 0 && (bits & 1) === 0) items.unshift(listing.render(start - 1))
  else if (item !== undefined) items.push(item)
  else return
  happened()
}

/** Makes the function that answers a list request with one page: forwards from the start or after a cursor. */
export const pager = (wire: Wire) => {
  const wrap = envelope(wire)
  /** By list and position: an item from before it that changed since and comes again, however often that page is read. */
  const changed = new Map<string, number>()

  /** Shows one item as it was earlier; as it is now, it comes with the next page. */
  const change = (listing: Listing, start: number, end: number, items: Array<string>, twist: Twist): void => {
    const { earlier, name, size } = listing
    const count = end - start
    if (earlier === undefined || end >= size) return
    for (let tries = 0; tries < Math.min(count, 50); tries++) {
      const place = (twist.bits + tries) % count
      const text = earlier(start + place)
      if (text === undefined) continue
      items[place] = text
      changed.set(`${name}:${end}`, start + place)
      twist.happened()
      return
    }
  }

  return (listing: Listing, { query, twist }: Asked): Reply => {
    const parameters = new URLSearchParams(query)
    const asked = parameters.get(wire.sizeParam) ?? String(defaultSize)
    if (!/^[1-9]\d{0,8}$/.test(asked)) {
      return failure(400, "invalid_request", `${wire.sizeParam} must be a whole number from 1`)
    }
    const cursor = parameters.get(wire.cursorParam)
    const start = cursor === null ? 0 : decode(listing, cursor)
    if (start === undefined) {
      return failure(400, "invalid_cursor", `${wire.cursorParam} is not a cursor of this list`)
    }
    const end = Math.min(listing.size, start + Math.min(Number(asked), maximumSize))
    // Before anything of the page is rendered: that counts as seen.
    const items: Array<string> = []
    if (twist?.name === "change") change(listing, start, end, items, twist)
    for (let position = start; position < end; position++)
      items[position - start] ??= listing.render(position)
    if (twist?.name === "repeat") repeat(listing, items, start, twist)
    const again = changed.get(`${listing.name}:${start}`)
    if (again !== undefined) items.unshift(listing.render(again))
    const endCursor = end > start ? `,"endCursor":"${encode(listing.name, end - 1)}"` : ""
    return json(200, wrap(items.join(","), `{"hasNextPage":${end < listing.size}${endCursor}}`))
  }
}
