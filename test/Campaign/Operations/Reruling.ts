/** Posting rules that were changed are applied to what is booked, as `tieout reclassify --rules --apply` does it. */
import { Effect, Layer, Option } from "effect"
import type { Book } from "../../../src/Book.ts"
import { Database } from "../../../src/Database.ts"
import { Resources } from "../../../src/Mirror/Resources.ts"
import { reapply } from "../../../src/Reclassify/Reapply.ts"
import { PostingFacts } from "../../../src/Sync/Statements/PostingFacts.ts"
import type { Operation } from "../History.ts"
import type { Site } from "../Site.ts"
import { asBooked, bookedIn } from "./Booked.ts"

/** Takes down what was booked by the rules so far; `applied`: the books that they were applied to. */
export const noteRuled = (site: Site, books: ReadonlyArray<Book>, applied: ReadonlySet<number> | null) =>
  Effect.forEach(
    books.filter(({ bookId }) => applied === null || applied.has(bookId)),
    ({ bookId }) =>
      Effect.map(bookedIn(bookId), (entries) => {
        const open = entries.flatMap((one) => (one.open ? [one.entry] : []))
        const { rules } = site
        site.ruled.push({
          ...{ bookId, rules, booked: asBooked(entries) },
          applied: applied === null ? null : new Set(open),
        })
      }),
    { discard: true },
  )

const reasonOf = (nth: number): string => `rules ${nth}`

/** Books that something was moved in: all of it, or nothing. */
const movedIn = (books: ReadonlyArray<Book>, nth: number) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.ruled",
      (sql) => sql<Array<{ readonly book: number }>>`
        select distinct book_id as book from ledger.journal_entries
        where book_id = any (${`{${books.map(({ bookId }) => bookId).join(",")}}`}::integer[])
          and description = ${`Reclassification by rules: ${reasonOf(nth)}`}`,
    ),
  ).pipe(Effect.map((rows) => new Set(rows.map(({ book }) => book))))

export const reapplied = (
  site: Site,
  books: ReadonlyArray<Book>,
  { nth }: Extract<Operation, { readonly do: "rerule" }>,
) =>
  Effect.gen(function* () {
    const moved: Array<string> = []
    for (const { code } of books) {
      const [of] = yield* reapply({
        ...{ book: Option.some(code), preview: false, reason: reasonOf(nth), who: "jane" },
      })
      moved.push(`${code}: ${of?.changed} of ${of?.looked}, ${of?.keptByHand} kept`)
    }
    return moved.join(", ")
  }).pipe(
    Effect.provide(Layer.provideMerge(Layer.merge(Resources.Default, PostingFacts.Default), site.services)),
    // Also where it was stopped, or cut: of some books it may have been done.
    Effect.onExit((exit) =>
      Effect.flatMap(
        exit._tag === "Success"
          ? Effect.succeed(new Set(books.map(({ bookId }) => bookId)))
          : Effect.retry(movedIn(books, nth), { times: 5 }),
        (applied) => Effect.retry(noteRuled(site, books, applied), { times: 5 }),
      ).pipe(Effect.orDie),
    ),
  )
