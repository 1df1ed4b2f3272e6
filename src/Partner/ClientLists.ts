/**
 * A list of the credit surface that the service keeps below each client (`{clientId}` in its path), read as one list: the pages of one
 * client after those of another. Its rows need not name their client; they are the path's.
 */
import { Effect, Either, Option } from "effect"
import { isReadableClient } from "../Common/ClientStatus.ts"
import type { Client, Page, Pages } from "../Partner.ts"
import * as Fault from "./Fault.ts"
import type { PartnerError } from "./PartnerError.ts"
import type { Walk } from "./Walk.ts"
import { readWhole } from "./WholeList.ts"
import { Fault as RowFault } from "./Wire/Fields.ts"
import type { Decoder } from "./Wire/RowDecoder.ts"

const place = "{clientId}"

export const isBelowClients = (path: string): boolean => path.includes(place)

/** Rows of one client: one that names another is not understood, and one that names none is kept with the path's. */
export const ofClient = <A>(decoder: Decoder<A>, clientId: string): Decoder<A> => ({
  idField: decoder.idField,
  decode: (row, source) => {
    const named = row.clientId
    if (named === undefined || named === null) {
      const rest = () => source().trim().slice(1)
      return decoder.decode({ ...row, clientId }, () => `{"clientId":${JSON.stringify(clientId)},${rest()}`)
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

/** All clients; a client whose row cannot be read but for its identifier is read like others. */
const ownersOf = Effect.fn("Partner.ownersOf")(function* (clients: Pages<Client>) {
  const owners = new Map<string, Owner>()
  const operation = "GET the list of clients"
  let first: Page<Client> | undefined
  let last: Page<Client> | undefined
  let isRead = false
  yield* readWhole(
    clients,
    ({ id }) => id,
    (page, isWhole) => {
      first ??= page
      last = page
      isRead = isWhole
      for (const row of page.rows) {
        if (Either.isRight(row))
          owners.set(row.right.id, { id: row.right.id, isReadable: isReadableClient(row.right) })
        else if (Option.isSome(row.left.id))
          owners.set(row.left.id.value, { id: row.left.id.value, isReadable: true })
        else
          return Fault.make("BadResponse", operation, {
            detail: "a client has no identifier, so that its lists cannot be read",
          })
      }
      return Effect.void
    },
  )
  if (!isRead || first === undefined || last === undefined)
    return yield* Fault.make("BadResponse", operation, {
      detail: "it moves while it is read, so that a client may have been passed over",
    })
  return { owners: [...owners.values()], askedAt: first.askedAt, last }
})

/** A client that cannot be read need not have such a list: the interface opens its paths once it is approved. */
const hasNone = ({ isReadable }: Owner, { reason }: PartnerError): boolean =>
  !isReadable && (reason === "NotFound" || reason === "Forbidden")

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
    const { askedAt, last, owners } = read
    // All that is shown may be of the moment when the clients were asked for.
    const shown = { hasNextPage: true, endCursor: Option.none(), askedWith: Option.none(), askedAt }
    if (current === undefined) {
      const owner = owners[begun]
      if (owner === undefined) {
        isOver = true
        // The last page of all, which says that no client is left.
        const { requestedAt, servedAt } = times ?? last
        return Effect.succeedSome({ ...shown, rows: [], hasNextPage: false, requestedAt, servedAt })
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
