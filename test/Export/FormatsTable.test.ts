/**
 * `npm run formats:table` writes the table format × check of docs/formats.md anew: three months of four books in every format, own
 * currencies and base, detail and summary, read back and opened by others' programs. CI runs it to see that the table is current.
 * Among the other tests it is left out: it costs as much as many of them.
 */
import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DuckDBInstance } from "@duckdb/node-api"
import { expect, layer } from "@effect/vitest"
import { parse } from "csv-parse/sync"
import { Effect, Either, Option } from "effect"
import { decodeUnknownSync } from "effect/Schema"
import * as Export from "../../src/Export.ts"
import { type AnyFormat, formats } from "../../src/Format/Formats.ts"
import { Content } from "../../src/Settings/Content.ts"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import * as Verify from "../../src/Verify.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { validate } from "../support/camtSchema.ts"
import { convertWithLibreOffice } from "../support/Installed.ts"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

/** `write`, `check`, or undefined where the table is not wanted. */
const asked = process.env.FORMATS_TABLE
const document = new URL("../../docs/formats.md", import.meta.url).pathname
const begin = "<!-- formats table: made by `npm run formats:table` -->\n"
const end = "<!-- end of the formats table -->"

const currencies = ["EUR", "GBP", "JPY", "USD", "USDC", "USDT"]
/** Prices of one unit in cents of a euro. */
const prices = Object.entries({ USD: 92, GBP: 117, JPY: 0.61, USDC: 92, USDT: 91 })
const rates = Array.from({ length: 92 }, (_, day) => {
  const date = new Date(Date.UTC(2026, 7, 1 + day)).toISOString().slice(0, 10)
  const one = (from: string, to: string, price: number) => ({
    ...{ date, from, to, source: "made up" },
    rate: ((price * (1 + (day % 7) / 1_000)) / 100).toFixed(6),
  })
  return [
    ...prices.flatMap(([from, price]) => [one(from, "EUR", price), one(from, "SEK", price * 11)]),
    one("EUR", "SEK", 1_100),
  ]
}).flat()

/** Settings of four made-up companies. */
const sirens = ["100000009", "200000008", "300000007", "400000006"]

/** Currencies to leave out so that a system takes the books in their own currencies: the first choice that is not refused counts. */
const taken = [
  { leaveOut: [], text: "all" },
  { leaveOut: ["USDC", "USDT"], text: "no stablecoins" },
  { leaveOut: currencies.filter((one) => one !== "EUR"), text: "base currency" },
]

interface Variant {
  readonly mode: "detail" | "summary"
  readonly how: "own" | "base" | "rated"
}

const { accounting, chart } = decodeUnknownSync(Content)({})

/** A batch of each book, with the trial balance beside a format that any program reads. */
const exporting = Effect.fnUntraced(function* (
  { kind, name }: AnyFormat,
  { how, mode }: Variant,
  leaveOut: ReadonlyArray<string>,
) {
  const baseCurrency = name === "sie" ? "SEK" : "EUR"
  const base = { baseCurrency, settings: accounting.valuation, chart }
  const books = yield* rows("select code from mirror.books order by code")
  expect(books).toHaveLength(4)
  const { formats: settings } = decodeUnknownSync(Content)({
    formats: {
      ...{ leaveOut, datev: { consultant: 1001, client: 1 } },
      books: Object.fromEntries(
        books.map(({ code }, at) => [code, { datev: { client: at + 1 }, fec: { siren: sirens[at] } }]),
      ),
    },
  })
  const made = yield* Effect.forEach(books, ({ code }) =>
    Export.run({
      ...{ formats: kind === "plain" ? [name, "trial-balance"] : [name], mode, again: true },
      ...{ scope: { kind: "all" }, connection: Option.none(), book: Option.some(String(code)) },
      out: temporaryFolder(),
      tables: { settings, baseCurrency },
      ...(how === "own" ? {} : { base }),
      ...(how === "rated" ? { rated: true } : {}),
    }),
  )
  return made.flatMap(({ batches }) => batches)
})

type Batch = Effect.Effect.Success<ReturnType<typeof exporting>>[number]

