/** The answers of the world's lists and documents, for the port and for the server on loopback. */
import type { PartnerReason } from "../../src/Partner/PartnerError.ts"
import type { BookName } from "./History.ts"
import type { Json } from "./Json.ts"
import * as Render from "./Render.ts"
import { balances, type World, type WorldAccount, type WorldResource } from "./World.ts"

export interface Item {
  /** The name that a cursor after this item has. */
  readonly key: string
  readonly json: Json
  /** Where and how the item is malformed; null where it is well-formed. */
  readonly malformed: Malformed | null
}

export interface Malformed {
  readonly path: string
  readonly reason: string
}

const noAmount: Malformed = { path: "$.amount", reason: "is not a plain decimal number (-?digits[.digits])" }
const noTime: Malformed = { path: "$.createdAt", reason: "is missing" }

/** An unknown status is kept as it is. */
const malformedOf = ({ spoiled }: WorldResource): Malformed | null =>
  spoiled === "amount" ? noAmount : spoiled === "missing" ? noTime : null

export interface WorldPage {
  readonly items: ReadonlyArray<Item>
  readonly hasNextPage: boolean
  readonly endCursor: string | null
}

export type Refusal = Extract<PartnerReason, "NotFound" | "Forbidden" | "CursorExpired">

const fine = (json: Json, key: string): Item => ({ key, json, malformed: null })

const refusedBook = (world: World, book: BookName): Refusal | undefined => {
  if (book === "org") return undefined
  const client = world.clients.get(book)
  if (client === undefined || client.access === "gone") return "NotFound"
  return client.access === "forbidden" ? "Forbidden" : undefined
}

const refusedAccount = (account: WorldAccount | undefined): Refusal | undefined => {
  if (account === undefined || account.access === "gone") return "NotFound"
  return account.access === "forbidden" ? "Forbidden" : undefined
}

export const accounts = (world: World, book: BookName): ReadonlyArray<Item> =>
  [...world.accounts.values()]
    .filter((account) => account.book === book && account.access === "served")
    .map((account) => fine(Render.account(account), account.id))

export const account = (world: World, book: BookName, id: string): Item | Refusal => {
  const refused = refusedBook(world, book)
  if (refused !== undefined) return refused
  const found = [...world.accounts.values()].find((one) => one.id === id && one.book === book)
  return refusedAccount(found) ?? (found === undefined ? "NotFound" : fine(Render.account(found), id))
}

export const statement = (world: World, book: BookName, id: string): ReadonlyArray<Item> | Refusal => {
  const refused = refusedBook(world, book)
  if (refused !== undefined) return refused
  const found = [...world.accounts.values()].find((one) => one.id === id && one.book === book)
  const unreadable = refusedAccount(found)
  if (unreadable !== undefined || found === undefined) return unreadable ?? "NotFound"
  return balances(found).map((after, index) => ({
    key: found.entries[index]?.id ?? "",
    json: Render.entry(world, found, index, after),
    malformed: found.entries[index]?.malformed === true ? noAmount : null,
  }))
}

export const resources = (world: World, book: BookName, type: string): ReadonlyArray<Item> => {
  const found = [...world.resources.values()]
    .filter((one) => one.book === book && one.content.type === type && !one.hidden)
    .map((one) => ({
      at: one.createdAt,
      item: { key: one.id, json: Render.resource(world, one), malformed: malformedOf(one) },
    }))
    .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
    .map(({ item }) => item)
  return world.settings.newestFirst ? found.reverse() : found
}

export const resource = (world: World, book: BookName, type: string, id: string): Item | Refusal => {
  const refused = refusedBook(world, book)
  if (refused !== undefined) return refused
  const found = [...world.resources.values()].find(
    (one) => one.id === id && one.book === book && one.content.type === type && !one.hidden,
  )
  return found === undefined
    ? "NotFound"
    : { key: id, json: Render.resource(world, found), malformed: malformedOf(found) }
}

export const clients = (world: World): ReadonlyArray<Item> =>
  [...world.clients.values()]
    .filter(({ access }) => access !== "unlisted")
    .map(({ id, name, status }) => fine(Render.client(id, name, status), id))

export const receivables = (world: World): ReadonlyArray<Item> =>
  [...world.receivables.values()].map((one) => fine(Render.receivable(world, one), one.id))

export const creditAccounts = (world: World): ReadonlyArray<Item> =>
  Render.creditAccounts(world).map((json) => fine(json, String(json.creditAccountId)))

/** A list that is read from its newest item to those that were known. */
const isOfResources = (stream: string): boolean => /^org (DEPOSIT|WITHDRAWAL)$/.test(stream)

/**
 * A page of a list after a cursor. A cursor names the item before it, so that new items in front of it shift nothing, or it is the
 * number of a page.
 */
export const page = (
  world: World,
  stream: string,
  items: ReadonlyArray<Item>,
  cursor: string | null,
): WorldPage | Refusal => {
  const { endCursorOnLastPage, numberedPages } = world.settings
  const { pageSize } = world
  let from = 0
  if (cursor !== null) {
    const [epoch = "", key = ""] = cursor.split(":")
    const index = numberedPages ? Number(key) * pageSize - 1 : items.findIndex((item) => item.key === key)
    if (epoch !== String(world.epoch) || index < 0) return "CursorExpired"
    from = index + 1
  }
  const found = items.slice(from, from + pageSize)
  const hasNextPage = from + pageSize < items.length
  const isKept = stream === "org receivables" || stream.includes(" statement ")
  const sent = isKept ? found.flatMap(({ json, malformed }) => (malformed === null ? [json] : [])) : []
  const reached = world.settings.newestFirst && isOfResources(stream) && world.haveShown(stream, found)
  world.note({ stream, at: world.now, last: !hasNextPage || reached, items: sent })
  const last = found.at(-1)
  const ends = last !== undefined && (hasNextPage || endCursorOnLastPage)
  const next = numberedPages ? Math.floor(from / pageSize) + 1 : last?.key
  return { items: found, hasNextPage, endCursor: ends ? `${world.epoch}:${next}` : null }
}
