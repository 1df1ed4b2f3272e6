/**
 * A simple reader of the plain-text journals that we write (not of others): every transaction balances per currency,
 * every assertion holds, and each account ends at the manifest's closing balance.
 */
import { join } from "node:path"
import { createInterface } from "node:readline"
import { parse, print } from "../Common/MinorUnits.ts"
import type { Problems } from "../Common/Problems.ts"
import { streamOf } from "../Common/RegularFile.ts"
import type { FileRecord } from "../Export/Batch/Manifest.ts"
import type { Syntax } from "../Format/Reading/Plain.ts"
import type { ExpectedAccount } from "./AccountsProof.ts"

interface Holding {
  readonly expected: ExpectedAccount
  balance: bigint
}

const unquoted = (currency: string): string => currency.replace(/^"(.*)"$/, "$1")

/** The accounts by name and currency, all at zero: the file's own opening transaction fills them. */
const holdingsOf = (
  accounts: ReadonlyArray<ExpectedAccount>,
  syntax: Syntax,
): ReadonlyMap<string, Holding> => {
  const names = syntax.names(accounts)
  return new Map(
    accounts.map((expected) => {
      const { account } = expected
      return [`${names.get(account) ?? ""}\n${account.currency}`, { expected, balance: 0n }]
    }),
  )
}

const lines = async function* (path: string) {
  const source = (await streamOf(path)).setEncoding("utf8")
  try {
    yield* createInterface({ input: source, crlfDelay: Number.POSITIVE_INFINITY })
  } finally {
    source.destroy()
  }
}

const checkClosing = (holdings: ReadonlyMap<string, Holding>, differs: (message: string) => void): void => {
  for (const { balance, expected } of holdings.values()) {
    const { account, closing } = expected
    if (balance === closing) continue
    const [found, stated] = [print(balance, account.scale), print(closing, account.scale)]
    differs(
      `${account.code} ${account.name} ends at ${found} ${account.currency}, the manifest says ${stated}`,
    )
  }
}

export const checkPlainText = async (
  folder: string,
  { name: file, rows }: FileRecord,
  syntax: Syntax,
  accounts: ReadonlyArray<ExpectedAccount>,
  problems: Problems,
): Promise<void> => {
  const holdings = holdingsOf(accounts, syntax)
  const sums = new Map<string, bigint>()
  let transactions = 0
  let started = 0
  let number = 0

  const finish = () => {
    for (const [currency, sum] of sums) {
      if (sum !== 0n) problems.add(file, started, `the transaction does not balance in ${currency}`)
    }
    sums.clear()
  }
  const holding = (name: string, currency: string): Holding | undefined => {
    const found = holdings.get(`${name}\n${unquoted(currency)}`)
    if (found === undefined) problems.add(file, number, `there is no account ${name} in ${currency}`)
    return found
  }
  const assert = (held: Holding, balance: string) => {
    const { scale } = held.expected.account
    if (print(held.balance, scale) !== balance) {
      problems.add(file, number, `asserts ${balance}, the postings so far make ${print(held.balance, scale)}`)
    }
  }
  const post = ([, name = "", amount = "", currency = "", balance]: ReadonlyArray<string>) => {
    const held = holding(name, currency)
    if (held === undefined) return
    const { scale } = held.expected.account
    const decimals = amount.includes(".") ? amount.length - amount.indexOf(".") - 1 : 0
    if (decimals !== scale) return problems.add(file, number, `${amount} has not ${scale} decimals`)
    const minor = parse(amount, scale)
    held.balance += minor
    sums.set(currency, (sums.get(currency) ?? 0n) + minor)
    if (balance !== undefined) assert(held, balance)
  }
  const read = (line: string) => {
    if (syntax.transaction.test(line)) {
      finish()
      transactions += 1
      started = number
      return
    }
    const posting = transactions > 0 ? syntax.posting.exec(line) : null
    if (posting !== null) return post(posting)
    const [, name, balance, currency] = syntax.assertion?.exec(line) ?? []
    if (name === undefined || balance === undefined || currency === undefined) return
    const held = holding(name, currency)
    if (held !== undefined) assert(held, balance)
  }

  for await (const line of lines(join(folder, file))) {
    number += 1
    read(line)
  }
  finish()
  if (transactions !== rows) {
    problems.add(file, null, `has ${transactions} transactions, the manifest says ${rows}`)
  }
  checkClosing(holdings, (message) => problems.add(file, null, message))
}
