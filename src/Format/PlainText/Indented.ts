/** The journal syntax that hledger and ledger share: header line, comment lines, indented postings with assertions. */

import { print } from "../../Common/MinorUnits.ts"
import { remembered } from "../../Common/Remembered.ts"
import type { Account, Entry, OpenedAccount } from "../Entry.ts"
import type { FormatContext, Writer } from "../Format.ts"
import { oneLine } from "../OneLine.ts"
import type { Totals } from "../Totals.ts"
import { nameOf } from "./AccountNames.ts"
import { indentedNames } from "./IndentedNames.ts"
import { asText } from "./LineLength.ts"
import { openingDate, runningBalances } from "./RunningBalances.ts"

/** A comment or a second field would begin at these; brackets hold dates or virtual accounts. */
const inText = remembered((text) =>
  asText(oneLine(text).replaceAll("|", "/").replaceAll(";", ",").replaceAll("[", "(").replaceAll("]", ")")),
)

/** A tag's value ends at a comma. */
const inTag = remembered((text) => oneLine(inText(text).replaceAll(",", " ")))

export const tags = ["kind", "counterparty", "reference", "late", "reverses"] as const

const commodity = remembered((currency) => (/^[A-Za-z]+$/.test(currency) ? currency : `"${currency}"`))

/** `1000.00`: an amount with a currency's own decimals, which is how both programs show its balances. */
export const sample = (scale: number): string => print(1000n * 10n ** BigInt(scale), scale)

const amount = (minor: bigint, { scale, currency }: Account): string =>
  `${print(minor, scale)} ${commodity(currency)}`

const tagLine = (tag: (typeof tags)[number], text: string | null): string => {
  const value = text === null ? "" : inTag(text)
  return value === "" ? "" : `    ; ${tag}: ${value}\n`
}

const tagLines = (entry: Entry): string =>
  tagLine("kind", entry.kind) +
  tagLine("counterparty", entry.counterparty) +
  tagLine("reference", entry.externalReference) +
  tagLine("late", entry.lateFor) +
  tagLine("reverses", entry.reverses)

export interface Dialect {
  /** The declarations that stand before everything else; `accounts` are the names, each once. */
  readonly declare: (
    currencies: ReadonlyArray<{ readonly commodity: string; readonly scale: number }>,
    accounts: ReadonlyArray<string>,
  ) => string
}

const declarations = (
  dialect: Dialect,
  accounts: ReadonlyArray<OpenedAccount>,
  names: ReadonlyArray<string>,
) => {
  const scales = new Map(accounts.map(({ account }) => [account.currency, account.scale]))
  const currencies = [...scales].sort(([a], [b]) => (a < b ? -1 : 1))
  return dialect.declare(
    currencies.map(([currency, scale]) => ({ commodity: commodity(currency), scale })),
    [...new Set(names)].sort(),
  )
}

/** The transactions of a journal: every amount explicit, no prices, and an assertion after every cash line. */
const transactionsOf = ({ accounts }: FormatContext) => {
  const names = indentedNames(accounts)
  const balances = runningBalances(accounts)

  const posting = (account: Account, minor: bigint, after: bigint): string => {
    const assertion = account.role === "cash" ? ` = ${amount(after, account)}` : ""
    return `    ${nameOf(names, account)}  ${amount(minor, account)}${assertion}\n`
  }

  const transaction = (entry: Entry): string => {
    let text = `\n${entry.effectiveDate} * (${entry.number}) ${inText(entry.description)}`.trimEnd()
    text += `\n${tagLines(entry)}`
    for (const { account, minor } of entry.lines)
      text += posting(account, minor, balances.add(account, minor))
    return text
  }

  let chunks = 0
  let last: { readonly entries: ReadonlyArray<Entry>; readonly text: string } = { entries: [], text: "" }
  return {
    names,
    posting,
    /** The text of the `nth` chunk, made once for both journals. */
    text: (nth: number, entries: ReadonlyArray<Entry>): string => {
      if (nth === chunks + 1) {
        last = { entries, text: entries.map(transaction).join("") }
        chunks = nth
      } else if (nth !== chunks || entries !== last.entries) {
        throw new Error("the journals of one book are written from the same entries, side by side")
      }
      return last.text
    },
  }
}

/** hledger and ledger read the same transactions: their journals of one export differ in the declarations alone. */
const shared = new WeakMap<FormatContext, ReturnType<typeof transactionsOf>>()

export const indentedWriter = (context: FormatContext, dialect: Dialect): Writer => {
  const { accounts, book, from, scope } = context
  const transactions = shared.get(context) ?? transactionsOf(context)
  shared.set(context, transactions)
  let rows = 0
  let chunks = 0
  let day: string | undefined

  const opening = (date: string | undefined): string => {
    const open = accounts.filter((opened) => opened.opening !== 0n)
    if (open.length === 0 || date === undefined) return ""
    rows += 1
    const lines = open.map(({ account, opening: minor }) => transactions.posting(account, minor, minor))
    return `\n${date} * Opening balances\n${lines.join("")}`
  }

  /** A transaction that moves nothing: it asserts each account's exact balance, whatever precision a program balances with. */
  const closing = (totals: Totals): string => {
    if (day === undefined) return ""
    const lines = accounts.flatMap(({ account, opening: before }) => {
      const { credit, debit } = totals.of(account)
      const after = before + debit - credit
      return before === 0n && debit === 0n && credit === 0n
        ? []
        : [`    ${nameOf(transactions.names, account)}  ${amount(0n, account)} = ${amount(after, account)}\n`]
    })
    if (lines.length === 0) return ""
    rows += 1
    return `\n${day} * Closing balances\n${lines.join("")}`
  }

  return {
    begin: (firstDate) => {
      day = openingDate(from, firstDate)
      const title = `; ${inText(`${book.code} ${book.name}`)}, ${scope}\n`
      return title + declarations(dialect, accounts, [...transactions.names.values()]) + opening(day)
    },
    write: (entries) => {
      rows += entries.length
      day = entries.at(-1)?.effectiveDate ?? day
      chunks += 1
      return transactions.text(chunks, entries)
    },
    end: closing,
    rows: () => rows,
  }
}
