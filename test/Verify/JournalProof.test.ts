/** What is wrong with a journal though its totals are those of the manifest. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { parse, print } from "../../src/Common/MinorUnits.ts"
import { Problems } from "../../src/Common/Problems.ts"
import { type FileRecord, formatVersion, type Manifest } from "../../src/Export/Batch/Manifest.ts"
import { checkArithmetic, expectedAccounts } from "../../src/Verify/AccountsProof.ts"
import { checkColumns } from "../../src/Verify/ColumnsProof.ts"
import { checkJournal } from "../../src/Verify/JournalProof.ts"
import { journalColumns } from "../../src/Verify/JournalRow.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"

const accountOf = (currency: string, code: string, debit: string, credit: string) => ({
  ...{ code, name: `Account ${code}`, role: "other", currency, partnerAccountId: null },
  ...{ opening: "0.00", debit, credit, closing: debit === "0.00" ? `-${credit}` : debit },
})

interface Entry {
  readonly number: string
  readonly period: string
  /** Currency, account, debit or credit, and the month that the line is late for. */
  readonly lines: ReadonlyArray<
    readonly [currency: string, code: string, debit: string, credit: string, lateFor?: string]
  >
}

const usd = [
  ["USD", "1", "5.00", ""],
  ["USD", "2", "", "5.00"],
] as const

const rowsOf = ({ lines, number, period }: Entry): ReadonlyArray<ReadonlyArray<string>> =>
  lines.map(([currency, code, debit, credit, lateFor = ""], at) => [
    ...[number, String(at + 1), "B", period, `${period}-15`, "", "", code, `Account ${code}`, "other", ""],
    ...[currency, debit, credit, "other", "", "statement_entry", "", "", "", "", "", "", lateFor],
  ])

/** The whole year's manifest of some entries, as somebody would make it fit. */
const manifestOf = (entries: ReadonlyArray<Entry>): Manifest => {
  const lines = entries.flatMap((entry) => entry.lines)
  const currencies = [...new Set(lines.map(([currency]) => currency))].toSorted()
  const sum = (amounts: ReadonlyArray<string>) =>
    print(
      amounts.reduce((total, amount) => total + (amount === "" ? 0n : parse(amount, 2)), 0n),
      2,
    )
  const own = (currency: string) => lines.filter(([unit]) => unit === currency)
  return {
    ...{ product: "tieout", version: "0.1.0", formatVersion, connection: "default", batch: 1 },
    book: { code: "B", name: "Book", clientId: null, knownSince: "2026-01-01T00:00:00Z" },
    createdAt: "2027-01-01T00:00:00Z",
    scope: { kind: "all", text: "all", from: null, to: null, since: null, covered: [] },
    ...{ complete: true, reasons: [], formats: ["journal"], files: [], throughNumbering: "1", read: [] },
    ...{ entries: entries.length, postings: lines.length, firstNumber: null, lastNumber: null },
    periods: entries.map(({ number, period }) => ({ period, first: number, last: number, entries: 1 })),
    currencies: currencies.map((currency) => ({
      ...{ currency, scale: 2, postings: own(currency).length },
      debit: sum(own(currency).map(([, , debit]) => debit)),
      credit: sum(own(currency).map(([, , , credit]) => credit)),
      entries: entries.filter((entry) => entry.lines.some(([unit]) => unit === currency)).length,
    })),
    accounts: currencies.flatMap((currency) =>
      [...new Set(own(currency).map(([, code]) => code))].map((code) => {
        const of = own(currency).filter(([, one]) => one === code)
        return accountOf(
          currency,
          code,
          sum(of.map(([, , debit]) => debit)),
          sum(of.map(([, , , credit]) => credit)),
        )
      }),
    ),
  }
}

const chunksOf = async function* (rows: ReadonlyArray<ReadonlyArray<string>>) {
  yield Buffer.from([journalColumns, ...rows].map((cells) => `${cells.join(",")}\n`).join(""))
}

const said = async (
  entries: ReadonlyArray<Entry>,
  over: Partial<Manifest> = {},
  stated?: number,
): Promise<ReadonlyArray<string>> => {
  const manifest = { ...manifestOf(entries), ...over }
  const rows = entries.flatMap(rowsOf)
  const problems = new Problems()
  const file = { name: "journal.csv", rows: stated ?? rows.length }
  await checkJournal(chunksOf(rows), file, manifest, expectedAccounts(manifest), problems, () => {})
  return problems.found.map(({ message }) => message)
}

