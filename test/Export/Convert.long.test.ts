import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { decodeUnknownSync } from "effect/Schema"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { chunksOf } from "../../src/Common/Files/RegularFile.ts"
import { openFolder } from "../../src/Export/Batch/Folder.ts"
import { layoutOf } from "../../src/Export/Batch/Manifest/ReadBackLayout.ts"
import type { FileRecord } from "../../src/Export/Batch/Manifest.ts"
import { tableWriter } from "../../src/Export/Batch/TableFiles.ts"
import { mapAccounts, numberAccounts } from "../../src/Export/Mapping/Mapped.ts"
import type { Account, Entry } from "../../src/Format/Entry.ts"
import { profileWith } from "../../src/Format/FormatSettings.ts"
import { tableFormats } from "../../src/Format/Formats.ts"
import type { Booked } from "../../src/Format/Reading/Booked.ts"
import type { TableFormat } from "../../src/Format/Table/Define.ts"
import type { Mode } from "../../src/Format/Table/Journals.ts"
import { takesCurrency } from "../../src/Format/Table/Profile.ts"
import { systemNames } from "../../src/Format/Table/TableRows.ts"
import { Content } from "../../src/Settings/Content.ts"
import { readTable } from "../../src/Verify/TableFile.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"

const scales: Readonly<Record<string, number>> = { EUR: 2, JPY: 0, USDT: 8 }
const settings = decodeUnknownSync(Content)({ formats: { datev: { consultant: 1001, client: 1 } } }).formats

/** Two accounts of each currency share a code, as cash accounts may. */
const chart: ReadonlyArray<Account> = Object.entries(scales).flatMap(([currency, scale]) =>
  ["1010", "1010", "1020", "3020", "6850", "1990"].map((code, at) => ({
    code,
    name: `Assets:Account ${code} ${currency} ${at < 2 ? at : ""}`.trim(),
    role: code === "1010" ? "cash" : "fees",
    currency,
    scale,
    partnerAccountId: null,
  })),
)

const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 80 }).filter((some) => !some.includes("\0")),
  fc.string({ unit: fc.constantFrom(...'=+-@\t\r\n",; äß€株＝a') }),
)

interface Draft {
  readonly day: number
  readonly description: string
  readonly amounts: ReadonlyArray<readonly [currency: string, account: number, minor: bigint]>
}

const draft = (currencies: ReadonlyArray<string>): fc.Arbitrary<Draft> =>
  fc.record({
    day: fc.integer({ min: 1, max: 61 }),
    description: text,
    amounts: fc.array(
      fc.tuple(
        fc.constantFrom(...currencies),
        fc.integer({ min: 0, max: 5 }),
        fc.oneof(fc.bigInt({ min: -(10n ** 8n), max: 10n ** 8n }), fc.bigInt({ min: -500n, max: 500n })),
      ),
      { minLength: 1, maxLength: 7 },
    ),
  })

const accountOf = (currency: string, at: number): Account => {
  const account = chart.filter((each) => each.currency === currency)[at]
  if (account === undefined) throw new Error(`no account ${at}`)
  return account
}

/** Entries by date with gapless numbers; a last line makes each currency balance. */
const entriesOf = (drafts: ReadonlyArray<Draft>): ReadonlyArray<Entry> => {
  const numbers = new Map<string, number>()
  return [...drafts]
    .sort((a, b) => a.day - b.day)
    .flatMap(({ amounts, day, description }): ReadonlyArray<Entry> => {
      const date = new Date(Date.UTC(2026, 9, day)).toISOString().slice(0, 10)
      const period = date.slice(0, 7)
      const lines = [...new Set(amounts.map(([currency]) => currency))].flatMap((currency) => {
        const own = amounts.filter((amount) => amount[0] === currency && amount[2] !== 0n)
        const rest = -own.reduce((sum, [, , minor]) => sum + minor, 0n)
        return [
          ...own.map(([, at, minor]) => ({ account: accountOf(currency, at), minor })),
          ...(rest === 0n ? [] : [{ account: accountOf(currency, 5), minor: rest }]),
        ]
      })
      if (lines.length < 2) return []
      const number = (numbers.get(period) ?? 0) + 1
      numbers.set(period, number)
      const at = `${date}T10:00:00.000000Z`
      return [
        {
          number: `A_CLIENT.7-${period}-${String(number).padStart(6, "0")}`,
          period,
          effectiveDate: date,
          occurredAt: at,
          recordedAt: at,
          recordedOn: at.slice(0, 10),
          kind: "conversion",
          description,
          sourceType: "manual",
          sourceId: "s",
          resourceType: null,
          resourceId: null,
          externalReference: null,
          counterparty: null,
          reverses: null,
          lateFor: null,
          lines: lines.map((line, place) => ({ ...line, number: place + 1 })),
        },
      ]
    })
}

