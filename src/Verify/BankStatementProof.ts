/**
 * Proves a file of bank statements: each day leads from its opening to its closing balance, each day to the next one, and all
 * of them have what the manifest says. Entries that the batch's journal also has are compared with it one by one.
 */
import { join } from "node:path"
import { chunksOf } from "../Common/Files/RegularFile.ts"
import type { Problems } from "../Common/Problems.ts"
import type { BankSpan, FileRecord, Manifest } from "../Export/Batch/Manifest.ts"
import { exact } from "../Format/Reading/Booked.ts"
import { textOf, Unreadable } from "../Format/Reading/LineCells.ts"
import type { ReadEntry, ReadStatement, StatementReader } from "../Format/Reading/Statements.ts"
import { linesOf } from "./FileLines.ts"
import { Fingerprint } from "./Fingerprint.ts"
import type { Side } from "./JournalComparison.ts"

/** Calls `visit` with each statement and the line on which it ends, or with why a line cannot be read. */
const readStatements = async (
  chunks: AsyncIterable<Buffer>,
  reader: StatementReader,
  visit: (found: ReadStatement | string, line: number) => void,
): Promise<void> => {
  const lines = reader()
  let number = 0
  try {
    for await (const bytes of linesOf(chunks)) {
      number += 1
      const found = lines.line(textOf(bytes, "utf-8"))
      if (found !== undefined) visit(found, number)
    }
    lines.end()
  } catch (cause) {
    // Nothing after a line that is not XML can be read.
    if (!(cause instanceof Unreadable)) throw cause
    visit(cause.message, number)
  }
}

/** Whether the journal of the batch has the very entries of the statements. */
const isJournalled = ({ account, entries, journalled }: BankSpan, { statements = [] }: Manifest): boolean =>
  journalled === entries && statements.some((span) => span.account === account && span.entries === entries)

const keyOf = (currency: string, account: string): string => `${currency}\n${account}`

/** How the statements of a format are compared with the journal's cash. */
export const bankSide = (folder: string, name: string, reader: StatementReader, manifest: Manifest): Side => {
  const compared = new Set(
    (manifest.bankStatements ?? [])
      .filter((span) => isJournalled(span, manifest))
      .map(({ account }) => account),
  )
  const code = manifest.book.code.length + 1
  return {
    name,
    own: new Fingerprint(),
    read: async (visit) => {
      for (const { account = "", bytes, currency = "", format, name: file } of manifest.files) {
        if (format !== name || !compared.has(account)) continue
        await readStatements(chunksOf(join(folder, file), bytes), reader, (found, line) => {
          if (typeof found === "string") return
          for (const { amount, journal } of found.entries) {
            visit({ group: journal ?? "", account: keyOf(currency, account), amount }, file, line)
          }
        })
      }
    },
    expected: ({ account: { account }, head }) =>
      account.role === "cash" &&
      head.sourceType === "statement_entry" &&
      compared.has(account.partnerAccountId ?? "")
        ? { group: head.number.slice(code), account: keyOf(account.currency, account.partnerAccountId ?? "") }
        : undefined,
  }
}

const checkEntries = (
  { closing, day, entries, opening, stated }: ReadStatement,
  wrong: (message: string) => void,
): void => {
  const sum = (entries: ReadonlyArray<ReadEntry>): bigint =>
    entries.reduce((all, { amount }) => all + amount, 0n)
  const credits = sum(entries.filter(({ amount }) => amount > 0n))
  const debits = -sum(entries.filter(({ amount }) => amount < 0n))
  if (opening + credits - debits !== closing) {
    wrong(`the entries of ${day} do not lead from its opening to its closing balance`)
  }
  if (entries.length !== stated.entries || credits !== stated.credits || debits !== stated.debits) {
    wrong(`the entries of ${day} are not those that it sums up`)
  }
  if (entries.some((entry) => entry.day !== day)) wrong(`an entry of another day stands in ${day}`)
}

export const checkBankStatements = async (
  chunks: AsyncIterable<Buffer>,
  { account = "", currency = "", name, rows }: FileRecord,
  manifest: Manifest,
  reader: StatementReader,
  problems: Problems,
  { own }: Side,
): Promise<void> => {
  const span = manifest.bankStatements?.find((each) => each.account === account)
  if (span === undefined) {
    problems.add(name, null, `the manifest says nothing of the statements of ${account}`)
    return
  }
  const compared = isJournalled(span, manifest)
  const { from, to } = manifest.scope
  const seen = new Set<string>()
  let first: ReadStatement | undefined
  let last: ReadStatement | undefined
  let days = 0
  let entries = 0
  const next = (statement: ReadStatement, line: number): void => {
    const wrong = (message: string) => problems.add(name, line, message)
    const { day, id, opening } = statement
    if (statement.account !== account.replaceAll("-", "") || statement.currency !== currency) {
      wrong(`the statement of ${day} is of another account`)
    }
    if (seen.has(id)) wrong(`the identifier ${id} stands twice`)
    seen.add(id)
    if (last !== undefined && day <= last.day) wrong(`${day} stands after ${last.day}`)
    if (last !== undefined && opening !== last.closing) {
      wrong(`${day} does not begin with what ${last.day} ended with`)
    }
    if ((from !== null && day < from) || (to !== null && day > to)) {
      wrong(`${day} is outside the scope ${manifest.scope.text}`)
    }
    checkEntries(statement, wrong)
    for (const { amount, journal } of statement.entries) {
      if (compared) own.add(journal ?? "", keyOf(currency, account), amount)
    }
    first ??= statement
    last = statement
    days += 1
    entries += statement.entries.length
  }
  await readStatements(chunks, reader, (found, line) => {
    if (typeof found === "string") problems.add(name, line, found)
    else next(found, line)
  })
  const differs = (what: string) => problems.add(name, null, `${what} are not what the manifest says`)
  if (days !== span.days || entries !== span.entries || entries !== rows) differs("its days and entries")
  if (first?.day !== span.first || last?.day !== span.last) differs("its first and last day")
  if (first?.opening !== exact(span.opening, ".") || last?.closing !== exact(span.closing, ".")) {
    differs("its opening and closing balance")
  }
}
