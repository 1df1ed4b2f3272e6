/** Tests paging: follows the first page of a list to the second with the profile's parameters. */
import { Effect, Either } from "effect"
import { pagingOf, pagingSetting } from "../Settings/Interface.ts"
import { type Ask, outcomeText, queryOf, sized } from "./Ask.ts"
import type { ListEndpoint } from "./Endpoints.ts"
import { finding, untried } from "./Finding.ts"
import { open, type Page, type Paged } from "./OpenPage.ts"
import { movedOn } from "./Shape.ts"

/** A list whose first page has been read. */
export interface Listed {
  readonly endpoint: ListEndpoint
  /** With identifiers filled in. */
  readonly path: string
  readonly page: Page
}

/** Empty pages that are passed on the way to one with rows. */
const emptyPagesPassed = 5

/** The page at a cursor or, if it is empty, the first page with rows after it. */
export const behindEmpty = <A, E>(
  read: (cursor: string) => Effect.Effect<Either.Either<Page, A>, E>,
  cursor: string,
): Effect.Effect<Either.Either<Page, A>, E> =>
  Effect.gen(function* () {
    let page = yield* read(cursor)
    for (let passed = 0; passed < emptyPagesPassed && Either.isRight(page); passed++) {
      const { endCursor, hasNextPage, rows } = page.right
      if (rows.length > 0 || !hasNextPage || endCursor === undefined) break
      page = yield* read(endCursor)
    }
    return page
  })

/** A first page that has a next page: as it was read, or with a page size of 1. */
const firstOf = Effect.fn("Doctor.firstOf")(function* (
  ask: Ask,
  { endpoint, page, path }: Listed,
  profile: Paged,
) {
  const paging = pagingOf(profile, endpoint.key)
  if (page.hasNextPage) return { page, size: paging.size }
  if (paging.sizeParam === null || page.rows.length < 2) return undefined
  const answer = yield* ask("paging", path, queryOf(sized(paging, 1)))
  if (Either.isLeft(answer)) return undefined
  const opened = open(answer.right, profile, endpoint)
  return Either.isRight(opened) ? { page: opened.right, size: 1 } : undefined
})

const follow = Effect.fn("Doctor.follow")(function* (
  ask: Ask,
  { endpoint, path }: Listed,
  profile: Paged,
  first: { readonly page: Page; readonly size: number },
) {
  const paging = pagingOf(profile, endpoint.key)
  const cursorSetting = pagingSetting(profile, endpoint.key, "cursorParam")
  const { endCursor } = first.page
  if (endCursor === undefined) {
    const setting = pagingSetting(profile, endpoint.key, "pageInfoField")
    return finding("wrong", "error", `${endpoint.key} promises a next page without an endCursor`, {
      settings: [setting],
      advice: `Set ${setting} to the object that holds hasNextPage and endCursor.`,
    })
  }
  const advice = `Set ${cursorSetting} to the parameter that takes the cursor; tieout doctor --discover tries some.`
  const read = Effect.fn("Doctor.turnedPage")(function* (cursor: string) {
    const parameters = [...sized(paging, first.size), [paging.cursorParam, cursor] as const]
    const answer = yield* ask("paging", path, queryOf(parameters))
    if (Either.isRight(answer)) return open(answer.right, profile, endpoint)
    const detail = `the second page of ${endpoint.key} ${outcomeText(answer.left)}`
    return Either.left(finding("wrong", "error", detail, { settings: [cursorSetting], advice }))
  })
  const second = yield* behindEmpty(read, endCursor)
  if (Either.isLeft(second)) return second.left
  if (second.right.rows.length === 0) return untried(`${endpoint.key}: no row follows the first page`)
  return movedOn(first.page.rows, second.right.rows, endpoint.idField)
    ? finding("ok", "none", `${endpoint.key}: the cursor leads to the second page`)
    : finding("wrong", "error", `${endpoint.key}: the second page is the same as the first`, {
        settings: [cursorSetting],
        advice,
      })
})

/** A list that comes whole shows nothing of how the others are paged, however long it is. */
const likeliestFirst = (lists: ReadonlyArray<Listed>, profile: Paged): ReadonlyArray<Listed> => {
  const isWhole = ({ endpoint }: Listed) => {
    const { itemsField, pageInfoField } = pagingOf(profile, endpoint.key)
    return itemsField === "" || pageInfoField === null
  }
  return [...lists].sort(
    (a, b) =>
      Number(isWhole(a)) - Number(isWhole(b)) ||
      Number(b.page.hasNextPage) - Number(a.page.hasNextPage) ||
      b.page.rows.length - a.page.rows.length,
  )
}

const noList = "no list could be read"

/** Requests a page of one row. */
export const shorten = Effect.fn("Doctor.shorten")(function* (
  ask: Ask,
  lists: ReadonlyArray<Listed>,
  profile: Paged,
) {
  const list = likeliestFirst(lists, profile).find(({ page }) => page.rows.length > 1)
  if (list === undefined) return untried(lists.length === 0 ? noList : "no list has more than one row")
  const { endpoint, path } = list
  const paging = pagingOf(profile, endpoint.key)
  const sizeSetting = pagingSetting(profile, endpoint.key, "sizeParam")
  if (paging.sizeParam === null) return untried(`${sizeSetting} is null: no size is sent`, [sizeSetting])
  const answer = yield* ask("paging", path, queryOf(sized(paging, 1)))
  const settings = [sizeSetting]
  if (Either.isLeft(answer)) {
    return finding("wrong", "warning", `${endpoint.key}: a page of one row ${outcomeText(answer.left)}`, {
      settings,
    })
  }
  const opened = open(answer.right, profile, endpoint)
  if (Either.isLeft(opened)) return opened.left
  if (opened.right.rows.length === 1)
    return finding("ok", "none", `${endpoint.key}: a page of one row has one`)
  return finding("wrong", "warning", `${endpoint.key}: a page size of 1 changes nothing`, {
    settings,
    advice: `Set ${sizeSetting} to the parameter that takes the page size, or to null if there is none.`,
  })
})

/** Follows one cursor, of the list most likely to have one. */
export const turn = Effect.fn("Doctor.turn")(function* (
  ask: Ask,
  lists: ReadonlyArray<Listed>,
  profile: Paged,
) {
  for (const list of likeliestFirst(lists, profile).slice(0, 3)) {
    const first = yield* firstOf(ask, list, profile)
    if (first?.page.hasNextPage === true) return yield* follow(ask, list, profile, first)
  }
  return untried(lists.length === 0 ? noList : "no list has a second page")
})