const mappingOf = (format: TableFormat) =>
  format.numbers === null
    ? mapAccounts(chart, format.target, profileWith(format, settings), null)
    : numberAccounts({ ordered: chart, nativeOf: (account) => account }, format.numbers)

interface Written {
  readonly path: string
  readonly files: ReadonlyArray<FileRecord>
}

let folders = 0

const write = async (
  format: TableFormat,
  mode: Mode,
  entries: ReadonlyArray<Entry>,
  root: string,
  limits = format.template.limits,
): Promise<Written> => {
  const profile = { ...profileWith(format, settings), limits }
  folders += 1
  const path = join(root, String(folders))
  mkdirSync(path)
  return Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const folder = yield* openFolder(path)
        const { mapping, unmapped } = mappingOf(format)
        expect(unmapped).toEqual([])
        const createdAt = "2026-11-01T03:30:00.123456Z"
        const writer = tableWriter(folder, {
          profile,
          leaveOut: [],
          baseCurrency: "EUR",
          mode,
          summary: { by: "day", net: false },
          mapping,
          createdAt,
          createdOn: createdAt.slice(0, 10),
          days: { first: "2026-10-01", last: "2026-11-30" },
          ...{ accountFiles: [], book: { code: "A_CLIENT.7", name: "A Client" }, accounts: [] },
          names: systemNames(mapping),
          ...{ nativeOf: (account: Account) => account, withResults: false },
        })
        for (let at = 0; at < entries.length; at += 3) yield* writer.write(entries.slice(at, at + 3))
        const files = yield* writer.end
        yield* folder.publish(files.map((file) => file.name))
        yield* folder.keep
        return { path, files: files.filter((file) => file.format === format.name) }
      }),
    ),
  )
}

/** The amounts that each row books, file by file. A row that cannot be read fails the test. */
const read = async (format: TableFormat, mode: Mode, { files, path }: Written) => {
  const booked: Array<ReadonlyArray<Booked>> = []
  for (const { account = "", currency = "", name: file, rows } of files) {
    const own: Array<Booked> = []
    const context = { layout: layoutOf(format.template), currency, account, mode, baseCurrency: "" }
    const found = await readTable(chunksOf(join(path, file)), format.reader, context, (each, line) => {
      if (typeof each === "string") throw new Error(`${file}:${line}: ${each}`)
      own.push(...each)
    })
    expect(found).toBe(rows)
    booked.push(own)
  }
  return booked
}

const inUnits = (minor: bigint, scale: number): bigint => minor * 10n ** BigInt(18 - scale)

const add = (sums: Map<string, bigint>, key: string, amount: bigint) => {
  const sum = (sums.get(key) ?? 0n) + amount
  if (sum === 0n) sums.delete(key)
  else sums.set(key, sum)
}

/** The sums of the entries per currency, account of the system and day, without those that are zero. */
const balancesOf = (format: TableFormat, entries: ReadonlyArray<Entry>) => {
  const sums = new Map<string, bigint>()
  const { mapping } = mappingOf(format)
  for (const entry of entries) {
    for (const { account, minor } of entry.lines) {
      const own = mapping.get(account)?.account
      add(sums, `${account.currency} ${own} ${entry.effectiveDate}`, inUnits(minor, account.scale))
    }
  }
  return sums
}

