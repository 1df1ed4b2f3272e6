/** Closes every book's next month that is over, and reopens the latest closed one. */
import { Effect, Option } from "effect"
import type { Book } from "../../../src/Book.ts"
import { close, reopen } from "../../../src/Close.ts"
import { Database } from "../../../src/Database.ts"
import { localDate, monthStart } from "../Calendar.ts"
import type { Site } from "../Site.ts"

const person = { who: "controller", reason: null }

interface Months {
  readonly next: string | null
  readonly closed: string | null
}

const monthsOf = (book: Book) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.months",
      (sql) => sql<Array<Months>>`
        select to_char(l.closed_through, 'YYYY-MM') as closed, (
          select to_char(min(p.period), 'YYYY-MM') from ledger.periods p
          where p.book_id = l.book_id and p.status = 'open') as next
        from ledger.locks l where l.book_id = ${book.bookId}`,
    ),
  ).pipe(Effect.map(([row]) => row ?? { next: null, closed: null }))

/** A defect: a month was closed although something had not been read since its end and nobody accepted that. */
class ClosedUnread extends Error {}

const proved = (site: Site, book: Book, period: string) => {
  const { timeZone } = site.world.settings
  const [year = 0, month = 0] = period.split("-").map(Number)
  const end = monthStart(timeZone, (year - 2025) * 12 + month)
  const name = Option.match(book.clientId, {
    onNone: () => "org",
    onSome: (id) => [...site.world.clients.values()].find((one) => one.id === id)?.name ?? "org",
  })
  const unread = site.world.unreadSince(name, end)
  return unread.length === 0
    ? Effect.void
    : Effect.die(
        new ClosedUnread(`${book.code} ${period} was closed, unread since its end: ${unread.join(", ")}`),
      )
}

const closeOne = (site: Site, book: Book, accept: boolean, through?: string) =>
  Effect.gen(function* () {
    const { next } = yield* monthsOf(book)
    // By our clock, which may be wrong.
    const today = localDate(site.world.settings.timeZone, site.world.now + site.ahead)
    if (next === null || next >= today.slice(0, 7)) return `${book.code}: no month is over`
    if (through !== undefined && next > through) return `${book.code}: closed through ${through}`
    const request = { period: next, book: Option.some(book.code), dryRun: false, ...person }
    const [first] = yield* close({ ...request, accept: [] })
    if (first?.state === "closed" && first.accepted.length === 0) yield* proved(site, book, next)
    if (first === undefined || first.state !== "blocked" || !accept)
      return `${book.code} ${next}: ${first?.state}`
    const answered = first.blockers.flatMap(({ id }) => (id === null ? [] : [{ id, reason: "known" }]))
    const [then] = yield* close({ ...request, accept: answered })
    return `${book.code} ${next}: ${then?.state} with ${answered.length} accepted`
  })

/** `through`: no later month. */
export const closeBooks = (site: Site, books: ReadonlyArray<Book>, accept: boolean, through?: string) =>
  Effect.map(
    Effect.forEach(books, (book) => closeOne(site, book, accept, through)),
    (told) => told.join(", "),
  ).pipe(Effect.provide(site.services))

export const reopenBooks = (site: Site, books: ReadonlyArray<Book>) =>
  Effect.map(
    Effect.forEach(books, (book) =>
      Effect.gen(function* () {
        const { closed } = yield* monthsOf(book)
        if (closed === null) return `${book.code}: nothing is closed`
        yield* reopen(closed, Option.some(book.code), { who: "controller", reason: "a late invoice" })
        return `${book.code}: ${closed} opened`
      }),
    ),
    (told) => told.join(", "),
  ).pipe(Effect.provide(site.services))
