/**
 * What an accountant is handed for the months, held against the service's own entries: the bridge of a month's close, the open items
 * of an account, the register, and the days of a bank statement.
 */
import { Array as Arr, Effect, Layer } from "effect"
import type { Book } from "../../src/Book.ts"
import { type AccountBridge, bridgesOf } from "../../src/Close/Bridge.ts"
import { readMonths } from "../../src/Close/Month.ts"
import { Database } from "../../src/Database.ts"
import type { Selection } from "../../src/Export/Request/ExportScope.ts"
import { type BankRow, bankRowsOfBooks } from "../../src/Export/Source/BankStatements.ts"
import { type ItemAccount, itemAccounts, type OpenItem, openItems } from "../../src/Inquiry/OpenItems.ts"
import { registersOf } from "../../src/Inquiry/Register.ts"
import { idsOf } from "./BookIds.ts"
import { localDate, monthStart } from "./Calendar.ts"
import { decimal, plain, units } from "./Decimals.ts"
import { nameOf } from "./FactsOf.ts"
import type { Site } from "./Site.ts"
import type { WorldAccount } from "./World.ts"

const selection: Selection = {
  ...{ kind: "all", text: "all", from: null, to: null, since: null, covered: [], asOf: null },
}

/** The months of each book that have postings, `2025-03`. */
const monthsOf = (books: ReadonlyArray<Book>) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.monthsOfBooks",
      (sql) => sql<Array<{ readonly book: number; readonly month: string }>>`
        select book_id as book, to_char(period, 'YYYY-MM') as month from ledger.periods
        where book_id = any (${idsOf(books)}::integer[]) order by 2, 1`,
    ),
  ).pipe(Effect.orDie)

/** The first instant after a month, in epoch milliseconds. */
const endOf = (timeZone: string, month: string): number => {
  const [year = 0, number = 0] = month.split("-").map(Number)
  return monthStart(timeZone, (year - 2025) * 12 + number)
}

/** The service's balance right before an instant. */
const balanceAt = ({ entries, opening }: WorldAccount, at: number): bigint =>
  entries
    .filter(({ occurredAt }) => Date.parse(occurredAt) < at)
    .reduce((sum, { amount, type }) => sum + (type === "CREDIT" ? amount : -amount), opening)

/** What differs, by name. */
const unlike = (
  of: string,
  pairs: Readonly<Record<string, readonly [has: string, ought: string]>>,
): ReadonlyArray<string> =>
  Object.entries(pairs).flatMap(([name, [has, ought]]) =>
    plain(has) === plain(ought) ? [] : [`${of}: ${name} is ${has}, and ought to be ${ought}`],
  )

const bridgeProblems = (site: Site, month: string, accounts: ReadonlyArray<AccountBridge>) => {
  const { timeZone } = site.world.settings
  const [begin, end] = [endOf(timeZone, monthBefore(month)), endOf(timeZone, month)]
  return accounts.flatMap(({ accountId, closing, closingDifference, currency, difference, opening }) => {
    const account = [...site.world.accounts.values()].find(({ id }) => id === accountId)
    if (account === undefined) return [`the bridge of ${month} has an account ${accountId} of nobody`]
    return unlike(`the bridge of ${month} of account ${accountId}`, {
      opening: [opening, decimal(balanceAt(account, begin), currency)],
      closing: [closing, decimal(balanceAt(account, end), currency)],
      "what is left over": [difference, "0"],
      "what is left over in the end": [closingDifference, "0"],
    })
  })
}

const monthBefore = (month: string): string => {
  const [year = 0, number = 0] = month.split("-").map(Number)
  return number === 1 ? `${year - 1}-12` : `${year}-${String(number - 1).padStart(2, "0")}`
}

const sumOf = (currency: string, amounts: ReadonlyArray<string>): string =>
  decimal(
    amounts.reduce((sum, amount) => sum + units(amount, currency), 0n),
    currency,
  )

