/** What a person or the schedule does with Tieout, called as the commands call it. */
import { Effect, Layer, Option } from "effect"
import { allBooks, type Book } from "../../src/Book.ts"
import { Database } from "../../src/Database.ts"
import { Sync } from "../../src/Sync.ts"
import type { Operation, Simple } from "./History.ts"
import { type Site, within } from "./Site.ts"

/** What became of an operation. `failed`: an error that says what is wrong, as a command ends with it. */
export interface Outcome {
  readonly done: boolean
  readonly told: string
}

/** Errors with which an operation may end, given what happens to it. Anything else is a defect. */
const expected: ReadonlySet<string> = new Set([
  "SyncIncomplete",
  "SyncBusy",
  "PartnerError",
  "CloseError",
  "ValuationError",
  "ExportError",
  "ReclassifyError",
  "LeaseLost",
])

const tagOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "_tag" in error ? String(error._tag) : "?"

const isExpected = (error: unknown): boolean =>
  expected.has(tagOf(error)) ||
  (tagOf(error) === "DatabaseError" &&
    typeof error === "object" &&
    error !== null &&
    "reason" in error &&
    (error.reason === "Unreachable" || error.reason === "Conflict"))

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** A failure that no operation may end with. */
export class Unexpected extends Error {}

export const books = (site: Site): Effect.Effect<ReadonlyArray<Book>, never, Database> =>
  Effect.orDie(allBooks(Option.some(site.connection)))

const sync = (site: Site, { full = false, quick = false }: { full?: boolean; quick?: boolean }) =>
  Effect.flatMap(Sync, (service) => service.run({ connection: site.connection, full, quick })).pipe(
    Effect.map(({ blockingFindings, counters }) => `${counters.entries} entries, ${blockingFindings} blocking`),
    Effect.provide(Sync.Default),
  )

const simple = (site: Site, operation: Simple) => {
  switch (operation.do) {
    case "sync":
      return sync(site, operation)
    default:
      return Effect.succeed("not yet")
  }
}

/** Runs one operation; what it may fail with is its outcome. */
export const operate = (
  site: Site,
  overHttp: boolean,
  operation: Operation,
): Effect.Effect<Outcome, never, Database> => {
  const run = (of: Simple) =>
    simple(site, of).pipe(
      within(site, overHttp),
      Effect.map((told): Outcome => ({ done: true, told })),
      Effect.catchAll((error) =>
        isExpected(error)
          ? Effect.succeed<Outcome>({ done: false, told: `${tagOf(error)}: ${textOf(error)}` })
          : Effect.die(new Unexpected(`${of.do} ended with ${tagOf(error)}: ${textOf(error)}`)),
      ),
    )
  switch (operation.do) {
    case "both":
      return Effect.zipWith(run(operation.one), run(operation.other), both, { concurrent: true })
    case "stopped":
    case "cut":
      return run(operation.of)
    default:
      return run(operation)
  }
}

const both = (one: Outcome, other: Outcome): Outcome => ({
  done: one.done && other.done,
  told: `${one.told} | ${other.told}`,
})

export const nothingProvided = Layer.empty
