/** Cursor paging (`docs/interface.md`, PageInfo): a walk that prefetches one page. */
import { Effect, Fiber, Option } from "effect"
import { isoOf } from "../../Common/Time.ts"
import type { Interface, ListName } from "../../Settings/Interface.ts"
import * as Address from "../Address.ts"
import type { Keep } from "../Attempt.ts"
import * as Fault from "../Fault.ts"
import type { PartnerError } from "../PartnerError.ts"
import { largeAnswer } from "../Room.ts"
import type { Session } from "../Session.ts"
import { type Decoder, decodeAll } from "../Wire/RowDecoder.ts"
import type { Page, Pages } from "./Page.ts"
import { limitOf, openEnvelope, pathOf } from "./PageEnvelope.ts"
import { type Fetched, type ListBounds, markOf, Trail } from "./Trail.ts"
import type { Walk } from "./Walk.ts"

/** What a 4xx says of something else than the request: of the token, of the time that it took, of the pace, or of a proxy. */
const notOfCursor: ReadonlySet<number> = new Set([401, 407, 408, 425, 429])

/** The interface shows no status but 409: any other refusal may mean the cursor. Without it, the list says what it is about. */
const refusesCursor = ({ status = 0 }: PartnerError): boolean =>
  status >= 400 && status < 500 && !notOfCursor.has(status)

export interface Listing<A> {
  readonly session: Session
  readonly paging: Interface["paging"]
  readonly bounds: ListBounds
  /** Labels the requests in the counts. */
  readonly kind: ListName
  readonly path: string
  readonly decoder: Decoder<A>
  /** Query parameters besides those for paging. */
  readonly filters?: Readonly<Record<string, string>>
  /** The service may answer with the list itself, whatever its other lists look like. */
  readonly mayBePlain?: boolean
}

const queryOf = (
  paging: Interface["paging"],
  cursor: Option.Option<string>,
  filters: Readonly<Record<string, string>>,
): string => {
  const query = new URLSearchParams(filters)
  if (paging.sizeParam !== null) query.set(paging.sizeParam, String(paging.size))
  if (Option.isSome(cursor)) query.set(paging.cursorParam, cursor.value)
  return query.size === 0 ? "" : `?${query.toString()}`
}

const fetchPage = <A>(
  { session, paging, kind, path, decoder, filters = {}, mayBePlain = false }: Listing<A>,
  cursor: Option.Option<string>,
  keep: Keep,
): Effect.Effect<Fetched<A>, PartnerError> => {
  const operation = `GET ${Address.bare(path)}`
  const query = queryOf(paging, cursor, filters)
  return session.list(kind, path, { query, keep, limit: limitOf(paging) }).pipe(
    Effect.catchIf(
      (error) => Option.isSome(cursor) && refusesCursor(error),
      ({ detail, status = 400 }) =>
        Effect.fail(
          Fault.make("CursorExpired", operation, {
            status,
            detail: `a cursor that it gave is refused (${detail})`,
          }),
        ),
    ),
    Effect.flatMap((answer) =>
      Effect.map(openEnvelope(answer, operation, { kind, paging, mayBePlain }), (envelope) => ({
        page: {
          rows: decodeAll(
            decoder,
            envelope.items,
            answer.source,
            Array.isArray(answer.value) ? [] : pathOf(paging.itemsField),
          ),
          hasNextPage: envelope.hasNextPage,
          endCursor: envelope.endCursor,
          askedWith: cursor,
          requestedAt: answer.requestedAt,
          isLarge: answer.source.text.length > largeAnswer,
          servedAt: Option.map(Option.fromNullable(answer.servedAt), isoOf),
          askedAt: Option.map(Option.fromNullable(answer.servedAt), (at) =>
            isoOf(Math.min(at - answer.took, answer.requestedAt)),
          ),
        },
        mark: markOf(envelope.items, decoder.idField),
      })),
    ),
  )
}

