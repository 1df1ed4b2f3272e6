/** Proves `statement.csv`: each account's chain of running balances from the opening to the closing balance of the books. */
import { join } from "node:path"
import type { Problems } from "../Common/Problems.ts"
import type { FileRecord, Manifest, StatementSpan } from "../Export/Batch/Manifest.ts"
import { exact, must, scale, signed } from "../Format/Reading/Booked.ts"
import { cellsOf, textOf, Unreadable } from "../Format/Reading/Cells.ts"
import type { ExpectedAccount } from "./AccountsProof.ts"
import type { Side } from "./Beside.ts"
import { linesOf } from "./FileLines.ts"

/** As the contract has them, not as the writer does. */
const statementColumns = [
  "account",
  "currency",
  "position",
  "entry_id",
  "occurred_at",
  "amount",
  "balance_after",
  "journal_number",
] as const

interface StatementRow {
  readonly account: string
  readonly currency: string
  readonly position: bigint
  readonly amount: bigint
  readonly balance: bigint
  readonly journal: string
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const time = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/

const rowOf = (bytes: Buffer, book: string): StatementRow => {
  const cells = cellsOf(textOf(bytes, "utf-8"), ",").map(({ text }) => text)
  must(cells.length === statementColumns.length, `has ${cells.length} cells`)
  const [account = "", currency = "", position = "", entry = "", occurred = "", amount = "", balance = ""] =
    cells
  const journal = cells[7] ?? ""
  must(uuid.test(account) && uuid.test(entry), "an identifier cannot be read")
  must(/^(?:0|-?[1-9]\d*)$/.test(position), `${JSON.stringify(position)} is no position`)
  must(time.test(occurred), `${JSON.stringify(occurred)} is no time`)
  must(
    journal.startsWith(`${book}-`) && /-\d{4}-\d{2}-\d{6,}$/.test(journal),
    `${JSON.stringify(journal)} is no journal number of ${book}`,
  )
  return {
    account,
    currency,
    position: BigInt(position),
    amount: signed(amount, "."),
    balance: exact(balance, "."),
    journal,
  }
}

const readStatement = async (
  folder: string,
  name: string,
  book: string,
  visit: (row: StatementRow | string, line: number) => void,
): Promise<number> => {
  let line = 0
  const read = (bytes: Buffer): StatementRow | undefined => {
    if (line > 1) return rowOf(bytes, book)
    must(bytes.toString("utf8") === statementColumns.join(), `the header is not ${statementColumns.join()}`)
    return undefined
  }
  try {
    for await (const bytes of linesOf(join(folder, name))) {
      line += 1
      try {
        const row = read(bytes)
        if (row !== undefined) visit(row, line)
      } catch (cause) {
        if (!(cause instanceof Unreadable)) throw cause
        visit(cause.message, line)
      }
    }
  } catch (cause) {
    if (!(cause instanceof Unreadable)) throw cause
    visit(cause.message, line + 1)
  }
  return Math.max(0, line - 1)
}

/** Where the reading of one account stands. */
interface Chain {
  readonly before: bigint
  readonly currency: string
  position: bigint
  balance: bigint
  amount: bigint
  entries: number
  gaps: number
}

const decimal = (text: string): bigint => exact(text, ".")

/** Cash that the books hold of an account: at the opening, and what other entries than the statement's moved. */
const bookedOf = (span: StatementSpan, accounts: ReadonlyArray<ExpectedAccount>) => {
  const own = accounts.filter(
    ({ account }) => account.role === "cash" && account.partnerAccountId === span.account,
  )
  const unit = (minor: bigint, of: number) => minor * 10n ** BigInt(scale - of)
  return own.reduce((sum, { account, closing }) => sum + unit(closing, account.scale), 0n)
}

const checkSpan = (
  span: StatementSpan,
  chain: Chain | undefined,
  accounts: ReadonlyArray<ExpectedAccount>,
  differs: (message: string) => void,
): void => {
  const found = chain ?? { before: 0n, balance: 0n, amount: 0n, entries: 0, gaps: 0 }
  if (found.entries !== span.entries || found.amount !== decimal(span.amount)) {
    differs(
      `${span.account}: its entries are not those that the manifest counts (${span.entries}, ${span.amount})`,
    )
  }
  if (found.before !== decimal(span.before)) {
    differs(`${span.account}: does not begin at the manifest's balance ${span.before}`)
  }
  if (found.balance !== decimal(span.after)) {
    differs(`${span.account}: does not end at the manifest's balance ${span.after}`)
  }
  if (found.gaps !== span.gaps)
    differs(`${span.account}: has ${found.gaps} gaps, the manifest says ${span.gaps}`)
  // What the books close with, less the movements here, is what they held before; the rest is other batches'.
  if (bookedOf(span, accounts) - decimal(span.amount) + decimal(span.outside) !== decimal(span.before)) {
    differs(`${span.account}: its balances are not those of the books' cash`)
  }
}

export const checkStatement = async (
  folder: string,
  { name, rows: stated }: FileRecord,
  manifest: Manifest,
  accounts: ReadonlyArray<ExpectedAccount>,
  problems: Problems,
): Promise<Side> => {
  const chains = new Map<string, Chain>()
  let last = ""
  const follow = ({ account, amount, balance, currency, position }: StatementRow, line: number): void => {
    if (account < last) problems.add(name, line, `the account ${account} is out of order`)
    last = account
    const known = chains.get(account)
    const chain = known ?? {
      before: balance - amount,
      currency,
      position: position - 1n,
      balance: balance - amount,
      amount: 0n,
      entries: 0,
      gaps: 0,
    }
    if (position <= chain.position) problems.add(name, line, `the position ${position} is out of order`)
    else if (position > chain.position + 1n) chain.gaps += 1
    else if (chain.balance + amount !== balance) {
      problems.add(name, line, "the balance is not the one before and the amount")
    }
    if (currency !== chain.currency) problems.add(name, line, `the currency is ${currency}`)
    chain.position = position
    chain.balance = balance
    chain.amount += amount
    chain.entries += 1
    chains.set(account, chain)
  }
  const rows = await readStatement(folder, name, manifest.book.code, (row, line) => {
    if (typeof row === "string") problems.add(name, line, row)
    else follow(row, line)
  })
  if (rows !== stated) problems.add(name, null, `has ${rows} rows, the manifest says ${stated}`)
  const spans = manifest.statements ?? []
  for (const span of spans) {
    checkSpan(span, chains.get(span.account), accounts, (message) => problems.add(name, null, message))
  }
  for (const account of chains.keys()) {
    if (!spans.some((span) => span.account === account)) {
      problems.add(name, null, `the manifest has no account ${account}`)
    }
  }
  return {
    name,
    read: async (visit) => {
      await readStatement(folder, name, manifest.book.code, (row, line) => {
        if (typeof row === "string") return
        visit(
          { group: row.journal, account: `${row.currency}\n${row.account}`, amount: row.amount },
          name,
          line,
        )
      })
    },
    expected: ({ account: { account }, number, sourceType }) =>
      account.role === "cash" && sourceType === "statement_entry"
        ? { group: number, account: `${account.currency}\n${account.partnerAccountId ?? ""}` }
        : undefined,
  }
}
