import type { Reply } from "./Reply.ts"
import { failure, json } from "./Reply.ts"
import { envelope, type Wire } from "./Wire.ts"

const defaultSize = 100
const maximumSize = 1000

/** A list that can be paged through: `name` binds cursors to it, `render` gives the item at a position. */
export interface Listing {
  readonly name: string
  readonly size: number
  readonly render: (position: number) => string
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

/** Makes the function that answers a list request with one page: forwards from the start or after a cursor. */
export const pager = (wire: Wire) => {
  const wrap = envelope(wire)
  return (listing: Listing, query: string): Reply => {
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
    let items = ""
    for (let position = start; position < end; position++) {
      items += position === start ? listing.render(position) : `,${listing.render(position)}`
    }
    const endCursor = end > start ? `,"endCursor":"${encode(listing.name, end - 1)}"` : ""
    return json(200, wrap(items, `{"hasNextPage":${end < listing.size}${endCursor}}`))
  }
}
