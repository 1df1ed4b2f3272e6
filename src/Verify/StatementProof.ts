/** Proves `statement.csv`: each account's chain of running balances from the opening to the closing balance of the books. */
import { join } from "node:path"
import { chunksOf } from "../Common/Files/RegularFile.ts"
import { Problems } from "../Common/Problems.ts"
import { isUuid } from "../Common/Uuid.ts"
import type { FileRecord, Manifest, StatementSpan } from "../Export/Batch/Manifest.ts"
import { exact, must, scale, signed } from "../Format/Reading/Booked.ts"
import { Unreadable } from "../Format/Reading/LineCells.ts"
import type { ExpectedAccount } from "./AccountsProof.ts"
import { type CsvRow, readCsv } from "./CsvRows.ts"
import { Fingerprint } from "./Fingerprint.ts"
import { type Side, statedBytes } from "./JournalComparison.ts"

/** By the contract, independently of the writer. */
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

const time = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/

const rowOf = (row: CsvRow, book: string): StatementRow => {
  const cell = (column: (typeof statementColumns)[number]): string =>
    row.cell(statementColumns.indexOf(column))
  const [account, entry, position, occurred] = [
    cell("account"),
    cell("entry_id"),
    cell("position"),
    cell("occurred_at"),
  ]
  const journal = cell("journal_number")
  must(isUuid(account) && isUuid(entry), "an identifier cannot be read")
  must(/^(?:0|-?[1-9]\d*)$/.test(position), `${JSON.stringify(position)} is no position`)
  must(time.test(occurred), `${JSON.stringify(occurred)} is no time`)
  must(
    journal.startsWith(`${book}-`) && /-\d{4}-\d{2}-\d{6,}$/.test(journal),
    `${JSON.stringify(journal)} is no journal number of ${book}`,
  )
  return {
    account,
    currency: cell("currency"),
    position: BigInt(position),
    amount: signed(cell("amount"), "."),
    balance: exact(cell("balance_after"), "."),
    journal,
  }
}

const readStatement = (
  chunks: AsyncIterable<Buffer>,
  name: string,
  book: string,
  problems: Problems,
  visit: (row: StatementRow, line: number) => void,
): Promise<number> =>
  readCsv(chunks, name, statementColumns, problems, (row, line) => {
    let found: StatementRow
    try {
      found = rowOf(row, book)
    } catch (cause) {
      if (!(cause instanceof Unreadable)) throw cause
      return problems.add(name, line, cause.message)
    }
    visit(found, line)
  })

/** The state of reading one account. */
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

/** The books' cash on an account: the opening balance, and the movements of entries that are not the statement's. */
const bookedOf = (span: StatementSpan, accounts: ReadonlyArray<ExpectedAccount>) => {
  const own = accounts.filter(
    ({ account }) => account.role === "cash" && account.partnerAccountId === span.account,
  )
  const unit = (minor: bigint, ownScale: number) => minor * 10n ** BigInt(scale - ownScale)
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
  // The books' closing balance, less the movements here, is their balance before; the rest belongs to other batches.
  if (bookedOf(span, accounts) - decimal(span.amount) + decimal(span.outside) !== decimal(span.before)) {
    differs(`${span.account}: its balances are not those of the books' cash`)
  }
}

const accountKey = (currency: string, account: string): string => `${currency}\n${account}`

/** How the statement is compared with the journal's cash. */
export const statementSide = (folder: string, name: string, manifest: Manifest): Side => ({
  name,
  own: new Fingerprint(),
  read: async (visit) => {
    const chunks = chunksOf(join(folder, name), statedBytes(manifest, name))
    await readStatement(chunks, name, manifest.book.code, new Problems(), (row, line) =>
      visit(
        { group: row.journal, account: accountKey(row.currency, row.account), amount: row.amount },
        name,
        line,
      ),
    )
  },
  expected: ({ account: { account }, head }) =>
    account.role === "cash" && head.sourceType === "statement_entry"
      ? { group: head.number, account: accountKey(account.currency, account.partnerAccountId ?? "") }
      : undefined,
})

export const checkStatement = async (
  chunks: AsyncIterable<Buffer>,
  { name, rows: stated }: FileRecord,
  manifest: Manifest,
  accounts: ReadonlyArray<ExpectedAccount>,
  problems: Problems,
  { own }: Side,
): Promise<void> => {
  const chains = new Map<string, Chain>()
  let last = ""
  const follow = ({ account, amount, balance, currency, position }: StatementRow, line: number): void => {
    if (account < last) problems.add(name, line, `the account ${account} is out of order`)
    last = account
    let chain = chains.get(account)
    if (chain === undefined) {
      const before = balance - amount
      chain = { before, currency, position: position - 1n, balance: before, amount: 0n, entries: 0, gaps: 0 }
      chains.set(account, chain)
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
  }
  const rows = await readStatement(chunks, name, manifest.book.code, problems, (row, line) => {
    follow(row, line)
    own.add(row.journal, accountKey(row.currency, row.account), row.amount)
  })
  if (rows !== stated) problems.add(name, null, `has ${rows} rows, the manifest says ${stated}`)
  const spans = manifest.statements ?? []
  for (const span of spans) {
    checkSpan(span, chains.get(span.account), accounts, (message) => problems.add(name, null, message))
  }
  const named = new Set(spans.map(({ account }) => account))
  for (const account of chains.keys()) {
    if (!named.has(account)) problems.add(name, null, `the manifest has no account ${account}`)
  }
}