const readBack = async (format: TableFormat, mode: Mode, written: Written) => {
  const sums = new Map<string, bigint>()
  for (const file of await read(format, mode, written)) {
    const journals = new Map<string, bigint>()
    for (const { account, amount, currency, date, journal } of file) {
      add(sums, `${currency} ${account} ${date}`, amount)
      add(journals, `${journal} ${currency}`, amount)
    }
    // A file holds whole journals, and each of them balances.
    expect([...journals]).toEqual([])
  }
  return sums
}

const sorted = (sums: ReadonlyMap<string, bigint>) => [...sums].sort(([a], [b]) => (a < b ? -1 : 1))

/** The movements of statements are proved by the tests with a database. */
const ofJournals = tableFormats.filter(({ reader }) => reader.holds !== "movements")
const modes: ReadonlyArray<Mode> = ["detail", "summary"]
const cases = ofJournals.flatMap((format) => modes.map((mode) => [format.name, mode, format] as const))

/** The currencies whose codes and decimals the format can hold. */
const currenciesFor = ({ template }: TableFormat): ReadonlyArray<string> =>
  Object.entries(scales)
    .filter(
      ([currency, scale]) => takesCurrency(template, currency, "EUR") && scale <= template.decimals.most,
    )
    .map(([currency]) => currency)

describe("an accounting system's format", () => {
  it.each(cases)("%s (%s) converts back to the ledger's balances", async (_name, mode, format) => {
    const root = temporaryFolder()
    await fc.assert(
      fc.asyncProperty(fc.array(draft(currenciesFor(format)), { maxLength: 12 }), async (drafts) => {
        const entries = entriesOf(drafts)
        const written = await write(format, mode, entries, root)
        expect(sorted(await readBack(format, mode, written))).toEqual(sorted(balancesOf(format, entries)))
      }),
      { numRuns: 40 },
    )
  })

  it.each(cases)("%s (%s) splits between journals only", async (_name, mode, format) => {
    const root = temporaryFolder()
    await fc.assert(
      fc.asyncProperty(fc.array(draft(["EUR"]), { minLength: 8, maxLength: 20 }), async (drafts) => {
        const entries = entriesOf(drafts)
        const written = await write(format, mode, entries, root, { rowsPerJournal: 12, rowsPerFile: 13 })
        expect(sorted(await readBack(format, mode, written))).toEqual(sorted(balancesOf(format, entries)))
        const { files } = written
        for (const { rows } of files) expect(rows).toBeLessThanOrEqual(13)
        expect(new Set(files.map((file) => file.name)).size).toBe(files.length)
      }),
      { numRuns: 15 },
    )
  })

  it("of 2,772 lines is ten numbered files for Xero, of 300 lines at most, that sort in the order of the journals", async () => {
    const xero = tableFormats.filter(({ name }) => name === "xero")
    const [format] = xero
    if (format === undefined) throw new Error("there is no such format")
    const entries = entriesOf(
      Array.from({ length: 1386 }, (_, at) => ({
        day: 1 + (at % 31),
        description: "Deposit",
        amounts: [["EUR", 0, BigInt(at + 1)] as const],
      })),
    )
    const written = await write(format, "detail", entries, temporaryFolder())
    expect(written.files.map(({ name, rows }) => [name, rows])).toEqual(
      Array.from({ length: 10 }, (_, at) => [
        `xero-EUR-${String(at + 1).padStart(2, "0")}.csv`,
        at < 9 ? 300 : 72,
      ]),
    )
    expect(sorted(await readBack(format, "detail", written))).toEqual(sorted(balancesOf(format, entries)))
    const dates = (await read(format, "detail", written)).flat().map(({ date }) => date)
    expect(dates).toEqual(dates.toSorted())
    // The only file of a currency has no number.
    const few = await write(format, "detail", entries.slice(0, 150), temporaryFolder())
    expect(few.files.map(({ name }) => name)).toEqual(["xero-EUR.csv"])
  })
})