/** Whole by `verify`, which reads it back; balanced; no file longer than the system takes. Returns the format's files. */
const checked = Effect.fnUntraced(function* (format: AnyFormat, { folder, manifest }: Batch) {
  expect([format.name, (yield* Verify.run(folder)).problems]).toEqual([format.name, []])
  expect(manifest.currencies.map(({ debit }) => debit)).toEqual(
    manifest.currencies.map(({ credit }) => credit),
  )
  const most = format.kind === "table" ? format.template.limits.rowsPerFile : Number.POSITIVE_INFINITY
  const own = manifest.files.filter((file) => file.format === format.name)
  expect([format.name, own.filter((file) => file.rows > most)]).toEqual([format.name, []])
  return own.map(({ name }) => join(folder, name))
})

const run = (command: string, ...args: ReadonlyArray<string>): string => {
  const env = { ...process.env, LANG: "C.UTF-8", LC_ALL: "C.UTF-8" }
  const { status, stderr, stdout } = spawnSync(command, args, { encoding: "utf8", env, maxBuffer: 1 << 26 })
  expect([command, status, status === 0 ? "" : stderr]).toEqual([command, 0, ""])
  return stdout
}

/** `1010.50` → `1010.5`. */
const digits = (amount: string): string => (amount.includes(".") ? amount.replace(/\.?0+$/, "") : amount)

/** The balances in a program's output, whatever it calls the accounts, as `USD -12.5` in order. */
const standing = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/(-?\d[\d,]*(?:\.\d+)?) +"?([A-Z]{3,4})\b/g)]
    .map(([, amount = "", currency = ""]) => `${currency} ${digits(amount.replaceAll(",", ""))}`)
    .filter((one) => !/ -?0$/.test(one))
    .sort()

/** Every account with its own currency and name, as the chart has it. */
const trialBalance = (folder: string): ReadonlyArray<string> => {
  const found: ReadonlyArray<Record<string, string>> = parse(
    readFileSync(join(folder, "trial-balance.csv")),
    { columns: true, bom: true },
  )
  const closings = standing(found.map(({ closing, currency }) => `${closing} ${currency}`).join("\n"))
  expect(closings.length).toBeGreaterThan(3)
  return closings
}

/** The other program that opens a format's file, and what its output must be. */
const openers: {
  readonly [format: string]: {
    readonly name: string
    readonly open: (file: string, folder: string) => Promise<void> | void
  }
} = {
  hledger: {
    name: "hledger",
    open: (file, folder) => {
      run("hledger", "-f", file, "check", "-s", "ordereddates")
      const balances = run("hledger", "-f", file, "bal", "--flat", "-N", "-c", "1000.", "--layout=tall")
      expect(standing(balances)).toEqual(trialBalance(folder))
    },
  },
  ledger: {
    name: "ledger",
    open: (file, folder) =>
      expect(
        standing(run("ledger", "-f", file, "--strict", "--pedantic", "bal", "--flat", "--no-total")),
      ).toEqual(trialBalance(folder)),
  },
  beancount: {
    name: "bean-check",
    open: (file, folder) => {
      run("bean-check", "--no-cache", file)
      expect(standing(run("bean-report", file, "balances"))).toEqual(trialBalance(folder))
    },
  },
  parquet: {
    name: "DuckDB",
    open: async (file, folder) => {
      const connection = await (await DuckDBInstance.create(":memory:")).connect()
      const sums = await connection.runAndReadAll(
        `select sum(coalesce(debit, 0) - coalesce(credit, 0))::varchar, currency from '${file}' group by currency`,
      )
      connection.closeSync()
      expect(sums.getRows().map(([sum]) => digits(String(sum)))).toEqual(sums.getRows().map(() => "0"))
      expect(
        sums
          .getRows()
          .map(([, currency]) => String(currency))
          .sort(),
      ).toEqual(
        [
          ...new Set(readFileSync(join(folder, "trial-balance.csv"), "utf8").match(/\b[A-Z]{3,4}(?=,-?\d)/g)),
        ].sort(),
      )
    },
  },
  "camt.053": { name: "xmllint", open: (file) => expect(validate(file)).toBe("") },
}

