/**
 * The figures of a report's files against the manifest's control totals, and against each other: account by account the ledger in
 * detail and the roll-forward lead from the opening to the closing balance, as the provider's account does; open items add up to it.
 */
import { Problems } from "../../Common/Problems.ts"
import type { Content } from "../../Export/Batch/Manifest/FileCheck.ts"
import type { Manifest } from "../../Export/Batch/Manifest/ReportManifest.ts"
import { exact } from "../../Format/Reading/Booked.ts"
import { Unreadable } from "../../Format/Reading/LineCells.ts"
import { readCsv } from "../CsvRows.ts"
import { Fingerprint } from "../Fingerprint.ts"
import { ProviderTotals } from "./ProviderTotals.ts"

const parts = ["opening", "debit", "credit", "closing"] as const
type Sums = Record<(typeof parts)[number], bigint>

/** By the account's currency, code, name and role. */
type ByAccount = Map<string, Sums>

const account = ["account_code", "account_name", "account_role", "currency"]

/** By the contract, independently of the writer. */
const columnsOf = {
  "trial-balance.csv": [...account, ...parts],
  "gl-detail.csv": [
    ...[...account, "line", "effective_date", "journal_number", "line_number", "kind", "description"],
    ...["external_reference", "counterparty", "resource_type", "resource_id", "late_for"],
    ...["debit", "credit", "balance"],
  ],
  "roll-forward.csv": [...account, "line", "kind", "postings", "debit", "credit", "balance"],
  "open-items.csv": [
    ...[...account, "line", "period", "item_type", "item_id", "since", "age_days", "amount", "balance"],
    ...["status", "external_reference", "counterparty"],
  ],
  "account-reconciliation.csv": [
    ...["provider_account", "rail", "currency", "account_code", "account_name", "line", "kind", "postings"],
    ...["amount", "remark"],
  ],
} as const satisfies Record<string, ReadonlyArray<string>>

type File = keyof typeof columnsOf

const isFile = (name: string): name is File => Object.hasOwn(columnsOf, name)

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])
const carriageReturn = 0x0d

/** As our other CSV files are: without a byte order mark, lines that end in LF. */
const plain = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let first = true
  let held = false
  for await (const chunk of chunks) {
    const marked = first && chunk.subarray(0, 3).equals(byteOrderMark)
    first = false
    const bytes = Buffer.concat([
      Buffer.from(held ? [carriageReturn] : []),
      marked ? chunk.subarray(3) : chunk,
    ])
    held = bytes.at(-1) === carriageReturn
    const whole = held ? bytes.subarray(0, -1) : bytes
    // Byte by byte in another form: a function for each byte takes as long as all the rest.
    yield Buffer.from(whole.toString("latin1").replaceAll("\r\n", "\n"), "latin1")
  }
  if (held) yield Buffer.from([carriageReturn])
}

type Cell = (column: string) => string
type Visit = (cell: Cell, wrong: (message: string) => void) => void

const amountOf = (text: string): bigint => (text === "" ? 0n : exact(text, "."))

/** Reads one of the files; undefined where it has other columns, as one of another version. */
const read = async (
  chunks: AsyncIterable<Buffer>,
  file: File,
  problems: Problems,
  visit: Visit,
): Promise<number | undefined> => {
  const columns: ReadonlyArray<string> = columnsOf[file]
  const own = new Problems()
  const rows = await readCsv(plain(chunks), file, columns, own, (row, line) => {
    try {
      visit(
        (column) => row.cell(columns.indexOf(column)),
        (message) => own.add(file, line, message),
      )
    } catch (cause) {
      if (!(cause instanceof Unreadable)) throw cause
      own.add(file, line, cause.message)
    }
  })
  if (own.found[0]?.message.startsWith("the header is not ") === true) {
    problems.note(`${file} has other columns than this version writes: its figures were not added up.`)
    return undefined
  }
  problems.absorb(own)
  return rows
}

export class ReportTotals {
  private readonly manifest: Manifest
  private readonly accounts = new Map<File, ByAccount>()
  private providers: ProviderTotals | undefined
  /** In the ledger in detail; several accounts may have one name. */
  private running = 0n
  /** Journal entry by journal entry, in the ledger in detail: each comes to zero in each currency. */
  private readonly entries = new Fingerprint()
  /** What is open of each account is its debit. */
  private items: ByAccount = new Map()

  constructor(manifest: Manifest) {
    this.manifest = manifest
  }

