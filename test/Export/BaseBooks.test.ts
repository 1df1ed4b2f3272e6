/** Cases that the sandbox's books lack: amounts worth nothing, accounts with the same name, and the account mapping. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { decodeSync } from "effect/Schema"
import { int4 } from "../../src/Database/Columns.ts"
import { Database } from "../../src/Database.ts"
import { fileText } from "../../src/Export/Mapping/MappingCsv.ts"
import { current, importFrom } from "../../src/Export/Mapping.ts"
import * as Export from "../../src/Export.ts"
import { Content } from "../../src/Settings/Content.ts"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import * as Verify from "../../src/Verify.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { assignNumbers, openBook, partner, post } from "./Books.ts"
import { rowsOf } from "./Cells.ts"

const { accounting, chart, formats } = decodeSync(Content)({})

const exported = Effect.fn("Test.exported")(function* (book: string, names: ReadonlyArray<string>) {
  const { batches } = yield* Export.run({
    formats: names,
    scope: { kind: "period", period: "2026-10" },
    connection: Option.none(),
    book: Option.some(book),
    out: temporaryFolder(),
    tables: { settings: formats, baseCurrency: "EUR" },
    base: { baseCurrency: "EUR", settings: accounting.valuation, chart },
  })
  return batches[0] ?? (yield* Effect.dieMessage("no batch"))
})

const deposit = (date: string, currency: "USD" | "USDT", amount: string, against: string, rule = "") => ({
  date,
  kind: "deposit",
  partner: partner[currency === "USD" ? "usd" : "usdt"],
  cash: amount,
  description: "Deposit",
  lines: [
    ["cash", "", currency, amount],
    [against, rule, currency, `-${amount}`],
  ] as const,
})

/** Column by column of a file's rows. */
const columnsOf = (folder: string, file: string, ...names: ReadonlyArray<string>) => {
  const [header = [], ...rows] = rowsOf(join(folder, file))
  return rows.map((row) => names.map((name) => row[header.indexOf(name)]).join(" "))
}

const rates = [
  { date: "2026-10-05", from: "USD", to: "EUR", rate: "0.90", source: "ECB" },
  { date: "2026-10-31", from: "USD", to: "EUR", rate: "0.95", source: "ECB" },
  { date: "2026-10-06", from: "USDT", to: "EUR", rate: "0.90", source: "exchange" },
  { date: "2026-10-31", from: "USDT", to: "EUR", rate: "0.90", source: "exchange" },
]