/** A spreadsheet program must find as many rows as the file has lines. */
const openedByLibreOffice = (files: ReadonlyArray<string>): void => {
  const csv = files.filter((file) => file.endsWith(".csv") && !/EXTF_|sage50/.test(file))
  if (csv.length === 0) return
  const to = convertWithLibreOffice(csv, {
    input: "CSV:44,34,76,1,,1033",
    output: "csv:Text - txt - csv (StarCalc):44,34,76,1",
  })
  for (const name of readdirSync(to)) {
    const from = csv.find((file) => file.endsWith(`/${name}`)) ?? ""
    const count = (file: string) => parse(readFileSync(file), { bom: true, relax_column_count: true }).length
    expect([name, count(join(to, name))]).toEqual([name, count(from)])
  }
  expect(readdirSync(to)).toHaveLength(csv.length)
}

const cellOf = Effect.fnUntraced(function* (format: AnyFormat, variant: Variant) {
  if (variant.how === "rated" && (format.kind !== "table" || format.rated === null)) return "–"
  // Only a table of journals has summaries.
  if (variant.mode === "summary" && (format.kind !== "table" || format.template.mode !== "any")) return "–"
  for (const { leaveOut, text } of variant.how === "own" ? taken : taken.slice(0, 1)) {
    const made = yield* Effect.either(exporting(format, variant, leaveOut))
    if (Either.isLeft(made)) {
      // Everything else is refused only for currencies that the system lacks, or for a bank statement in another currency.
      expect(made.left.message).toMatch(/entr(y is|ies are) in|own currency/)
      continue
    }
    const opener = openers[format.name]
    const files: Array<string> = []
    for (const batch of made.right) {
      const own = yield* checked(format, batch)
      files.push(...own)
      if (opener !== undefined) {
        for (const file of own) yield* Effect.promise(async () => opener.open(file, batch.folder))
      }
    }
    const [first] = made.right
    if (first !== undefined && variant.mode === "detail") {
      openedByLibreOffice(files.filter((file) => file.startsWith(first.folder)))
    }
    return variant.how === "own" ? text : "✓"
  }
  return "refused"
})

const variants: ReadonlyArray<Variant & { readonly title: string }> = [
  { title: "own currencies", how: "own", mode: "detail" },
  { title: "summary", how: "own", mode: "summary" },
  { title: "`--base`", how: "base", mode: "detail" },
  { title: "its summary", how: "base", mode: "summary" },
  { title: "`--with-rates`", how: "rated", mode: "detail" },
]

const openedBy = ({ name }: AnyFormat): string => {
  const others = openers[name]?.name
  if (others !== undefined) return others
  return ["fec", "sie", "datev", "sage50"].includes(name) ? "–" : "LibreOffice"
}

const tableOf = (lines: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = (lines[0] ?? []).map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)))
  const row = (cells: ReadonlyArray<string>) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |\n`
  const [head = [], ...others] = lines
  return row(head) + row(widths.map((width) => "-".repeat(width))) + others.map(row).join("")
}

layer(TestDatabase.layer, { excludeTestServices: true })("the formats", (it) => {
  it.scoped.skipIf(asked === undefined)("pass what the table in docs/formats.md says", () =>
    Effect.gen(function* () {
      const sandbox = yield* runningSandbox({
        entries: 420,
        clients: 3,
        clientEntries: 240,
        from: "2026-08-01",
      })
      yield* sync(sandbox.url, { TIEOUT_CONNECTIONS_DEFAULT_SURFACES: "organization,client" })
      yield* addRates(rates)
      const lines: Array<ReadonlyArray<string>> = []
      // This comes last, because another base currency changes the valuation of the months.
      for (const format of [...formats].sort((a, b) => Number(a.name === "sie") - Number(b.name === "sie"))) {
        const cells = yield* Effect.forEach(variants, (variant) => cellOf(format, variant))
        lines.push([`\`${format.name}\``, ...cells, openedBy(format)])
      }
      const made = tableOf([["format", ...variants.map(({ title }) => title), "opened by"], ...lines])
      const text = readFileSync(document, "utf8")
      const [before = "", rest = ""] = text.split(begin)
      const [found, after = ""] = rest.split(end)
      if (asked === "write") writeFileSync(document, `${before}${begin}\n${made}\n${end}${after}`)
      else expect(found).toBe(`\n${made}\n`)
    }),
  )
})