const serverFails = 500

/**
 * A stored cursor that nobody knows any more may make a service fail instead of refusing it, and would do so in each run to come. Where the
 * list's first page is served, it is not the service that fails. One that asks for a pause is not asked meanwhile.
 */
const fetchStored = <A>(
  listing: Listing<A>,
  cursor: Option.Option<string>,
  keep: Keep,
): Effect.Effect<Fetched<A>, PartnerError> =>
  fetchPage(listing, cursor, keep).pipe(
    Effect.catchIf(
      ({ reason, retryAt, status }) =>
        Option.isSome(cursor) && reason === "Unavailable" && status === serverFails && retryAt === undefined,
      (error) =>
        Effect.matchEffect(
          fetchPage(listing, Option.none(), (release) => release()),
          {
            onFailure: () => Effect.fail(error),
            onSuccess: () =>
              Effect.fail(
                Fault.make("CursorExpired", error.operation, {
                  status: serverFails,
                  detail: "a cursor that it gave fails, and the list's first page does not",
                }),
              ),
          },
        ),
    ),
  )

/** The room that a page's answer takes until the reader is done with the page. */
class Kept {
  private readonly gives = new Set<() => void>()

  readonly keep: Keep = (give) => void this.gives.add(give)

  readonly release = (): void => {
    for (const give of this.gives) give()
    this.gives.clear()
  }
}

/** A page to come: its request is under way already, or is sent when the page is wanted. */
interface Coming<A> {
  readonly fetched: Effect.Effect<Fetched<A>, PartnerError>
  readonly room: Kept
}

const walk = <A>(
  listing: Listing<A>,
  from: Option.Option<string>,
  ahead: (page: Page<A>) => boolean,
): Walk<Page<A>, PartnerError> => {
  const trail = new Trail(listing.bounds, from)
  const asking = (cursor: Option.Option<string>, fetch = fetchPage<A>): Coming<A> => {
    const room = new Kept()
    return { fetched: fetch(listing, cursor, room.keep), room }
  }
  /** The room of the page that the reader has. */
  let held = new Kept()
  let coming: Coming<A> | undefined = asking(from, fetchStored<A>)
  let underWay: Fiber.Fiber<Fetched<A>, PartnerError> | undefined

  /** Sends the request at once, so that the answer comes while the reader deals with the page before. */
  const launched = ({ fetched, room }: Coming<A>): Effect.Effect<void> =>
    Effect.uninterruptible(
      Effect.map(Effect.forkDaemon(Effect.interruptible(fetched)), (fiber) => {
        underWay = fiber
        coming = { fetched: Fiber.join(fiber), room }
      }),
    )

  const taken = (fetched: Fetched<A>): Effect.Effect<Option.Option<Page<A>>, PartnerError> => {
    const { page } = fetched
    const problem = trail.problem(fetched)
    if (problem !== undefined) {
      return Fault.make("CursorLoop", `GET ${listing.path}`, problem)
    }
    if (!page.hasNextPage) return Effect.succeedSome(page)
    const following = asking(page.endCursor)
    if (ahead(page)) return Effect.as(launched(following), Option.some(page))
    coming = following
    return Effect.succeedSome(page)
  }

  return {
    next: Effect.suspend(() => {
      held.release()
      if (coming === undefined) return Effect.succeedNone
      const { fetched, room } = coming
      held = room
      coming = undefined
      return Effect.flatMap(fetched, (answer) => {
        underWay = undefined
        return taken(answer)
      })
    }),
    close: Effect.suspend(() => {
      const release = Effect.sync(() => {
        held.release()
        coming?.room.release()
      })
      return underWay === undefined ? release : Effect.zipRight(Fiber.interrupt(underWay), release)
    }),
  }
}

/** The pages of a list. */
export const pages =
  <A>(listing: Listing<A>): Pages<A> =>
  (from, ahead = () => true) =>
  () =>
    walk(listing, from, ahead)