layer(TestDatabase.layer, { excludeTestServices: true })(
  "the base-currency journal of a small book",
  (it) => {
    it.effect("shows amounts worth less than half a cent only in native_movements.csv, and says so", () =>
      Effect.gen(function* () {
        yield* addRates(rates)
        const bookId = yield* openBook("DUST", "66666666-0000-4000-8000-000000000001")
        yield* post(bookId, deposit("2026-10-05", "USD", "100.00", "deposits_clearing"))
        yield* post(bookId, deposit("2026-10-06", "USDT", "0.00000012", "trading"))
        yield* post(bookId, deposit("2026-10-06", "USDT", "10", "trading"))
        yield* assignNumbers(bookId)
        const { folder, manifest } = yield* exported("DUST", ["journal", "hledger"])
        expect(manifest.base?.omitted).toBe(1)
        expect(
          columnsOf(
            folder,
            "journal.csv",
            "journal_number",
            "account_role",
            "debit",
            "credit",
            "description",
          ),
        ).toEqual([
          "DUST-2026-10-000001 cash 90.00  100.00 USD: Deposit",
          "DUST-2026-10-000001 deposits_clearing  90.00 100.00 USD: Deposit",
          "DUST-2026-10-000003 cash 9.00  10.00000000 USDT: Deposit",
          "DUST-2026-10-000003 trading  9.00 10.00000000 USDT: Deposit",
          "DUST-FX-2026-10-000001 cash 5.00  Revaluation of 100.00 USD at 0.95 (2026-10-31): 90.00 to 95.00 EUR",
          "DUST-FX-2026-10-000001 fx_unrealized  5.00 Revaluation of 100.00 USD at 0.95 (2026-10-31): 90.00 to 95.00 EUR",
        ])
        expect(
          columnsOf(
            folder,
            "native_movements.csv",
            "journal_number",
            "native_amount",
            "currency",
            "rate",
            "base_amount",
          ),
        ).toEqual([
          "DUST-2026-10-000001 100.00 USD 0.90 90.00",
          "DUST-2026-10-000001 -100.00 USD 0.90 -90.00",
          "DUST-2026-10-000002 0.00000012 USDT 0.90 0.00",
          "DUST-2026-10-000002 -0.00000012 USDT 0.90 0.00",
          "DUST-2026-10-000003 10.00000000 USDT 0.90 9.00",
          "DUST-2026-10-000003 -10.00000000 USDT 0.90 -9.00",
        ])
        expect((yield* Verify.run(folder)).problems).toEqual([])
      }),
    )

    it.effect("keeps accounts apart that differ only in their currency", () =>
      Effect.gen(function* () {
        const bookId = yield* openBook("TWINS", "66666666-0000-4000-8000-000000000002")
        const database = yield* Database
        yield* database.query(
          "Test",
          (sql) => sql`
          insert into ledger.accounts (book_id, role, currency, partner_account_id, rule_code, code, name)
          select ${bookId}, 'deposits_clearing', c, null, '4000', '4000', 'Income:Sales' from unnest(array['USD', 'USDT']) c`,
        )
        yield* post(bookId, deposit("2026-10-05", "USD", "100.00", "deposits_clearing", "4000"))
        yield* post(bookId, deposit("2026-10-06", "USDT", "50", "deposits_clearing", "4000"))
        yield* assignNumbers(bookId)
        const { folder } = yield* exported("TWINS", ["trial-balance", "journal"])
        // Income is not revalued.
        expect(
          columnsOf(folder, "trial-balance.csv", "account_name", "currency", "closing").filter((row) =>
            row.startsWith("Income:"),
          ),
        ).toEqual([
          "Income:Sales:USD EUR -90.00",
          "Income:Sales:USDT EUR -45.00",
          "Income:Exchange:Realized:EUR EUR 0.00",
          "Income:Exchange:Unrealized:EUR EUR -5.00",
        ])
        expect((yield* Verify.run(folder)).problems).toEqual([])
      }),
    )

    it.effect(
      "uses the books' account mapping, and lists its own accounts where that does not know them yet",
      () =>
        Effect.gen(function* () {
          const bookId = yield* openBook("MAP", "66666666-0000-4000-8000-000000000003")
          yield* post(bookId, deposit("2026-10-05", "USD", "100.00", "deposits_clearing"))
          yield* assignNumbers(bookId)
          const mapped = Effect.gen(function* () {
            const rows = yield* current(Option.some("MAP"))
            const file = join(temporaryFolder(), "accounts.csv")
            writeFileSync(file, fileText(rows.map((row, at) => ({ ...row, xero_code: `X${at}` }))))
            yield* importFrom(file)
            return new Map(rows.map(({ code, currency }, at) => [`${code} ${currency}`, `X${at}`]))
          })
          yield* mapped
          const error = yield* Effect.flip(exported("MAP", ["xero"]))
          expect(error).toMatchObject({ _tag: "ExportError", reason: "Refused" })
          expect(error.message.split("\n")[1]).toBe(
            "  xero: account 7920 Income:Exchange:Unrealized:EUR (fx_unrealized, EUR) is not in the mapping: it is newer, or two accounts got one name; export the accounts again",
          )
          // Its accounts are listed for the mapping, and the month is not valued yet.
          const { valued } = yield* (yield* Database).row(
            "Test.valued",
            { valued: int4 },
            (sql) => sql`
              select (select count(*)::integer from valuation.entries where book_id = ${bookId})
                + (select count(*)::integer from valuation.months where book_id = ${bookId}) as valued`,
          )
          expect(valued).toBe(0)
          const codes = yield* mapped
          const { folder, manifest } = yield* exported("MAP", ["xero"])
          expect(manifest.tables?.mappingVersion).toBe(2)
          expect(columnsOf(folder, "xero-EUR.csv", "*AccountCode", "*Amount")).toEqual([
            `${codes.get("1010 USD")} 90.00`,
            `${codes.get("1020 USD")} -90.00`,
            `${codes.get("1010 USD")} 5.00`,
            `${codes.get("7920 EUR")} -5.00`,
          ])
        }),
    )
  },
)