  contentOf(name: string, problems: Problems): Content | undefined {
    if (!isFile(name)) return undefined
    return async (chunks) => {
      const byAccount: ByAccount = new Map()
      const providers = new ProviderTotals()
      const visit: Visit =
        name === "account-reconciliation.csv"
          ? (cell) => providers.add(cell)
          : (cell, wrong) => this.addAccount(name, byAccount, cell, wrong)
      const rows = await read(chunks, name, problems, visit)
      if (rows === undefined) return
      const stated = this.manifest.files.find((file) => file.name === name)?.rows
      if (rows !== stated) problems.add(name, null, `has ${rows} rows, the manifest says ${stated}`)
      if (name === "account-reconciliation.csv") this.providers = providers
      else if (name === "open-items.csv") this.items = byAccount
      else this.accounts.set(name, byAccount)
    }
  }

  private addAccount(name: File, byAccount: ByAccount, cell: Cell, wrong: (message: string) => void): void {
    const key = ["currency", "account_code", "account_name", "account_role"].map(cell).join("\n")
    const sums = byAccount.get(key) ?? { opening: 0n, debit: 0n, credit: 0n, closing: 0n }
    byAccount.set(key, sums)
    if (name === "trial-balance.csv") {
      for (const part of parts) sums[part] += amountOf(cell(part))
      return
    }
    const line = cell("line")
    if (line === "opening" && name === "gl-detail.csv") this.running = amountOf(cell("balance"))
    if (line === "opening" || line === "closing") sums[line] += amountOf(cell("balance"))
    else if (name === "open-items.csv") sums.debit += amountOf(cell("amount"))
    else {
      const [debit, credit] = [amountOf(cell("debit")), amountOf(cell("credit"))]
      sums.debit += debit
      sums.credit += credit
      if (name !== "gl-detail.csv") return
      this.running += debit - credit
      this.entries.add(cell("journal_number"), cell("currency"), debit - credit)
      if (this.running !== amountOf(cell("balance")))
        wrong(`${cell("journal_number")} does not lead to the balance after it`)
    }
  }

  /** Once all files have been read. */
  finish(problems: Problems): void {
    for (const [file, byAccount] of this.accounts) {
      for (const [key, { closing, credit, debit, opening }] of byAccount) {
        if (opening + debit - credit === closing) continue
        const name = key.replaceAll("\n", " ")
        problems.add(file, null, `${name} does not lead from its opening to its closing balance`)
      }
      this.checkCurrencies(file, byAccount, problems)
    }
    this.compareAccounts(problems)
    this.checkItems(problems)
    this.providers?.finish(this.manifest, this.accounts.get("trial-balance.csv"), problems)
    if (this.entries.differences(new Fingerprint()).size > 0) {
      problems.add("gl-detail.csv", null, "has a journal entry that does not balance")
    }
  }

  private checkCurrencies(file: File, byAccount: ByAccount, problems: Problems): void {
    const found = new Map<string, Sums>()
    for (const [key, sums] of byAccount) {
      const [currency = ""] = key.split("\n")
      const known = found.get(currency) ?? { opening: 0n, debit: 0n, credit: 0n, closing: 0n }
      for (const part of parts) known[part] += sums[part]
      found.set(currency, known)
    }
    const { currencies } = this.manifest
    for (const total of currencies) {
      const sums = found.get(total.currency)
      const wrong = parts.filter((part) => (sums?.[part] ?? 0n) !== exact(total[part], "."))
      if (wrong.length === 0) continue
      problems.add(file, null, `the totals of ${total.currency} are not the manifest's: ${wrong.join(", ")}`)
    }
    const stated = new Set(currencies.map(({ currency }) => currency))
    for (const currency of found.keys()) {
      if (!stated.has(currency)) problems.add(file, null, `the manifest has no totals of ${currency}`)
    }
  }

  /** In each file every account has the trial balance's figures. */
  private compareAccounts(problems: Problems): void {
    const balances = this.accounts.get("trial-balance.csv")
    if (balances === undefined) return
    const none: Sums = { opening: 0n, debit: 0n, credit: 0n, closing: 0n }
    for (const [file, byAccount] of this.accounts) {
      for (const key of new Set([...balances.keys(), ...byAccount.keys()])) {
        const [own, other] = [byAccount.get(key) ?? none, balances.get(key) ?? none]
        if (parts.every((part) => own[part] === other[part])) continue
        problems.add(file, null, `${key.replaceAll("\n", " ")} has other figures than in trial-balance.csv`)
      }
    }
  }

  private checkItems(problems: Problems): void {
    const balances = this.accounts.get("trial-balance.csv")
    for (const [key, { closing, debit }] of this.items) {
      if (debit === closing && (balances === undefined || balances.get(key)?.closing === closing)) continue
      const name = key.replaceAll("\n", " ")
      problems.add("open-items.csv", null, `the items of ${name} do not add up to its closing balance`)
    }
  }
}
