/** Cursor paging (`docs/interface.md`, PageInfo) as a stream of pages that prefetches one page. */
import { Effect, Fiber, Option, type Scope, Stream } from "effect"
import type { Page, Pages } from "../Partner.ts"
import type { Interface } from "../Settings/Interface.ts"
import * as Address from "./Address.ts"
import type { Keep } from "./Attempt.ts"
import * as Fault from "./Fault.ts"
import { limitOf, openEnvelope, pathOf } from "./PageEnvelope.ts"
import type { PartnerError } from "./PartnerError.ts"
import { largeAnswer } from "./Room.ts"
import type { Session } from "./Session.ts"
import { type Fetched, type ListBounds, markOf, Trail } from "./Trail.ts"
import { type Decoder, decodeAll } from "./Wire/RowDecoder.ts"

const refusalsOfCursor: ReadonlySet<number | undefined> = new Set([400, 404, 409, 410, 422])

export interface Listing<A> {
  readonly session: Session
  readonly paging: Interface["paging"]
  readonly bounds: ListBounds
  /** Labels the requests in the counts. */
  readonly kind: string
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
      (error) => Option.isSome(cursor) && refusalsOfCursor.has(error.status),
      ({ detail, status = 400 }) =>
        Effect.fail(
          Fault.make("CursorExpired", operation, {
            status,
            detail: `a cursor that it gave is refused (${detail})`,
          }),
        ),
    ),
    Effect.flatMap((answer) =>
      Effect.map(openEnvelope(answer, operation, paging, mayBePlain), (envelope) => ({
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
          servedAt: Option.map(Option.fromNullable(answer.servedAt), (at) => new Date(at).toISOString()),
        },
        mark: markOf(envelope.items, decoder.idField),
      })),
    ),
  )
}

/** A page under way, and how to give its answer's room back, once it has one. */
interface Launched<A> {
  readonly fiber: Fiber.Fiber<Fetched<A>, PartnerError>
  readonly release: () => void
}

/** The request for a page: under way already, or sent when the page is wanted. */
type Asked<A> = Effect.Effect<Launched<A>>

const walk = <A>(
  listing: Listing<A>,
  from: Option.Option<string>,
  ahead: (page: Page<A>) => boolean,
): Effect.Effect<Stream.Stream<Page<A>, PartnerError>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const trail = new Trail(listing.bounds, from)
    const releases = new Set<() => void>()
    // After the requests have been interrupted.
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        for (const release of releases) release()
      }),
    )
    const launch = (cursor: Option.Option<string>): Asked<A> =>
      Effect.suspend(() => {
        const own = new Set<() => void>()
        const release = () => {
          for (const give of own) {
            releases.delete(give)
            give()
          }
          own.clear()
        }
        const keep = (give: () => void) => {
          own.add(give)
          releases.add(give)
        }
        return Effect.map(Effect.forkIn(fetchPage(listing, cursor, keep), scope), (fiber) => ({
          fiber,
          release,
        }))
      })
    let releaseLast = () => {}
    const step = (asked: Asked<A>) =>
      Effect.gen(function* () {
        // The reader who asks for the next page is done with the last one.
        releaseLast()
        const { fiber, release } = yield* asked
        releaseLast = release
        const fetched = yield* Fiber.join(fiber)
        const { page } = fetched
        const problem = trail.problem(fetched)
        if (problem !== undefined) {
          return yield* Fault.make("CursorLoop", `GET ${listing.path}`, { detail: problem })
        }
        if (!page.hasNextPage) return [page, Option.none<Asked<A>>()] as const
        const next = launch(page.endCursor)
        return [page, Option.some(ahead(page) ? Effect.succeed(yield* next) : next)] as const
      })
    return Stream.paginateEffect<Asked<A>, Page<A>, PartnerError, never>(launch(from), step)
  })

/** The pages of a list; its requests are interrupted when the reader stops. */
export const pages =
  <A>(listing: Listing<A>): Pages<A> =>
  (from, ahead = () => true) =>
    Stream.unwrapScoped(walk(listing, from, ahead))