const itemProblems = (month: string, accounts: ReadonlyArray<ItemAccount>, items: ReadonlyArray<OpenItem>) =>
  accounts.flatMap(({ accountId, balance, currency, role }) =>
    unlike(`the open items of ${role} ${currency} through ${month}`, {
      "their sum": [
        sumOf(
          currency,
          items.filter((item) => item.accountId === accountId).map(({ amount }) => plain(amount)),
        ),
        balance,
      ],
    }),
  )

const registerProblems = (book: Book, month: string, accounts: ReadonlyArray<ItemAccount>) =>
  registersOf(
    book.bookId,
    accounts.map(({ accountId }) => accountId),
    { limit: 1_000_000, period: month },
  ).pipe(
    Effect.map((registers) =>
      Arr.zip(accounts, registers).flatMap(([{ balance, currency, role }, { closing, lines, opening }]) =>
        unlike(`the register of ${role} ${currency} of ${month}`, {
          closing: [closing, balance],
          "its sum": [sumOf(currency, [opening, ...lines.map(({ amount }) => amount)].map(plain)), balance],
        }),
      ),
    ),
  )

/** Every day of which the service's statement was read to its end. */
const dayProblems = (site: Site, account: WorldAccount, rows: ReadonlyArray<BankRow>) => {
  const { timeZone } = site.world.settings
  const days = new Map(rows.map((row) => [row.day, row]))
  const dated = account.entries.map((entry) => ({
    ...{ entry, day: localDate(timeZone, Date.parse(entry.occurredAt)) },
  }))
  const missing = [...new Set(dated.filter(({ entry }) => entry.amount !== 0n).map(({ day }) => day))].filter(
    (day) => day < localDate(timeZone, site.world.now) && !days.has(day),
  )
  return [
    ...missing.map((day) => `the bank statement of account ${account.id} has no ${day}`),
    ...[...days].flatMap(([day, row]) => {
      const until = (last: (each: string) => boolean) =>
        decimal(
          dated
            .filter((one) => last(one.day))
            .reduce(
              (sum, { entry }) => sum + (entry.type === "CREDIT" ? 1n : -1n) * entry.amount,
              account.opening,
            ),
          account.currency,
        )
      return unlike(`the bank statement of account ${account.id} on ${day}`, {
        opening: [row.opening, until((each) => each < day)],
        closing: [row.closing, until((each) => each <= day)],
      })
    }),
  ]
}

/** Everything has been read: what the months show of every account that the service serves. */
export const monthProblems = (site: Site, books: ReadonlyArray<Book>) =>
  Effect.gen(function* () {
    const problems: Array<string> = []
    const all = yield* monthsOf(books)
    for (const month of new Set(all.map(({ month }) => month))) {
      const own = books.filter(({ bookId }) => all.some((one) => one.month === month && one.book === bookId))
      const bridges = yield* bridgesOf(yield* readMonths(own, month), month)
      for (const book of own) {
        const accounts = yield* itemAccounts([book.bookId], null, month)
        const scope = { bookId: book.bookId, asOf: null, accountId: null, through: month }
        const found = [
          ...bridgeProblems(site, month, bridges.get(book.bookId)?.accounts ?? []),
          ...itemProblems(month, accounts, yield* openItems({ ...scope, drill: null })),
          ...itemProblems(month, accounts, yield* openItems({ ...scope, drill: month })),
          ...(yield* registerProblems(book, month, accounts)),
        ]
        problems.push(...found.map((problem) => `book ${book.code}: ${problem}`))
      }
    }
    const rows = yield* bankRowsOfBooks(
      books.map(({ bookId }) => ({ bookId, leaveOut: [] })),
      selection,
    )
    const ofBooks = books.flatMap((book) => rows.of(book))
    const known = new Set(books.map((book) => nameOf(site.world, book)))
    for (const account of site.world.accounts.values()) {
      const client = site.world.clients.get(account.book)
      if (account.access !== "served" || !known.has(account.book)) continue
      // Nothing is read any more of a client that is no longer listed.
      if (client !== undefined && client.access !== "served") continue
      problems.push(
        ...dayProblems(
          site,
          account,
          ofBooks.filter((row) => row.account_id === account.id),
        ),
      )
    }
    return problems
  }).pipe(Effect.provide(Layer.merge(site.services, site.settings)), Effect.orDie)