const october = (number: string, lines: Entry["lines"] = usd): Entry => ({ number, period: "2026-10", lines })

it("an entry balances in each of its currencies", async () => {
  const eur = (credit: string) => [["EUR", "1", "7.00", ""] as const, ["EUR", "2", "", credit] as const]
  expect(await said([october("B-2026-10-000001", [...usd, ...eur("7.00")])])).toEqual([])
  expect(await said([october("B-2026-10-000001", [...usd, ...eur("6.99")])])).toEqual([
    "the journal entry B-2026-10-000001 does not balance in EUR",
  ])
})

it("an account has the decimals of its currency, else 5.00 and 500 would balance", async () => {
  const manifest = manifestOf([october("B-2026-10-000001")])
  const wrongWith = (accounts: Manifest["accounts"]) => {
    const problems = new Problems()
    const forged = { ...manifest, accounts }
    checkArithmetic(forged, expectedAccounts(forged), problems)
    return problems.found.map(({ message }) => message)
  }
  expect(wrongWith(manifest.accounts)).toEqual([])
  const whole = (amount: string) => amount.replace(".", "").replace(/^0+$/, "0")
  const accounts = manifest.accounts.map((account) =>
    account.code === "2"
      ? {
          ...account,
          opening: "0",
          debit: "0",
          credit: whole(account.credit),
          closing: whole(account.closing),
        }
      : account,
  )
  expect(await said([october("B-2026-10-000001", [usd[0], ["USD", "2", "", "500"]])], { accounts })).toEqual(
    [],
  )
  expect(wrongWith(accounts)).toEqual(["2 Account 2 (USD): has amounts with 0 decimals, not 2"])
})

it("its number has the month, six digits or more, and is of the base-currency journal there alone", async () => {
  for (const number of ["B-2026-10-00001", "B-FX-2026-10-000001"]) {
    expect(await said([october(number)])).toContain(`"${number}" is not a journal number of B-2026-10-…`)
  }
})

it("months follow one another, also where the manifest has them in the same disorder", async () => {
  const november = { number: "B-2026-11-000001", period: "2026-11", lines: usd }
  expect(await said([october("B-2026-10-000001"), november])).toEqual([])
  expect(await said([november, october("B-2026-10-000001")])).toEqual([
    "the journal number B-2026-10-000001 is out of order",
  ])
})

it("a number stands once, also with more digits in a part of a month", async () => {
  const part: Partial<Manifest> = {
    scope: { ...manifestOf([]).scope, from: "2026-10-10", to: "2026-10-20" },
    periods: [{ period: "2026-10", first: "B-2026-10-000001", last: "B-2026-10-0000001", entries: 2 }],
  }
  expect(await said([october("B-2026-10-000001"), october("B-2026-10-0000001")], part)).toEqual([
    "the journal number B-2026-10-0000001 is out of order",
  ])
})

it("lines of an entry share what it is late for, and there are as many as the manifest says", async () => {
  const late = [usd[0], [...usd[1], "2026-09"] as const]
  expect(await said([october("B-2026-10-000001", late)])).toEqual([
    "the lines of B-2026-10-000001 differ in what they must share",
  ])
  for (const stated of [1, 3]) {
    expect(await said([october("B-2026-10-000001")], {}, stated)).toEqual([
      `has 2 rows, the manifest says ${stated}`,
    ])
  }
})

it("an amount with more decimals than its currency is none, in a form that is not text", async () => {
  const entry = october("B-2026-10-000001")
  const columnsOf = async (amount: string): Promise<ReadonlyArray<string>> => {
    const manifest = manifestOf([entry])
    const path = join(temporaryFolder(), "journal.parquet")
    writeFileSync(path, "")
    const rows = rowsOf(entry).map((cells) => cells.map((text) => (text === "5.00" ? amount : text)))
    const file: FileRecord = {
      ...{ name: "journal.parquet", format: "parquet", rows: rows.length, bytes: 0, sha256: "" },
    }
    const problems = new Problems()
    const reading = {
      kind: "columns",
      rowsOf: async function* () {
        yield { columns: [...journalColumns], rows }
      },
    } as const
    const accounts = expectedAccounts(manifest)
    await checkColumns(path, chunksOf([]), file, reading, manifest, accounts, problems)
    return problems.found.map(({ message }) => message)
  }
  expect(await columnsOf("5.000000000000000000")).toEqual([])
  expect(await columnsOf("5.000000000000000001")).toContain(
    '"5.000000000000000001" is not an amount with 2 decimals',
  )
})
