import { Effect, Option } from "effect"
import { refuseArchived } from "../../../Book/Archived.ts"
import { chooseBooks } from "../../../Book/ChosenBooks.ts"
import type { Book } from "../../../Book.ts"
import { printed } from "../../../Common/AmountText.ts"
import * as Money from "../../../Common/Money.ts"
import { shiftDate } from "../../../Common/Time.ts"
import { Database } from "../../../Database.ts"
import { type AccountBalance, accountBalances } from "../../../Inquiry/Balance.ts"
import { table } from "../../../Terminal/Table.ts"
import type { Screen } from "../../../Terminal.ts"
import { booksToRead } from "../../BookEnvironment.ts"
import { book } from "../../CommandOptions.ts"
import { command, optional, text } from "../../Declaration.ts"
import { Output } from "../../Output.ts"
import { parseDay } from "../../Period.ts"

const columns = [
  { title: "Code" },
  { title: "Account", shrinks: true },
  { title: "Role", shrinks: true },
  { title: "Cur" },
  { title: "Debit", align: "right" },
  { title: "Credit", align: "right" },
  { title: "Balance", align: "right" },
] as const

interface BookBalance {
  readonly book: string
  readonly accounts: ReadonlyArray<AccountBalance>
  /** Totals per currency; the balance is zero if the books balance. */
  readonly totals: ReadonlyArray<Pick<AccountBalance, "currency" | "debit" | "credit" | "balance">>
}

const sums = ["debit", "credit", "balance"] as const

const atScale = <R extends Pick<AccountBalance, "currency" | (typeof sums)[number]>>(row: R): R => ({
  ...row,
  debit: printed(row.debit, row.currency),
  credit: printed(row.credit, row.currency),
  balance: printed(row.balance, row.currency),
})

const totalsOf = (accounts: ReadonlyArray<AccountBalance>): BookBalance["totals"] =>
  [...new Set(accounts.map(({ currency }) => currency))].sort().map((currency) => {
    const own = accounts.filter((account) => account.currency === currency)
    const sum = (column: (typeof sums)[number]) =>
      Money.toText(Money.total(own.map((account) => Money.fromTrusted(account[column]))))
    return atScale({ currency, debit: sum("debit"), credit: sum("credit"), balance: sum("balance") })
  })

const balanceOf = Effect.fn("Cli.balance.book")(function* ({ bookId, code }: Book, until: string | null) {
  // At the end of a month the balance follows from the turnovers, which are never archived.
  if (until !== null && !shiftDate(until, 1).endsWith("-01"))
    yield* refuseArchived([bookId], until.slice(0, 7), until)
  const accounts = yield* accountBalances(bookId, until)
  return { book: code, accounts: accounts.map(atScale), totals: totalsOf(accounts) } satisfies BookBalance
})

const linesOf = (
  { accounts, book, totals }: BookBalance,
  until: string | null,
  screen: Screen,
): ReadonlyArray<string> => [
  book,
  ...(accounts.length === 0
    ? [until === null ? "Nothing is booked yet." : `Nothing is booked up to ${until}.`]
    : table(
        columns,
        [
          ...accounts.map(({ balance, code, credit, currency, debit, name, role }) => [
            code,
            name,
            role,
            currency,
            debit,
            credit,
            balance,
          ]),
          ...totals.map(({ balance, credit, currency, debit }) => [
            "",
            "Total",
            "",
            currency,
            debit,
            credit,
            balance,
          ]),
        ],
        screen,
      )),
  "",
]

export const balance = command(
  {
    name: "balance",
    summary: "Show the trial balance: every account with its debits, credits and balance.",
    about: ["Everything that is booked, numbered or not, with totals per currency. Reads the database only."],
    takes: {
      asOf: optional(
        text("as-of", "YYYY-MM-DD", "At the end of this day, by the date that the books give an entry"),
        "all",
      ),
      book,
    },
    examples: [["tieout balance --as-of 2026-10-31", "how the books stood at the end of October"]],
  },
  Effect.fn("Cli.balance")(function* ({ asOf, book }) {
    const output = yield* Output
    const database = yield* Database
    const until = Option.isNone(asOf) ? null : yield* parseDay(asOf.value, "--as-of")
    const found = yield* database.transaction(
      Effect.flatMap(chooseBooks(Option.none(), book), (chosen) =>
        Effect.forEach(chosen, (one) => balanceOf(one, until)),
      ),
      { isolation: "repeatable read", readOnly: true },
    )
    yield* output.report({
      document: { asOf: until, books: found },
      lines: () => found.flatMap((one) => linesOf(one, until, output.terminal.stdout)),
    })
  }, Effect.provide(booksToRead)),
)
