/** Whether a list can be turned page by page with the profile's parameters. */
import { Effect, Either } from "effect"
import type { PartnerError } from "../Partner.ts"
import type { Interface } from "../Settings/Interface.ts"
import { type Ask, queryOf, seen, sized } from "./Ask.ts"
import type { Endpoint } from "./Endpoints.ts"
import { type Finding, finding, open, type Page, untried } from "./Judge.ts"
import { movedOn } from "./Shape.ts"

/** A list whose first page has been read. */
export interface Listed {
  readonly endpoint: Endpoint
  /** With its identifiers. */
  readonly path: string
  readonly page: Page
}

const cursorSetting = "interface.paging.cursorParam"
const sizeSetting = "interface.paging.sizeParam"

/** A first page with another one behind it: as it was read, or cut short by a page size of 1. */
const firstOf = Effect.fn("Doctor.firstOf")(function* (
  ask: Ask,
  { endpoint, page, path }: Listed,
  paging: Interface["paging"],
) {
  if (page.hasNextPage) return { page, size: paging.size }
  if (paging.sizeParam === null || page.rows.length < 2) return undefined
  const answer = yield* ask("paging", path, queryOf(sized(paging, 1)))
  if (Either.isLeft(answer)) return undefined
  const opened = open(answer.right, paging, endpoint.idField)
  return Either.isRight(opened) ? { page: opened.right, size: 1 } : undefined
})

const follow = Effect.fn("Doctor.follow")(function* (
  ask: Ask,
  { endpoint, path }: Listed,
  paging: Interface["paging"],
  first: { readonly page: Page; readonly size: number },
) {
  const { endCursor } = first.page
  if (endCursor === undefined) {
    return finding("wrong", "error", `${endpoint.key} promises a next page without an endCursor`, {
      settings: ["interface.paging.pageInfoField"],
      advice: "Set interface.paging.pageInfoField to the object that holds hasNextPage and endCursor.",
    })
  }
  const parameters = [...sized(paging, first.size), [paging.cursorParam, endCursor] as const]
  const answer = yield* ask("paging", path, queryOf(parameters))
  const advice = `Set ${cursorSetting} to the parameter that takes the cursor; tieout doctor --discover tries some.`
  if (Either.isLeft(answer)) {
    const detail = `the second page of ${endpoint.key} ${seen(answer.left)}`
    return finding("wrong", "error", detail, { settings: [cursorSetting], advice })
  }
  const second = open(answer.right, paging, endpoint.idField)
  if (Either.isLeft(second)) return second.left
  return movedOn(first.page.rows, second.right.rows)
    ? finding("ok", "none", `${endpoint.key}: the cursor leads to the second page`)
    : finding("wrong", "error", `${endpoint.key}: the second page is no other than the first`, {
        settings: [cursorSetting],
        advice,
      })
})

/** Follows one cursor, of the list that is likeliest to have one. */
export const turn: (
  ask: Ask,
  lists: ReadonlyArray<Listed>,
  paging: Interface["paging"],
) => Effect.Effect<Finding, PartnerError> = Effect.fn("Doctor.turn")(function* (ask, lists, paging) {
  const likely = [...lists].sort(
    (a, b) =>
      Number(b.page.hasNextPage) - Number(a.page.hasNextPage) || b.page.rows.length - a.page.rows.length,
  )
  for (const list of likely.slice(0, 3)) {
    const first = yield* firstOf(ask, list, paging)
    if (first === undefined) continue
    if (first.page.hasNextPage) return yield* follow(ask, list, paging, first)
    if (first.size === 1 && first.page.rows.length > 1) {
      return finding("wrong", "warning", `${list.endpoint.key}: a page size of 1 changes nothing`, {
        settings: [sizeSetting],
        advice: `Set ${sizeSetting} to the parameter that takes the page size, or to null if there is none.`,
      })
    }
  }
  return untried("no list has a second page")
})
