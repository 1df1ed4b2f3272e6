/**
 * Whether the service says when it answered, and whether its clock is ours: without the service's own clock no read counts for a
 * close, and where the two differ, one counts that much later.
 */
import { Effect, Either } from "effect"
import { spanText } from "../Common/Time.ts"
import type { Answer } from "../Partner/Attempt.ts"
import type { Ask } from "./Ask.ts"
import { type Finding, finding } from "./Finding.ts"

/** Milliseconds by which clocks may differ without a word: whole seconds of a `Date`, and what time servers leave. */
const agree = 30_000

/** How far the service's clock is ahead of ours (below zero: behind), in milliseconds. It answered while we waited. */
const apartOf = ({ requestedAt, servedAt, took }: Answer): number => {
  if (servedAt === undefined) return 0
  if (servedAt < requestedAt) return servedAt - requestedAt
  return Math.max(0, servedAt - requestedAt - took)
}

const differing = (apart: number): Finding =>
  finding(
    "wrong",
    "warning",
    `the service's clock is ${spanText(Math.abs(apart) / 1_000)} ${apart > 0 ? "ahead of" : "behind"} this machine's: a read counts for a close by the clock that is behind`,
    {
      advice:
        "Set this machine's clock by a time server; if the service's is wrong, tell the partner, and sync again once both clocks are past the month's end.",
    },
  )

/** Counts the answers that come, and those with a `Date` header among them; the furthest `Date` counts. */
export const watching = (ask: Ask): { readonly ask: Ask; readonly verdict: () => Finding | undefined } => {
  let [answers, dated, furthest] = [0, 0, 0]
  return {
    ask: (kind, path, query) =>
      Effect.tap(ask(kind, path, query), (answer) =>
        Effect.sync(() => {
          if (Either.isLeft(answer)) return
          answers += 1
          if (answer.right.servedAt !== undefined) dated += 1
          const apart = apartOf(answer.right)
          if (Math.abs(apart) > Math.abs(furthest)) furthest = apart
        }),
      ),
    verdict: () => {
      if (dated === answers) return Math.abs(furthest) > agree ? differing(furthest) : undefined
      const some = dated === 0 ? "none" : `only ${dated}`
      const verb = dated > 1 ? "have" : "has"
      return finding(
        "wrong",
        "warning",
        `${some} of the ${answers} answers ${verb} a Date header: nothing proves when a list or a statement was read`,
        {
          advice: "Ask the partner for it: without it a person must accept every stream at every close.",
        },
      )
    },
  }
}
