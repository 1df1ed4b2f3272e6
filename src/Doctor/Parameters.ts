/** Finds the query parameters of page size and cursor: those that have a visible effect. */
import { Effect, Either } from "effect"
import { hasOwnParameters, isUnpaged, pagingOf } from "../Settings/Interface.ts"
import { type Ask, queryOf, sized } from "./Ask.ts"
import { open, type Page, type Paged } from "./OpenPage.ts"
import { movedOn } from "./Shape.ts"
import type { Sample, Undetermined } from "./Survey.ts"
import { behindEmpty } from "./Turn.ts"

const sizeNames = [
  "first",
  "limit",
  "size",
  "pageSize",
  "page_size",
  "perPage",
  "per_page",
  "count",
  "take",
  "max",
  "maxResults",
  "max_results",
  "top",
  "page[size]",
  "page[limit]",
]

const cursorNames = [
  "after",
  "cursor",
  "pageToken",
  "page_token",
  "startingAfter",
  "starting_after",
  "next",
  "nextCursor",
  "next_cursor",
  "endCursor",
  "afterCursor",
  "nextToken",
  "nextPageToken",
  "from",
  "continuation",
  "continuationToken",
  "marker",
  "offset",
  "start",
  "page",
  "page[after]",
  "page[cursor]",
  "pageCursor",
  "page_cursor",
  "after_cursor",
  "cursorAfter",
  "end_cursor",
  "nextPage",
  "next_page",
  "next_token",
  "next_page_token",
  "paginationToken",
  "pagination_token",
  "startAfter",
  "start_after",
  "lastId",
  "last_id",
  "bookmark",
]

/** Page sizes to try where the configured one is refused. */
const smallerSizes = [50, 25, 20, 10, 5]
const listsTried = 3

const namesFrom = (configured: string | null, names: ReadonlyArray<string>): ReadonlyArray<string> =>
  configured === null ? names : [configured, ...names.filter((name) => name !== configured)]

const longestFirst = (samples: ReadonlyArray<Sample>): ReadonlyArray<Sample> =>
  [...samples]
    .sort((a, b) => Number(b.hasNextPage) - Number(a.hasNextPage) || b.rows.length - a.rows.length)
    .slice(0, listsTried)

/** A list's page with the given parameters; undefined where it is refused or cannot be opened. */
const pageOf = Effect.fn("Doctor.pageOf")(function* (
  ask: Ask,
  { endpoint, path }: Sample,
  profile: Paged,
  parameters: ReadonlyArray<readonly [string, string | number]>,
) {
  const answer = yield* ask("paging", path, queryOf(parameters))
  if (Either.isLeft(answer)) return undefined
  const opened = open(answer.right, profile, endpoint)
  return Either.isRight(opened) ? opened.right : undefined
})

interface Determined<A> {
  readonly found: A
  readonly undetermined: ReadonlyArray<Undetermined>
}

const none = <A>(found: A, setting: string, reason: string, blocking = false): Determined<A> => ({
  found,
  undetermined: [{ setting, reason, blocking }],
})

/** The parameter that limits the number of rows. */
const sizeParam = Effect.fn("Doctor.sizeParam")(function* (
  ask: Ask,
  samples: ReadonlyArray<Sample>,
  profile: Paged,
) {
  const { paging } = profile
  const setting = "interface.paging.sizeParam"
  const lists = longestFirst(samples).filter(({ rows }) => rows.length > 1)
  const [list] = lists
  if (list === undefined) return none(paging.sizeParam, setting, "no list has more than one row")
  const tried = namesFrom(paging.sizeParam, sizeNames)
  for (const name of tried) {
    const pageOfOne = yield* pageOf(ask, list, profile, [[name, 1]])
    if (pageOfOne?.rows.length !== 1) continue
    if (list.rows.length === 2) return { found: name, undetermined: [] }
    const pageOfTwo = yield* pageOf(ask, list, profile, [[name, 2]])
    if (pageOfTwo?.rows.length === 2) return { found: name, undetermined: [] }
  }
  return none(null, setting, `none of these changes how many rows come: ${tried.join(", ")}; no size is sent`)
})

