/**
 * A simple reader of the plain-text journals that we write (not of others): every transaction balances per currency,
 * every assertion holds, and each account ends at the manifest's closing balance.
 */
import { isUtf8 } from "node:buffer"
import { parse, print } from "../../Common/MinorUnits.ts"
import type { Problems } from "../../Common/Problems.ts"
import type { FileRecord } from "../../Export/Batch/Manifest.ts"
import type { Account } from "../../Format/Entry.ts"
import type { Syntax } from "../../Format/Reading/Plain.ts"
import type { ExpectedAccount } from "../AccountsProof.ts"
import { byteText, decoded, wholeLines } from "../ByteText.ts"

/** What the reader of a plain-text journal needs. Plain data, so that it can be sent to another thread. */
export interface PlainText extends Omit<Syntax, "names"> {
  readonly accounts: ReadonlyArray<{
    /** As the journal calls it. */
    readonly called: string
    readonly account: Account
    readonly closing: bigint
  }>
}

export const plainTextOf = (syntax: Syntax, accounts: ReadonlyArray<ExpectedAccount>): PlainText => {
  const { names, ...grammar } = syntax
  const called = names(accounts)
  return {
    ...grammar,
    accounts: accounts.map(({ account, closing }) => ({
      called: called.get(account) ?? "",
      account,
      closing,
    })),
  }
}

interface Holding {
  readonly expected: PlainText["accounts"][number]
  balance: bigint
}

const unquoted = (currency: string): string => currency.replace(/^"(.*)"$/, "$1")

/** The accounts by currency and name, starting at zero: the file's own opening transaction fills them. */
const holdingsOf = ({ accounts }: PlainText): ReadonlyMap<string, ReadonlyMap<string, Holding>> => {
  const holdings = new Map<string, Map<string, Holding>>()
  for (const expected of accounts) {
    const { currency } = expected.account
    const ofCurrency = holdings.get(currency) ?? new Map<string, Holding>()
    holdings.set(currency, ofCurrency.set(expected.called, { expected, balance: 0n }))
  }
  return holdings
}

const space = 0x20
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

const checkClosing = (holdings: Iterable<Holding>, differs: (message: string) => void): void => {
  for (const { balance, expected } of holdings) {
    const { account, closing } = expected
    if (balance === closing) continue
    const [found, stated] = [print(balance, account.scale), print(closing, account.scale)]
    differs(
      `${account.code} ${account.name} ends at ${found} ${account.currency}, the manifest says ${stated}`,
    )
  }
}

export const checkPlainText = async (
  chunks: AsyncIterable<Buffer>,
  { name: file, rows }: Pick<FileRecord, "name" | "rows">,
  plain: PlainText,
  problems: Problems,
): Promise<void> => {
  const holdings = holdingsOf(plain)
  // Most transactions have one currency.
  let currency = ""
  let sum = 0n
  const others = new Map<string, bigint>()
  let transactions = 0
  let started = 0
  let number = 0

  const finish = () => {
    for (const [unit, amount] of [[currency, sum] as const, ...others]) {
      if (amount !== 0n) problems.add(file, started, `the transaction does not balance in ${unit}`)
    }
    currency = ""
    sum = 0n
    if (others.size > 0) others.clear()
  }
  const sumUp = (unit: string, minor: bigint) => {
    if (currency === "") currency = unit
    if (unit === currency) sum += minor
    else others.set(unit, (others.get(unit) ?? 0n) + minor)
  }
  const holding = (name: string, unit: string): Holding | undefined => {
    const found = holdings.get(unquoted(unit))?.get(name)
    if (found === undefined) problems.add(file, number, `there is no account ${name} in ${unit}`)
    return found
  }
  const assert = (held: Holding, balance: string) => {
    const { scale } = held.expected.account
    if (print(held.balance, scale) !== balance) {
      problems.add(file, number, `asserts ${balance}, the postings so far make ${print(held.balance, scale)}`)
    }
  }
  const post = ([, name = "", amount = "", unit = "", balance]: ReadonlyArray<string>) => {
    const held = holding(name, unit)
    if (held === undefined) return
    const { scale } = held.expected.account
    const decimals = amount.includes(".") ? amount.length - amount.indexOf(".") - 1 : 0
    if (decimals !== scale) return problems.add(file, number, `${amount} has not ${scale} decimals`)
    const minor = parse(amount, scale)
    held.balance += minor
    sumUp(unit, minor)
    if (balance !== undefined) assert(held, balance)
  }
  // Only a transaction and an assertion begin with a date, and only a posting is indented.
  const read = (line: string) => {
    const first = line.charCodeAt(0)
    if (first === space) {
      const posting = transactions > 0 ? plain.posting.exec(decoded(line)) : null
      if (posting !== null) post(posting)
      return
    }
    if (!isDigit(first)) return
    if (plain.transaction.test(line)) {
      finish()
      transactions += 1
      started = number
      return
    }
    const [, name, balance, unit] = plain.assertion?.exec(decoded(line)) ?? []
    if (name === undefined || balance === undefined || unit === undefined) return
    const held = holding(name, unit)
    if (held !== undefined) assert(held, balance)
  }

  for await (const bytes of wholeLines(chunks)) {
    if (!isUtf8(bytes)) {
      problems.add(file, number + 1, "is not UTF-8")
      break
    }
    const text = byteText(bytes)
    let from = 0
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      number += 1
      read(text.slice(from, end))
      from = end + 1
    }
    if (from < text.length) problems.add(file, number + 1, "the last line does not end")
  }
  finish()
  if (transactions !== rows) {
    problems.add(file, null, `has ${transactions} transactions, the manifest says ${rows}`)
  }
  checkClosing(
    [...holdings.values()].flatMap((ofCurrency) => [...ofCurrency.values()]),
    (message) => problems.add(file, null, message),
  )
}
