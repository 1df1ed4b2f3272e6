import { Array as Arr, Effect, Option } from "effect"
import { refuseArchived } from "../../../Book/Archived.ts"
import { chooseBooks } from "../../../Book/ChosenBooks.ts"
import { printed } from "../../../Common/AmountText.ts"
import { count, counted, harmless } from "../../../Common/Text.ts"
import { Database } from "../../../Database.ts"
import {
  accountsOf,
  type Register,
  type RegisterAccount,
  type RegisterLine,
  registersOf,
} from "../../../Inquiry/Register.ts"
import { listed } from "../../../Terminal/JsonPieces.ts"
import { table } from "../../../Terminal/Table.ts"
import type { Screen } from "../../../Terminal.ts"
import { booksToRead } from "../../BookEnvironment.ts"
import { book, period } from "../../CommandOptions.ts"
import { argument, command, wholeNumber, withDefault } from "../../Declaration.ts"
import { UsageError } from "../../Failure.ts"
import { Output } from "../../Output.ts"
import { parseMonth } from "../../Period.ts"

const columns = [
  { title: "Date" },
  { title: "Number" },
  { title: "Description", shrinks: true },
  { title: "Counterparty", shrinks: true },
  { title: "Reference", shrinks: true },
  { title: "Debit", align: "right" },
  { title: "Credit", align: "right" },
  { title: "Balance", align: "right" },
] as const

interface BookRegister extends RegisterAccount, Register {
  readonly book: string
}

/** `ORG-2026-10-000007` */
const numberOf = (book: string, { number, period }: RegisterLine): string =>
  number === null ? "" : `${book}-${period}-${String(number).padStart(6, "0")}`

const linesOf = (register: BookRegister, screen: Screen): ReadonlyArray<string> => {
  const { archived, book, closing, code, currency, lines, name, opening, postings } = register
  const money = (amount: string) => printed(amount, currency)
  const end = (what: string, amount: string) => ["", "", what, "", "", "", "", money(amount)]
  const more = postings - lines.length
  return [
    `${book}  ${code}  ${harmless(name)}  ${currency}`,
    ...table(
      columns,
      [
        end("Opening", opening),
        ...lines.map((line) => {
          const debit = !line.amount.startsWith("-")
          const amount = money(debit ? line.amount : line.amount.slice(1))
          return [
            line.date,
            numberOf(book, line),
            line.description,
            line.counterparty ?? "",
            line.externalReference ?? "",
            debit ? amount : "",
            debit ? "" : amount,
            money(line.balance),
          ]
        }),
        end("Closing", closing),
      ],
      screen,
    ),
    ...(archived === null
      ? []
      : [`What was booked through ${archived} is archived, and is in the opening balance.`]),
    ...(more > 0
      ? [`The last ${count(lines.length)} of ${counted(postings, "posting")}; --limit N shows more.`]
      : []),
    "",
  ]
}

const documentOf = (register: BookRegister): object => {
  const { currency } = register
  return {
    ...register,
    opening: printed(register.opening, currency),
    closing: printed(register.closing, currency),
    lines: listed(register.lines, (line) => ({
      ...line,
      number: numberOf(register.book, line) || null,
      amount: printed(line.amount, currency),
      balance: printed(line.balance, currency),
    })),
  }
}

/** No book has an account of that code. */
export const noAccount = (code: string) =>
  new UsageError({
    detail: `There is no account with the code ${JSON.stringify(code)}.`,
    advice: "Run tieout balance to see the accounts that there are.",
  })

const read = Effect.fn("Cli.register.read")(function* (
  code: string,
  book: Option.Option<string>,
  what: { readonly limit: number; readonly period: string | null },
) {
  const books = new Map((yield* chooseBooks(Option.none(), book)).map((one) => [one.bookId, one.code]))
  const accounts = yield* accountsOf([...books.keys()], code)
  const ids = [...new Set(accounts.map(({ bookId }) => bookId))]
  if (what.period !== null) yield* refuseArchived(ids, what.period)
  const registers: Array<BookRegister> = []
  for (const bookId of ids) {
    const own = accounts.filter((account) => account.bookId === bookId)
    const found = yield* registersOf(
      bookId,
      own.map(({ accountId }) => accountId),
      what,
    )
    for (const [account, register] of Arr.zip(own, found)) {
      const { bookId: _, ...described } = account
      registers.push({ book: books.get(bookId) ?? "", ...described, ...register })
    }
  }
  return registers.length === 0 ? yield* noAccount(code) : registers
})

export const register = command(
  {
    name: "register",
    summary: "Show the postings of an account with the balance after each.",
    about: [
      "CODE: an account's code, as tieout balance shows it; all accounts that have it, each by itself.",
    ],
    takes: {
      code: argument.text("CODE"),
      period: period("Only this month, from its opening to its closing balance"),
      book,
      limit: withDefault(wholeNumber("limit", "N", "The last N postings of each account"), 100),
    },
    examples: [["tieout register 6850 --period 2026-10", "the fees of October"]],
  },
  Effect.fn("Cli.register")(function* ({ book, code, limit, period: text }) {
    const output = yield* Output
    const database = yield* Database
    const period = Option.isNone(text) ? null : yield* parseMonth(text.value)
    if (limit < 1) {
      return yield* new UsageError({
        detail: `--limit: found ${limit}, expected a whole number from 1.`,
        advice: "",
      })
    }
    const registers = yield* database.transaction(read(code, book, { limit, period }), {
      isolation: "repeatable read",
      readOnly: true,
    })
    yield* output.report({
      document: { period, accounts: registers.map(documentOf) },
      lines: () => registers.flatMap((one) => linesOf(one, output.terminal.stdout)),
    })
  }, Effect.provide(booksToRead)),
)