/** The configured size, or else the largest that the service accepts. */
const sizeFor = Effect.fn("Doctor.sizeFor")(function* (
  ask: Ask,
  samples: ReadonlyArray<Sample>,
  profile: Paged,
) {
  const { paging } = profile
  const [list] = longestFirst(samples)
  if (list === undefined || paging.sizeParam === null) return paging.size
  for (const size of [paging.size, ...smallerSizes.filter((smaller) => smaller < paging.size)]) {
    if ((yield* pageOf(ask, list, profile, sized(paging, size))) !== undefined) return size
  }
  return paging.size
})

const cursorAt = Effect.fn("Doctor.cursorAt")(function* (
  ask: Ask,
  list: Sample,
  profile: Paged,
  first: Page,
  size: ReadonlyArray<readonly [string, number]>,
) {
  const { paging } = profile
  for (const name of namesFrom(paging.cursorParam, cursorNames)) {
    if (first.endCursor === undefined || name === paging.sizeParam) continue
    const read = (cursor: string) =>
      Effect.map(
        pageOf(ask, list, profile, [...size, [name, cursor]]),
        Either.fromNullable(() => "unreadable"),
      )
    const second = yield* behindEmpty(read, first.endCursor)
    if (Either.isRight(second) && movedOn(first.rows, second.right.rows, list.endpoint.idField)) return name
  }
  return undefined
})

/** The parameter that leads from a first page's cursor to another page. */
const cursorParam = Effect.fn("Doctor.cursorParam")(function* (
  ask: Ask,
  samples: ReadonlyArray<Sample>,
  profile: Paged,
) {
  const { paging } = profile
  const setting = "interface.paging.cursorParam"
  let reason = "no list has a second page"
  for (const list of longestFirst(samples)) {
    const size = list.rows.length > 1 ? sized(paging, 1) : []
    const first = yield* pageOf(ask, list, profile, size)
    if (first?.hasNextPage !== true) continue
    if (first.endCursor === undefined) {
      reason = `${list.endpoint.key} promises a next page without an endCursor`
      continue
    }
    const name = yield* cursorAt(ask, list, profile, first, size)
    if (name !== undefined) return { found: name, undetermined: [] }
    const tried = namesFrom(paging.cursorParam, cursorNames).join(", ")
    return none(paging.cursorParam, setting, `none of these turns the page: ${tried}`, true)
  }
  return none(paging.cursorParam, setting, reason, reason.includes("promises"))
})

/** Both parameters and the size. Items and PageInfo must be right already. */
export const determine = Effect.fn("Doctor.parameters")(function* (
  ask: Ask,
  samples: ReadonlyArray<Sample>,
  profile: Paged,
) {
  const { lists, paging } = profile
  // A list with parameters of its own shows nothing about the others.
  const usual = samples.filter(({ endpoint: { key } }) => !hasOwnParameters(profile, key))
  const enveloped = usual.filter(({ endpoint: { key } }) => !isUnpaged(pagingOf(profile, key)))
  if (usual.length > 0 && enveloped.length === 0) {
    const reason = "nothing in the answers says that more follows, so there are no pages"
    return { paging, undetermined: none(null, "interface.paging.cursorParam", reason).undetermined }
  }
  const size = yield* sizeParam(ask, enveloped, profile)
  const withParam = { ...paging, sizeParam: size.found }
  const withSize = { ...withParam, size: yield* sizeFor(ask, enveloped, { lists, paging: withParam }) }
  const cursor = yield* cursorParam(ask, enveloped, { lists, paging: withSize })
  return {
    paging: { ...withSize, cursorParam: cursor.found },
    undetermined: [...size.undetermined, ...cursor.undetermined],
  }
})
