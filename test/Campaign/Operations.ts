/** The operations that a person or the schedule starts, called as the commands call them. */
import { Effect, Layer, Option } from "effect"
import { allBooks, type Book } from "../../src/Book.ts"
import type { Database } from "../../src/Database.ts"
import type { Days } from "../../src/Sync/Backfill/Window.ts"
import { Backfill } from "../../src/Sync/Backfill.ts"
import type { SurfaceOptions } from "../../src/Sync/Runs/Surfaces.ts"
import { Sync } from "../../src/Sync.ts"
import type { BookName, Operation, Simple } from "./History.ts"
import { announce } from "./Operations/Announcing.ts"
import { closeBooks, reopenBooks } from "./Operations/Closing.ts"
import { backupAt, restored } from "./Operations/Copying.ts"
import { exportBooks } from "./Operations/Exporting.ts"
import { cut, stopped } from "./Operations/Interrupting.ts"
import { move } from "./Operations/Moving.ts"
import { nameAccounts } from "./Operations/Naming.ts"
import { replay } from "./Operations/Replaying.ts"
import { noteRuled, reapplied } from "./Operations/Reruling.ts"
import { withWorkers } from "./Operations/Working.ts"
import { correctRate } from "./RateTable.ts"
import { changeRules, type Site, within } from "./Site.ts"

/** The outcome of an operation. */
export interface Outcome {
  /** False where it ended with a typed error, as a command does. */
  readonly done: boolean
  readonly told: string
}

/** Errors with which an operation may end, since faults are injected. Any other error is a defect. */
const expected: ReadonlySet<string> = new Set([
  "SyncIncomplete",
  "SyncBusy",
  "PartnerError",
  "CloseError",
  "ValuationError",
  "ExportError",
  "AsOfError",
  "ReclassifyError",
  "LeaseLost",
])

const field = (error: unknown, key: string): string => {
  const found: unknown = typeof error === "object" && error !== null ? Reflect.get(error, key) : undefined
  return typeof found === "string" ? found : ""
}

const isExpected = (error: unknown): boolean =>
  expected.has(field(error, "_tag")) ||
  (field(error, "_tag") === "DatabaseError" && ["Unreachable", "Conflict"].includes(field(error, "reason")))

/** An operation ended with an error that it may not have. */
class Unexpected extends Error {}

export const books = (site: Site): Effect.Effect<ReadonlyArray<Book>, never, Database> =>
  // After connections were cut, the pool may still hand out a dead one.
  Effect.orDie(Effect.retry(allBooks(Option.some(site.connection)), { times: 5 }))

const sync = (
  site: Site,
  { full = false, quick = false, workers = 0 }: Extract<Simple, { readonly do: "sync" }>,
) => {
  const run = Effect.flatMap(Sync, (service) =>
    service.run({ connection: site.connection, full, quick }),
  ).pipe(
    Effect.map(
      ({ blockingFindings, counters }) => `${counters.entries} entries, ${blockingFindings} blocking`,
    ),
    Effect.provide(Layer.provide(Sync.DefaultWithoutDependencies, site.services)),
  )
  return workers === 0 ? run : withWorkers(site, workers)(run)
}

const backfill = (site: Site, days: Days, which: Partial<SurfaceOptions> = {}) =>
  Effect.flatMap(Backfill, (service) => service.run({ ...which, connection: site.connection, days })).pipe(
    Effect.map(({ accounts }) => `${accounts.length} accounts`),
    Effect.provide(Layer.provide(Backfill.DefaultWithoutDependencies, site.services)),
    Effect.scoped,
  )

/** Does what the command does, and fails as it fails. */
const simple = (site: Site, operation: Simple) =>
  Effect.gen(function* () {
    const all = yield* books(site)
    switch (operation.do) {
      case "sync":
        return yield* sync(site, operation)
      case "events":
        return yield* announce(site)
      case "backfill":
        return yield* backfill(site, operation)
      case "reclassify":
        return yield* move(site, all, operation)
      case "rerule":
        return yield* reapplied(site, all, operation)
      case "rates":
        site.corrected.push(operation)
        return yield* correctRate(operation.date, operation.currency, operation.rate)
      case "close":
        return yield* closeBooks(site, all, operation.accept)
      case "reopen":
        return yield* reopenBooks(site, all)
      case "replay":
        return yield* replay(site)
      case "accounts":
        return yield* nameAccounts(site, all, operation)
      case "export":
        return yield* exportBooks(site, all, operation)
    }
  })

const both = (one: Outcome, other: Outcome): Outcome => ({
  done: one.done && other.done,
  told: `${one.told} | ${other.told}`,
})

/** The outcome of a simple operation. An error that it may end with is an outcome, too. */
const told = <E>(
  of: Pick<Simple, "do">,
  effect: Effect.Effect<string, E, Database>,
): Effect.Effect<Outcome, never, Database> =>
  effect.pipe(
    Effect.map((text): Outcome => ({ done: true, told: text })),
    Effect.catchAll((error) => {
      const text = `${field(error, "_tag")}: ${error instanceof Error ? error.message : String(error)}`
      return isExpected(error)
        ? Effect.succeed<Outcome>({ done: false, told: text })
        : Effect.die(new Unexpected(`${of.do} ended with ${text}`))
    }),
  )

/** Backfills one book, or all where the service does not serve the book's client. */
export const backfillBook = (site: Site, overHttp: boolean, book: BookName, days: Days) => {
  const client = site.world.clients.get(book)
  const which: Partial<SurfaceOptions> =
    book === "org"
      ? { surface: Option.some("organization") }
      : client?.access === "served"
        ? { client: Option.some(client.id) }
        : {}
  return told({ do: "backfill" }, within(site, overHttp)(backfill(site, days, which)))
}

/** Runs one operation. An error that it may end with is an outcome, too. */
export const operate = (
  site: Site,
  overHttp: boolean,
  operation: Operation,
): Effect.Effect<Outcome, never, Database> => {
  const run = (of: Simple) => within(site, overHttp)(simple(site, of))
  switch (operation.do) {
    case "rules":
      return Effect.zipRight(
        Effect.flatMap(books(site), (all) => noteRuled(site, all, null)),
        Effect.as(changeRules(site, operation.rules), {
          done: true,
          told: `${operation.rules.length} rules`,
        }),
      ).pipe(Effect.orDie)
    case "clock": {
      const ahead = operation.minutes * 60_000
      if (operation.after === undefined) site.ahead = ahead
      else site.jump = { after: operation.after, ahead }
      return Effect.succeed({ done: true, told: `${operation.minutes} minutes ahead` })
    }
    case "backup":
      return told({ do: "sync" }, backupAt(site, operation.during, run({ do: "sync" })))
    case "restore":
      return Effect.map(restored(site, books(site)), (text) => ({ done: true, told: text }))
    case "both":
      return Effect.zipWith(
        told(operation.one, run(operation.one)),
        told(operation.other, run(operation.other)),
        both,
        { concurrent: true },
      )
    case "stopped":
      return told(operation.of, stopped(site, operation.after, run(operation.of)))
    case "cut":
      return told(operation.of, cut(site, operation.after, run(operation.of)))
    default:
      return told(operation, run(operation))
  }
}
