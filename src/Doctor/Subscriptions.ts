/** Whether the service has a subscription that would deliver its events to us. */
import { Effect, Either } from "effect"
import { isFields } from "../Partner/Wire/Fields.ts"
import { type Interface, pagingOf } from "../Settings/Interface.ts"
import { type Ask, queryOf, sized } from "./Ask.ts"
import { type Finding, finding } from "./Finding.ts"
import { open } from "./OpenPage.ts"

/** The path of the interface; nothing else reads it. */
export const subscriptionsPath = "/webhooks/subscriptions"

const setting = "webhook.publicUrl"

/** Where events must come to; the case of the host makes no difference. */
const place = (address: string): string => (URL.canParse(address) ? new URL(address).href : address)

/** The listener answers 404 where a path has a slash more at its end, or less. */
const withoutSlash = (address: string): string => place(address).replace(/\/+$/, "")

/** Pages of a list that is a handful long. */
const mostPages = 20

/** `publicUrl`: the address of the connection's deliveries, as the service knows it. */
export const subscriptions = Effect.fn("Doctor.subscriptions")(function* (
  ask: Ask,
  profile: Interface,
  publicUrl: string,
) {
  const paging = pagingOf(profile, "subscriptions")
  const wanted = place(publicUrl)
  let found = 0
  let isNear = false
  let cursor: string | undefined
  for (let pages = 0; pages < mostPages; pages++) {
    const after: ReadonlyArray<readonly [string, string | number]> =
      cursor === undefined || paging.cursorParam === null ? [] : [[paging.cursorParam, cursor]]
    const answer = yield* ask(
      "subscriptions",
      subscriptionsPath,
      queryOf([...sized(paging, paging.size), ...after]),
    )
    if (Either.isLeft(answer)) {
      const advice = "Ask the partner whether a subscription delivers to webhook.publicUrl."
      return finding("untried", "warning", `they cannot be read: ${answer.left.detail}`, {
        settings: [setting],
        advice,
      })
    }
    const opened = open(answer.right, profile, { key: "subscriptions", idField: "subscriptionId" })
    if (Either.isLeft(opened)) return opened.left
    const { endCursor, hasNextPage, rows } = opened.right
    found += rows.length
    const addresses = rows.flatMap((row) =>
      isFields(row) && typeof row.endpoint === "string" ? [row.endpoint] : [],
    )
    if (addresses.some((address) => place(address) === wanted))
      return finding("ok", "none", "one delivers to webhook.publicUrl") satisfies Finding
    isNear ||= addresses.some((address) => withoutSlash(address) === withoutSlash(publicUrl))
    cursor = endCursor
    if (!hasNextPage || cursor === undefined) break
  }
  const others =
    found === 0
      ? "there is no subscription"
      : `none of the ${found} that there are delivers to webhook.publicUrl${isNear ? "; one differs from it by a slash at its end" : ""}`
  return finding("wrong", "warning", `${others}: nothing would deliver events`, {
    settings: [setting],
    advice: `Ask the partner for a subscription to ${publicUrl}, or correct webhook.publicUrl.`,
  })
})
