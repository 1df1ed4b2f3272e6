/**
 * `books.beancount`: passes `bean-check --no-cache books.beancount`. Tolerances are switched off, because beancount infers
 * some that hide errors; a `balance` directive means the start of its day, so each day's end is asserted on the next day.
 */

import { print } from "../../Common/MinorUnits.ts"
import { remembered } from "../../Common/Remembered.ts"
import { shiftDate } from "../../Common/Time.ts"
import type { Account, Entry } from "../Entry.ts"
import { definePlain, type FormatContext, type Writer } from "../Format.ts"
import { oneLine } from "../OneLine.ts"
import { nameOf } from "./AccountNames.ts"
import { checkDigits, checkLines } from "./BeancountDigits.ts"
import { beancountNames } from "./BeancountNames.ts"
import { beancountReading } from "./BeancountReader.ts"
import { openingDate, runningBalances } from "./RunningBalances.ts"

const quoted = remembered((text) => `"${oneLine(text).replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`)

const header = `option "inferred_tolerance_default" "*:0"
option "inferred_tolerance_multiplier" "0"
plugin "beancount.plugins.check_commodity"
plugin "beancount.plugins.leafonly"
plugin "beancount.plugins.noduplicates"
plugin "beancount.plugins.onecommodity"
`

const metadataLine = (key: string, value: string | null): string =>
  value === null || value === "" ? "" : `  ${key}: ${quoted(value)}\n`

const metadata = (entry: Entry): string =>
  `  number: "${entry.number}"\n` +
  metadataLine("kind", entry.kind) +
  metadataLine("counterparty", entry.counterparty) +
  metadataLine("reference", entry.externalReference) +
  metadataLine("late", entry.lateFor) +
  metadataLine("reverses", entry.reverses)

const openWriter = ({ accounts, book, from, scope }: FormatContext): Writer => {
  const names = beancountNames(accounts)
  const balances = runningBalances(accounts)
  /** Cash accounts that moved on `day` and wait for their assertion. */
  const moved = new Set<Account>()
  let day = ""
  let rows = 0

  const amount = (minor: bigint, { scale, currency }: Account): string => `${print(minor, scale)} ${currency}`
  const posting = (account: Account, minor: bigint): string =>
    `  ${nameOf(names, account)}  ${amount(minor, account)}\n`
  const assertion = (date: string, account: Account, after: bigint): string =>
    `${date} balance ${nameOf(names, account)}  ${print(after, account.scale)} ~ 0 ${account.currency}\n`

  const endOfDay = (): string => {
    if (moved.size === 0) return ""
    const next = shiftDate(day, 1)
    const text = [...moved].map((account) => assertion(next, account, balances.of(account))).join("")
    moved.clear()
    return `\n${text}`
  }

  const declarations = (date: string): string => {
    const currencies = [...new Set(accounts.map(({ account }) => account.currency))].sort()
    const held = new Map<string, Set<string>>()
    for (const { account } of accounts) {
      const name = nameOf(names, account)
      held.set(name, (held.get(name) ?? new Set()).add(account.currency))
    }
    const opens = [...held].map(([name, own]) => `${date} open ${name} ${[...own].join(",")}\n`)
    return `${currencies.map((currency) => `${date} commodity ${currency}\n`).join("")}${opens.join("")}`
  }

  const opening = (date: string): string => {
    const open = accounts.filter((opened) => opened.opening !== 0n)
    if (open.length === 0) return ""
    checkLines(
      open.map(({ account, opening: minor }) => ({ account, minor })),
      "the opening balances",
    )
    rows += 1
    const lines = open.map((opened) => posting(opened.account, opened.opening)).join("")
    const cash = open.filter(({ account }) => account.role === "cash")
    const next = shiftDate(date, 1)
    const asserted = cash.map((opened) => assertion(next, opened.account, opened.opening)).join("")
    return `\n${date} * "Opening balances"\n${lines}\n${asserted}`
  }

  const transaction = (entry: Entry): string => {
    let text = entry.effectiveDate === day ? "" : endOfDay()
    day = entry.effectiveDate
    text += `\n${day} * ${quoted(entry.description)} ^${entry.number}\n${metadata(entry)}`
    checkLines(entry.lines, entry.number)
    for (const { account, minor } of entry.lines) {
      const after = balances.add(account, minor)
      checkDigits(
        after,
        account,
        () => `, the balance of account ${account.code} (${account.name}) after ${entry.number},`,
      )
      if (account.role === "cash") moved.add(account)
      text += posting(account, minor)
    }
    return text
  }

  return {
    begin: (firstDate) => {
      const date = openingDate(from, firstDate)
      const title = `;; ${oneLine(`${book.code} ${book.name}`)}, ${scope}\n${header}`
      return date === undefined ? title : `${title}\n${declarations(date)}${opening(date)}`
    },
    write: (entries) => {
      rows += entries.length
      return entries.map(transaction).join("")
    },
    end: endOfDay,
    rows: () => rows,
  }
}

export const beancount = definePlain({
  name: "beancount",
  description: "a journal for beancount",
  file: "books.beancount",
  order: "date",
  open: openWriter,
  reading: beancountReading,
})
