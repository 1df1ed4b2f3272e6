/**
 * Reads a list whole, and again where its items moved while it was read: no order is promised, and a cursor may be a position. An
 * item that moves towards the front pushes others onto the next page, where they come a second time, and may itself be passed
 * over. So a list was read to its end if no item came on two of its pages, or if it came out as in the reading before: where a
 * service gives every reading another order, what two readings show can be the same, and what both passed over is not known.
 * Where a cursor has expired, it starts over once.
 */
import { Effect, Option } from "effect"
import { isCursorExpired, type PartnerError } from "../PartnerError.ts"
import { identifiersOf, type Page, type Pages } from "./Page.ts"
import { forEachPage } from "./Walk.ts"

/** Readings of one list in one run, up to its end. */
const mostReadings = 3

const areSame = (some: ReadonlyArray<string>, others: ReadonlyArray<string>): boolean =>
  some.length === others.length && some.every((id, index) => id === others[index])

/** Hands over page after page, and with each whether the list was read to its end with it. */
export const readWhole = <A, E, R>(
  list: Pages<A>,
  idOf: (item: A) => string,
  each: (page: Page<A>, isWhole: boolean) => Effect.Effect<unknown, E, R>,
): Effect.Effect<void, PartnerError | E, R> =>
  Effect.suspend(() => {
    let before: ReadonlyArray<string> | undefined
    let hasExpired = false
    const reading = (left: number): Effect.Effect<void, PartnerError | E, R> => {
      const now = new Set<string>()
      const inTurn: Array<string> = []
      let moved = false
      const isUnsettled = () => moved && (before === undefined || !areSame(inTurn, before))
      return forEachPage(list(Option.none()), (page) => {
        for (const id of new Set(identifiersOf(page, idOf))) {
          moved ||= now.has(id)
          now.add(id)
          inTurn.push(id)
        }
        return each(page, !page.hasNextPage && !isUnsettled())
      }).pipe(
        Effect.matchEffect({
          onSuccess: () => {
            if (!isUnsettled() || left <= 1) return Effect.void
            before = inTurn
            return reading(left - 1)
          },
          onFailure: (error) => {
            if (hasExpired || !isCursorExpired(error)) return Effect.fail(error)
            hasExpired = true
            // What a part of the list has shown proves nothing of the next reading.
            before = undefined
            return reading(left)
          },
        }),
      )
    }
    return reading(mostReadings)
  })
