/** From any figure or identifier back to what the service said, and when. */
import { Effect } from "effect"
import { Database } from "./Database.ts"
import { accountNumber } from "./Explain/ExplainAccountNumber.ts"
import { batchLines } from "./Explain/ExplainBatchLine.ts"
import { referenceEntries } from "./Explain/ExplainReference.ts"
import { ofSubject } from "./Explain/ExplainSubject.ts"
import { summary } from "./Explain/ExplainSummary.ts"
import { type Step, stepsOf } from "./Explain/Step.ts"
import type { NothingFound } from "./Inquiry/NothingFound.ts"
import { parseReferences } from "./Inquiry/Reference.ts"
import { subjectsOf } from "./Inquiry/SubjectSearch.ts"

export interface Explanation {
  readonly id: string
  readonly steps: ReadonlyArray<Step>
}

/** What an identifier stands for, step by step. */
const ofIdentifier = Effect.fn("Explain.ofIdentifier")(function* (id: string) {
  const references = parseReferences(id)
  const subjects = yield* subjectsOf(id, references)
  const [first] = subjects
  const steps: Array<Step> = []
  if (first !== undefined) steps.push(...(yield* summary(id, references, first)))
  for (const subject of subjects) steps.push(...(yield* ofSubject(subject)))
  return steps
})

/**
 * Numbers that only a file has: of accounts, and of lines, which lead on to their journal entry if only one has the number; or
 * else references of payments, which lead on if one movement has them.
 */
const ofFileNumber = Effect.fn("Explain.ofFileNumber")(function* (id: string, unknown: NothingFound) {
  const accounts = yield* accountNumber(id)
  const lines = yield* batchLines(id)
  if (accounts.length + lines.length === 0) {
    const { movement, steps } = yield* referenceEntries(id)
    if (steps.length === 0) return yield* unknown
    return [...steps, ...(movement === null ? [] : yield* ofIdentifier(movement))]
  }
  const [line, ...more] = lines
  const document = more.length === 0 ? line?.document : null
  const journal = typeof document === "string" ? yield* ofIdentifier(document) : []
  return [...accounts, ...stepsOf(lines), ...journal]
})

export class Explain extends Effect.Service<Explain>()("tieout/Explain", {
  effect: Effect.gen(function* () {
    const database = yield* Database

    /**
     * Takes a journal number in any form that a file has, a finding (`F12`), a quarantined row (`Q12`), a client's code, a batch (`ORG/4`), a bank
     * statement's number, what a file calls an account, a line of Business Central's journal (`ORG/4:1000`), an external reference, or the identifier of an account, statement entry, deposit, withdrawal, conversion, receivable or client, or its first 8 characters or more.
     * Fails with `NothingFound`.
     */
    const explain = Effect.fn("Explain.explain")(
      function* (id: string) {
        const steps = yield* ofIdentifier(id).pipe(
          Effect.catchTag("NothingFound", (nothing) =>
            nothing.reason === "Unknown" ? ofFileNumber(id, nothing) : nothing,
          ),
        )
        return { id, steps } satisfies Explanation
      },
      Effect.provideService(Database, database),
      (effect) => database.transaction(effect, { isolation: "repeatable read", readOnly: true }),
    )

    return { explain }
  }),
}) {}
