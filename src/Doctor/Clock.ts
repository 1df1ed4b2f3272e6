/** Whether the service says when it answered: without the service's own clock no read counts for a close. */
import { Effect, Either } from "effect"
import type { Ask } from "./Ask.ts"
import { type Finding, finding } from "./Finding.ts"

/** Counts the answers that come, and those with a `Date` header among them. */
export const watching = (ask: Ask): { readonly ask: Ask; readonly verdict: () => Finding | undefined } => {
  let [answers, dated] = [0, 0]
  return {
    ask: (kind, path, query) =>
      Effect.tap(ask(kind, path, query), (answer) =>
        Effect.sync(() => {
          if (Either.isLeft(answer)) return
          answers += 1
          if (answer.right.servedAt !== undefined) dated += 1
        }),
      ),
    verdict: () => {
      if (dated === answers) return undefined
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
