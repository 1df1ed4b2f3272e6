/**
 * A list of the credit surface that the service keeps below each client (`{clientId}` in its path), read as one list: the pages of one
 * client after those of another. Its rows need not name their client; they are the path's.
 */
import { Effect, Either, Option } from "effect"
import { isReadableClient } from "../../Common/ClientStatus.ts"
import type { Client } from "../../Partner.ts"
import type { PartnerError, PartnerReason } from "../PartnerError.ts"
import { Fault as RowFault } from "../Wire/Fields.ts"
import type { Decoder } from "../Wire/RowDecoder.ts"
import type { Page, Pages } from "./Page.ts"
import type { Walk } from "./Walk.ts"
import { readWhole } from "./WholeList.ts"

const place = "{clientId}"

export const isBelowClients = (path: string): boolean => path.includes(place)

/** Rows of one client: one that names another is not understood, and one that names none is kept with the path's. */
export const ofClient = <A>(decoder: Decoder<A>, clientId: string): Decoder<A> => ({
  idField: decoder.idField,
  decode: (row, source) => {
    const named = row.clientId
    if (named === undefined || named === null) {
      // At the end, where it counts before a null of the same name.
      const begun = () => source().trim().slice(0, -1)
      return decoder.decode({ ...row, clientId }, () => `${begun()},"clientId":${JSON.stringify(clientId)}}`)
    }
    if (typeof named !== "string" || named.toLowerCase() !== clientId)
      throw new RowFault("$.clientId", "is not the client that was asked for")
    return decoder.decode(row, source)
  },
})

/** Whose list it is, and whether the service has to show one. */
interface Owner {
  readonly id: string
  readonly isReadable: boolean
}

/** All clients, and whether these are all; a client whose row cannot be read but for its identifier is read like others. */
const ownersOf = Effect.fn("Partner.ownersOf")(function* (clients: Pages<Client>) {
  const owners = new Map<string, Owner>()
  let first: Page<Client> | undefined
  let last: Page<Client> | undefined
  let isWhole = false
  let isNameless = false
  yield* readWhole(
    clients,
    ({ id }) => id,
    (page, isEnd) =>
      Effect.sync(() => {
        first ??= page
        last = page
        isWhole = isEnd
        for (const row of page.rows) {
          const id = Either.isRight(row) ? Option.some(row.right.id) : row.left.id
          const isReadable = Either.isLeft(row) || isReadableClient(row.right)
          if (Option.isSome(id)) owners.set(id.value, { id: id.value, isReadable })
          else isNameless = true
        }
      }),
  )
  return { owners: [...owners.values()], isWhole: isWhole && !isNameless, first, last }
})

/** The interface does not show how a service says that a client's paths are closed: 400, 403, 404, 409 … */
const refusals: ReadonlySet<PartnerReason> = new Set(["NotFound", "Forbidden", "Rejected"])

/** A client that cannot be read need not have such a list: the interface opens its paths once it is approved. */
const hasNone = ({ isReadable }: Owner, { reason }: PartnerError): boolean =>
  !isReadable && refusals.has(reason)

const walkOf = <A>(
  clients: Pages<Client>,
  listOf: (clientId: string) => Pages<A>,
): Walk<Page<A>, PartnerError> => {
  let read: Effect.Effect.Success<ReturnType<typeof ownersOf>> | undefined
  let begun = 0
  let current: { readonly owner: Owner; readonly walk: Walk<Page<A>, PartnerError> } | undefined
  let times: Pick<Page<A>, "requestedAt" | "servedAt"> | undefined
  let isOver = false

  const closed = Effect.suspend(() => {
    const closing = current?.walk.close ?? Effect.void
    current = undefined
    return closing
  })

  const next: Effect.Effect<Option.Option<Page<A>>, PartnerError> = Effect.suspend(() => {
    if (isOver) return Effect.succeedNone
    if (read === undefined)
      return Effect.flatMap(ownersOf(clients), (found) => {
        read = found
        return next
      })
    const { first, isWhole, last, owners } = read
    // All that is shown may be of the moment when the clients were asked for.
    const askedAt = first?.askedAt ?? Option.none()
    const shown = { hasNextPage: true, endCursor: Option.none(), askedWith: Option.none(), askedAt }
    if (current === undefined) {
      const owner = owners[begun]
      if (owner === undefined) {
        isOver = true
        const { requestedAt, servedAt } = times ?? last ?? { requestedAt: 0, servedAt: Option.none() }
        // The last page of all says that no client is left, unless the list of clients has passed over one.
        return Effect.succeedSome({ ...shown, rows: [], hasNextPage: !isWhole, requestedAt, servedAt })
      }
      begun++
      current = { owner, walk: listOf(owner.id)(Option.none())() }
    }
    const { owner, walk } = current
    return walk.next.pipe(
      Effect.catchIf(
        (error) => hasNone(owner, error),
        () => Effect.succeedNone,
      ),
      Effect.flatMap((page) => {
        if (Option.isNone(page)) return Effect.zipRight(closed, next)
        times = page.value
        return Effect.succeedSome({ ...page.value, ...shown })
      }),
    )
  })
  return { next, close: closed }
}

/**
 * The lists of all clients as one, from the start only: it has no cursors of its own. `listOf` gives one client's list at a path, read
 * with a decoder for its rows.
 */
export const pagesOfClients =
  <A>(clients: Pages<Client>, listOf: (clientId: string) => Pages<A>): Pages<A> =>
  () =>
  () =>
    walkOf(clients, listOf)
