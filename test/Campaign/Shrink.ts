/** Shortens a failing history as long as it still fails in the same way. */
import { Effect } from "effect"
import type { History, Step } from "./History.ts"

/** The problem without the details that differ between histories. */
const kindsOf = (problem: string): ReadonlySet<string> =>
  new Set(
    problem.split("; ").map((text) =>
      text
        .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "")
        .replaceAll(/\bH[0-9S]+-[A-Z0-9-]+/g, "")
        .replaceAll(/-?\d[\d.:TZ-]*/g, "")
        .replaceAll(/\b(?:USD|EUR|GBP|JPY|USDT|USDC)\b/g, "")
        .slice(0, 200),
    ),
  )

const isAlike = (one: string, other: string): boolean => {
  const kinds = kindsOf(one)
  return [...kindsOf(other)].some((kind) => kinds.has(kind))
}

/** The book of a step, by the beginning of its names. Null where the step is about all books. */
const bookOf = (step: Step): string | null => {
  if ("operation" in step) return null
  const { event } = step
  const text = JSON.stringify(event)
  const [, client] = /"(k\d+)[."]/.exec(text) ?? []
  return client ?? (["expired", "fault", "pages"].includes(event.what) ? null : "org")
}

export interface Shrunk {
  readonly history: History
  readonly problem: string
  readonly tries: number
}

/** `fails` plays a history and answers the problem, or null. Shrinking ends after so many tries or seconds at the latest. */
export const shrink = <R>(
  history: History,
  problem: string,
  fails: (history: History) => Effect.Effect<string | null, never, R>,
  most: { readonly tries: number; readonly seconds: number },
): Effect.Effect<Shrunk, never, R> =>
  Effect.gen(function* () {
    let best = { history, problem }
    let tries = 0
    const until = performance.now() + most.seconds * 1_000
    const over = (): boolean => tries >= most.tries || performance.now() > until
    const attempt = (steps: ReadonlyArray<Step>) =>
      Effect.gen(function* () {
        if (over() || steps.length === best.history.steps.length) return false
        tries += 1
        const shorter = { ...best.history, steps }
        const found = yield* fails(shorter)
        if (found === null || !isAlike(problem, found)) return false
        best = { history: shorter, problem: found }
        return true
      })
    // Only the book that the problem names, else as few books as possible.
    const books = [...new Set(history.steps.map(bookOf))].filter((book) => book !== null)
    const [, named] = /-(K\d+|ORG)\b/.exec(problem) ?? []
    const only = books.find((book) => book.toUpperCase() === named)
    const alone = (step: Step): boolean => bookOf(step) === null || bookOf(step) === only
    if (only === undefined || !(yield* attempt(history.steps.filter(alone)))) {
      for (const book of books) yield* attempt(best.history.steps.filter((step) => bookOf(step) !== book))
    }
    let again = true
    while (again && !over()) {
      again = false
      for (let size = Math.ceil(best.history.steps.length / 2); size >= 1; size = Math.floor(size / 2)) {
        for (let from = best.history.steps.length - size; from >= 0; from -= size) {
          const { steps } = best.history
          if (yield* attempt([...steps.slice(0, from), ...steps.slice(from + size)])) again = true
        }
      }
    }
    return { ...best, tries }
  })
