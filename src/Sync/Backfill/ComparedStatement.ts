/** Reads a window of one account's statement again, and compares it with the mirror. Writes nothing. */
import { Effect, Either, Option } from "effect"
import type { Book } from "../../Book.ts"
import { Database } from "../../Database.ts"
import type { MirroredAccount } from "../../Mirror/MirroredAccounts.ts"
import type { Page } from "../../Partner/Lists/Page.ts"
import { forEachPageUntil } from "../../Partner/Lists/Walk.ts"
import { isCursorExpired, isRejected } from "../../Partner/PartnerError.ts"
import { Partner, type StatementEntry } from "../../Partner.ts"
import { inCurrency } from "../Statements/AccountCurrency.ts"
import { knownRows } from "../Statements/KnownRows.ts"
import { type Comparison, isAsMirrored, leadsElsewhere, WindowReading } from "./Compare.ts"
import { beginning, filteredStart, places, type Start, starts } from "./KnownStatement.ts"
import type { Window } from "./Window.ts"

/** Gives the function that reads and compares. */
export const comparedStatement = Effect.gen(function* () {
  const database = yield* Database
  const partner = yield* Partner
  const knownAmong = yield* knownRows

  const readFrom = Effect.fn("Backfill.Statements.readFrom")(function* (
    book: Book,
    account: MirroredAccount,
    window: Window,
    start: Start,
  ) {
    const place = yield* places(database, book, account.accountId, window, start.filtered)
    const reading = new WindowReading(
      window,
      { first: place.first, last: start.filtered ? place.last : account.entries },
      start,
    )
    let atEnd = false
    const inAccount = ({ rows }: Page<StatementEntry>) => rows.map(inCurrency(account.currency))
    const read = (rows: ReturnType<typeof inAccount>) =>
      rows.flatMap((row) => (Either.isRight(row) ? [row.right] : []))
    // Times may be a little out of order within a page: a whole page must lie behind the window. What came late stands further
    // back: everything that is booked up to the window's end is read. Pages are asked for ahead of those that are compared, so
    // that each of the two keeps count by itself.
    const behind = () => {
      let isLastMet = Option.getOrElse(start.position, () => 0n) >= place.last
      return (found: ReadonlyArray<StatementEntry>) => {
        isLastMet ||= found.some(({ entryId }) => entryId === place.last_entry)
        return isLastMet && found.length > 0 && found.every(({ occurredAt }) => occurredAt >= window.end)
      }
    }
    const [isAskedBehind, isBehind] = [behind(), behind()]
    const statement =
      start.filtered && partner.statementWithin !== null
        ? partner.statementWithin(account.accountId, { from: window.start, to: window.end })
        : partner.statement(account.accountId)
    const pages = statement(start.cursor, (page) => !isAskedBehind(read(inAccount(page))))
    yield* forEachPageUntil(pages, (page) =>
      Effect.gen(function* () {
        reading.found.askedAt ??= page.askedAt
        const rows = inAccount(page)
        const found = read(rows)
        const known = yield* knownAmong(book, account.accountId, rows)
        reading.take(rows, known)
        atEnd = !page.hasNextPage
        return isBehind(found)
      }),
    )
    return reading.finish(atEnd)
  })

  /**
   * Where the profile has filters, they save reading what lies outside the window. What they mean is the service's
   * affair: only the whole statement can say that it differs from the books.
   */
  const fromBeginning = Effect.fn("Backfill.Statements.fromBeginning")(function* (
    book: Book,
    account: MirroredAccount,
    window: Window,
  ) {
    if (partner.statementWithin !== null) {
      const start = yield* filteredStart(database, book, account.accountId, window)
      const found = yield* readFrom(book, account, window, start).pipe(
        Effect.map(Option.liftPredicate(isAsMirrored)),
        Effect.catchIf(isRejected, (error) =>
          Effect.as(
            Effect.logWarning(
              `${error.message}. The whole statement is read instead; look at \`interface.filters\``,
            ),
            Option.none<Comparison>(),
          ),
        ),
      )
      if (Option.isSome(found)) return found.value
    }
    return yield* readFrom(book, account, window, beginning)
  })

  /**
   * From the newest boundary before the window that still leads to what follows it, or from the beginning: a cursor may be
   * expired, or lead elsewhere by now.
   */
  return Effect.fn("Backfill.Statements.compared")(function* (
    book: Book,
    account: MirroredAccount,
    window: Window,
  ) {
    for (const boundary of yield* starts(database, book, account.accountId, window)) {
      const found = yield* readFrom(book, account, window, boundary).pipe(
        Effect.map(Option.liftPredicate((read: Comparison) => !leadsElsewhere(read, boundary.position))),
        Effect.catchIf(isCursorExpired, () => Effect.succeed(Option.none<Comparison>())),
      )
      if (Option.isSome(found)) return found.value
    }
    return yield* fromBeginning(book, account, window)
  })
})
