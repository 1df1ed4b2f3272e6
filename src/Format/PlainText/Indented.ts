/** The journal syntax that hledger and ledger share: header line, comment lines, indented postings with assertions. */

import { print } from "../../Common/MinorUnits.ts"
import type { Account, Entry, OpenedAccount } from "../Entry.ts"
import type { FormatContext, Writer } from "../Format.ts"
import { oneLine } from "../OneLine.ts"
import type { Totals } from "../Totals.ts"
import { nameOf } from "./AccountNames.ts"
import { openingDate, runningBalances } from "./Balances.ts"
import { indentedNames } from "./IndentedNames.ts"

/** A comment or a second field would begin at these; brackets hold dates or virtual accounts. */
const inText = (text: string): string =>
  oneLine(text).replaceAll("|", "/").replaceAll(";", ",").replaceAll("[", "(").replaceAll("]", ")")

/** A tag's value ends at a comma. */
const inTag = (text: string): string => oneLine(inText(text).replaceAll(",", " "))

export const tags = ["kind", "counterparty", "reference", "late", "reverses"] as const

const commodity = (currency: string): string => (/^[A-Za-z]+$/.test(currency) ? currency : `"${currency}"`)

/** `1000.00`: an amount with a currency's own decimals, which is how both programs show its balances. */
export const sample = (scale: number): string => print(1000n * 10n ** BigInt(scale), scale)

const amount = (minor: bigint, { scale, currency }: Account): string =>
  `${print(minor, scale)} ${commodity(currency)}`

const tagLines = (entry: Entry): string => {
  const values: { readonly [tag in (typeof tags)[number]]: string | null } = {
    kind: entry.kind,
    counterparty: entry.counterparty,
    reference: entry.externalReference,
    late: entry.lateFor,
    reverses: entry.reverses,
  }
  let text = ""
  for (const tag of tags) {
    const value = inTag(values[tag] ?? "")
    if (value !== "") text += `    ; ${tag}: ${value}\n`
  }
  return text
}

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

/** A journal with every amount explicit, no prices, an assertion after every cash line, and one of every account at the end. */
export const indentedWriter = ({ accounts, book, from, scope }: FormatContext, dialect: Dialect): Writer => {
  const names = indentedNames(accounts)
  const balances = runningBalances(accounts)
  let rows = 0
  let day: string | undefined

  const posting = (account: Account, minor: bigint, after: bigint): string => {
    const assertion = account.role === "cash" ? ` = ${amount(after, account)}` : ""
    return `    ${nameOf(names, account)}  ${amount(minor, account)}${assertion}\n`
  }

  const opening = (date: string | undefined): string => {
    const open = accounts.filter((opened) => opened.opening !== 0n)
    if (open.length === 0 || date === undefined) return ""
    rows += 1
    const lines = open.map(({ account, opening: minor }) => posting(account, minor, minor))
    return `\n${date} * Opening balances\n${lines.join("")}`
  }

  const transaction = (entry: Entry): string => {
    let text = `\n${entry.effectiveDate} * (${entry.number}) ${inText(entry.description)}`.trimEnd()
    text += `\n${tagLines(entry)}`
    for (const { account, minor } of entry.lines)
      text += posting(account, minor, balances.add(account, minor))
    return text
  }

  /** Nothing moves: what each account has come to is asserted, exactly, whatever precision a program balances with. */
  const closing = (totals: Totals): string => {
    const used = accounts.filter(({ account, opening: before }) => {
      const { credit, debit } = totals.of(account)
      return before !== 0n || debit !== 0n || credit !== 0n
    })
    if (used.length === 0 || day === undefined) return ""
    rows += 1
    const lines = used.map(
      ({ account }) =>
        `    ${nameOf(names, account)}  ${amount(0n, account)} = ${amount(balances.of(account), account)}\n`,
    )
    return `\n${day} * Closing balances\n${lines.join("")}`
  }

  return {
    begin: (firstDate) => {
      day = openingDate(from, firstDate)
      const title = `; ${inText(`${book.code} ${book.name}`)}, ${scope}\n`
      return title + declarations(dialect, accounts, [...names.values()]) + opening(day)
    },
    write: (entries) => {
      rows += entries.length
      day = entries.at(-1)?.effectiveDate ?? day
      return entries.map(transaction).join("")
    },
    end: closing,
    rows: () => rows,
  }
}
