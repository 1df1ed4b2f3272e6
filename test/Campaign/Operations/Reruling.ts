/** Applies changed posting rules to what is booked, as `tieout reclassify --rules --apply` does. */
import { Effect, Layer, Option } from "effect"
import type { Book } from "../../../src/Book.ts"
import { Database } from "../../../src/Database.ts"
import { Resources } from "../../../src/Mirror/Resources.ts"
import { reapply } from "../../../src/Reclassify/Reapply.ts"
import { PostingFacts } from "../../../src/Sync/Statements/PostingFacts.ts"
import { idsOf } from "../BookIds.ts"
import type { Operation } from "../History.ts"
import type { Site } from "../Site.ts"
import { asBooked, bookedIn } from "./Booked.ts"

/** Records what was booked under the rules so far; `applied` are the books to which they were applied. */
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

/** Books in which lines were moved: in each book all of them or none. */
const movedIn = (books: ReadonlyArray<Book>, nth: number) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.ruled",
      (sql) => sql<Array<{ readonly book: number }>>`
        select distinct book_id as book from ledger.journal_entries
        where book_id = any (${idsOf(books)}::integer[])
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
    // This also holds where the operation was stopped or cut: some books may be done.
    Effect.onExit((exit) =>
      Effect.flatMap(
        exit._tag === "Success"
          ? Effect.succeed(new Set(books.map(({ bookId }) => bookId)))
          : Effect.retry(movedIn(books, nth), { times: 5 }),
        (applied) => Effect.retry(noteRuled(site, books, applied), { times: 5 }),
      ).pipe(Effect.orDie),
    ),
  )
