import { Effect, Option } from "effect"
import { archivedThrough, refuseArchived } from "../../../Book/Archived.ts"
import { byBook } from "../../../Book/ByBook.ts"
import { chooseBooks } from "../../../Book/ChosenBooks.ts"
import { printed, printedSum } from "../../../Common/AmountText.ts"
import { count, counted, harmless } from "../../../Common/Text.ts"
import { Database } from "../../../Database.ts"
import { type ItemAccount, itemAccounts, type OpenItem, openItems } from "../../../Inquiry/OpenItems.ts"
import { accountsOf } from "../../../Inquiry/Register.ts"
import { listed } from "../../../Terminal/JsonPieces.ts"
import { moreLines, mostRows, table } from "../../../Terminal/Table.ts"
import type { Screen } from "../../../Terminal.ts"
import { booksToRead } from "../../BookEnvironment.ts"
import { book, period } from "../../CommandOptions.ts"
import { argument, command } from "../../Declaration.ts"
import { UsageError } from "../../Failure.ts"
import { Output } from "../../Output.ts"
import { parseMonth } from "../../Period.ts"
import { noAccount } from "./RegisterCommand.ts"

/** On fewer columns, counterparty and reference are left out: identifiers are never cut. */
const roomyColumns = 110

const columns = [
  { title: "Since" },
  { title: "Days", align: "right" },
  { title: "What" },
  { title: "Amount", align: "right" },
  { title: "State", shrinks: true },
] as const
const partyColumns = [
  { title: "Counterparty", shrinks: true },
  { title: "Reference", shrinks: true },
] as const

interface BookItems extends Omit<ItemAccount, "bookId"> {
  readonly book: string
  /** The last month whose movements are archived, and cannot be listed here (`2024-12`). */
  readonly archived: string | null
  readonly items: ReadonlyArray<OpenItem>
}

const stateOf = ({ itemType, status }: OpenItem): string =>
  [itemType === null ? "" : itemType.toLowerCase().replaceAll("_", " "), status ?? ""]
    .filter((part) => part !== "")
    .join(", ")

const monthRow = (month: string, { archived }: BookItems): string =>
  archived !== null && month <= archived
    ? "the whole month (archived)"
    : "the whole month (--period lists it)"

const rowOf = (item: OpenItem, account: BookItems): ReadonlyArray<string> =>
  item.line === "month"
    ? [item.period ?? "", "", monthRow(item.period ?? "", account), printed(item.amount, account.currency)]
    : [
        item.since,
        item.age === null ? "" : count(item.age),
        item.itemId ?? "",
        printed(item.amount, account.currency),
        stateOf(item),
        item.counterparty ?? "",
        item.externalReference ?? "",
      ]

const linesOf = (account: BookItems, period: string | null, screen: Screen): ReadonlyArray<string> => {
  const { balance, book, code, currency, items, name } = account
  const which = period === null ? "the balance" : `the balance at the end of ${period}`
  return [
    `${book}  ${code}  ${harmless(name)}`,
    ...(items.length === 0
      ? []
      : table(
          screen.width < roomyColumns ? columns : [...columns, ...partyColumns],
          items.slice(0, mostRows).map((item) => rowOf(item, account)),
          screen,
        )),
    ...moreLines(items.length - mostRows),
    items.length === 0
      ? `Nothing is open; ${which}: ${printedSum(balance, currency)}`
      : `${counted(items.length, "line")}, together ${which}: ${printedSum(balance, currency)}`,
    "",
  ]
}

const documentOf = ({ accountId: _, archived: _archived, ...account }: BookItems): object => ({
  ...account,
  balance: printed(account.balance, account.currency),
  items: listed(account.items, ({ accountId: _account, ...item }) => ({
    ...item,
    amount: printed(item.amount, account.currency),
  })),
})

const read = Effect.fn("Cli.items.read")(function* (
  code: string,
  book: Option.Option<string>,
  period: string | null,
) {
  const books = yield* chooseBooks(Option.none(), book)
  const ids = books.map(({ bookId }) => bookId)
  const accounts = byBook(yield* itemAccounts(ids, code, period))
  const found: Array<BookItems> = []
  for (const { bookId, code: bookCode } of books) {
    const own = accounts.of({ bookId })
    if (own.length === 0) continue
    if (period !== null) yield* refuseArchived([bookId], period)
    const archived = yield* archivedThrough(bookId)
    for (const { bookId: _, ...account } of own) {
      // The items open at the end of the month, and that month's movements one by one.
      const items = yield* openItems({
        bookId,
        through: period,
        asOf: null,
        accountId: account.accountId,
        drill: period,
      })
      found.push({ book: bookCode, ...account, archived, items })
    }
  }
  if (found.length > 0) return found
  if ((yield* accountsOf(ids, code)).length === 0) return yield* noAccount(code)
  return yield* new UsageError({
    detail: `${code} is cash, income or expenses: its balance is not made of open items.`,
    advice: `Run tieout register ${code} to see its postings.`,
  })
})

export const items = command(
  {
    name: "items",
    summary: "Show what the balance of a balance-sheet account is made of, with its age.",
    about: [
      "Item by item: suspense, conversions in transit, loans, and deposits and withdrawals that are not final or came back in part.",
      "The rest of a clearing account, payouts and trading: a line per closed month, and what stands in the open months movement by",
      "movement. The lines of an account add up to its balance. What settles an item in your accounting system is not known here.",
    ],
    takes: {
      code: argument.text("CODE"),
      period: period(
        "What was open at the end of this month (a closed one: at its close), with its own movements one by one",
      ),
      book,
    },
    examples: [
      ["tieout items 1990", "what stands in suspense, and since when"],
      ["tieout items 1020 --period 2026-09", "what was in clearing at the end of September"],
    ],
  },
  Effect.fn("Cli.items")(function* ({ book, code, period: text }) {
    const output = yield* Output
    const database = yield* Database
    const period = Option.isNone(text) ? null : yield* parseMonth(text.value)
    const accounts = yield* database.transaction(read(code, book, period), {
      isolation: "repeatable read",
      readOnly: true,
    })
    yield* output.report({
      document: { period, accounts: accounts.map(documentOf) },
      lines: () => accounts.flatMap((one) => linesOf(one, period, output.terminal.stdout)),
    })
  }, Effect.provide(booksToRead)),
)
