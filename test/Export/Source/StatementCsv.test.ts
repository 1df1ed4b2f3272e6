import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { decodeSync } from "effect/Schema"
import type { ExportScope } from "../../../src/Export/Request/ExportScope.ts"
import * as Export from "../../../src/Export.ts"
import { Content } from "../../../src/Settings/Content.ts"
import * as Verify from "../../../src/Verify.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { assignNumbers, openBook, partner, post, postMonths } from "../Books.ts"

const settings = decodeSync(Content)({ formats: { leaveOut: ["USDT"] } }).formats

const exported = Effect.fnUntraced(function* (
  book: string,
  scope: ExportScope,
  formats: ReadonlyArray<string>,
  mode: "detail" | "summary" = "detail",
) {
  const { batches } = yield* Export.run({
    formats,
    scope,
    connection: Option.none(),
    book: Option.some(book),
    out: temporaryFolder(),
    mode,
    tables: { settings, baseCurrency: "EUR" },
  })
  const batch = batches[0] ?? (yield* Effect.dieMessage("no batch"))
  return { ...batch, problems: (yield* Verify.run(batch.folder)).problems }
})

/** A credit on the USD account; without cash it is an entry that no statement shows. */
const income = (date: string, amount: string, cash = true) => ({
  date,
  kind: cash ? "deposit" : "accrual",
  partner: partner.usd,
  cash: cash ? amount : null,
  description: "Income",
  lines: [
    [cash ? "cash" : "suspense", "", "USD", amount],
    ["deposits_clearing", "", "USD", `-${amount}`],
  ] as const,
})

layer(TestDatabase.layer)("the statement beside the journal", (it) => {
  it.effect("has each account's entries in posting order, with balances and journal numbers", () =>
    Effect.gen(function* () {
      yield* postMonths(yield* openBook("STATE"))
      const { folder, manifest, problems } = yield* exported("STATE", { kind: "period", period: "2026-10" }, [
        "journal",
      ])
      expect(problems).toEqual([])
      expect(manifest.formats).toEqual(["journal"])
      const essence = readFileSync(join(folder, "statement.csv"), "utf8")
        .split("\n")
        .map((line) => line.split(","))
        .map(([account, currency, position, , occurred, ...rest]) =>
          [account?.slice(-1), currency, position, occurred, ...rest].join(),
        )
      expect(essence).toEqual([
        "t,currency,position,occurred_at,amount,balance_after,journal_number",
        "1,USD,2,2026-10-01T09:30:00.123000Z,995.00,1495.00,STATE-2026-10-000001",
        "1,USD,3,2026-10-01T09:30:00.123000Z,0.01,1495.01,STATE-2026-10-000002",
        "1,USD,4,2026-10-05T09:30:00.123000Z,-1000.00,495.01,STATE-2026-10-000003",
        "1,USD,5,2026-10-03T09:30:00.123000Z,-20.00,475.01,STATE-2026-10-000006",
        "2,USDT,1,2026-10-05T09:30:00.123000Z,994.20310000,994.20310000,STATE-2026-10-000004",
        "3,JPY,1,2026-10-07T09:30:00.123000Z,120000,120000,STATE-2026-10-000005",
        ",,,",
      ])
      expect(manifest.statements?.[0]).toEqual({
        account: partner.usd,
        currency: "USD",
        entries: 4,
        amount: "-24.99",
        before: "500.00",
        after: "475.01",
        gaps: 0,
        outside: "0.00",
      })
      const balances = yield* exported("STATE", { kind: "all" }, ["trial-balance"])
      expect(existsSync(join(balances.folder, "statement.csv"))).toBe(false)
    }),
  )

  it.effect("adds up where entries are dated late, are out of order, or are not on any statement", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("LATE", "66666666-0000-4000-8000-000000000001")
      const dates = ["2026-09-30", "2026-11-01", "2026-10-31", "2026-10-30", "2026-11-02", "2026-10-29"]
      for (const [at, date] of dates.entries()) yield* post(bookId, income(date, `${at + 1}.00`))
      yield* post(bookId, income("2026-10-31", "7.00", false))
      yield* assignNumbers(bookId)
      const formats = ["journal", "qbo", "xero-statement", "gl-detail", "business-central"]
      const spans: Array<unknown> = []
      const scopes: ReadonlyArray<ExportScope> = [
        { kind: "period", period: "2026-09" },
        { kind: "period", period: "2026-10" },
        { kind: "period", period: "2026-11" },
        { kind: "range", from: "2026-10-31", to: "2026-10-31" },
        { kind: "all" },
      ]
      for (const scope of scopes) {
        for (const mode of ["detail", "summary"] as const) {
          const { manifest, problems } = yield* exported("LATE", scope, formats, mode)
          expect([scope, problems]).toEqual([scope, []])
          if (mode === "detail") {
            spans.push(
              manifest.statements?.map(({ before, after, gaps, outside }) => [before, after, gaps, outside]),
            )
          }
        }
      }
      expect(spans).toEqual([
        [["0.00", "1.00", 0, "0.00"]],
        [["3.00", "21.00", 1, "2.00"]],
        [["1.00", "15.00", 1, "-13.00"]],
        [["3.00", "6.00", 0, "-8.00"]],
        [["0.00", "21.00", 0, "0.00"]],
      ])
    }),
  )

  it.effect("of a bank account for Xero has a file per account, in parts of 1,000 lines", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("PARTS", "66666666-0000-4000-8000-000000000002")
      for (let at = 0; at < 1001; at++) yield* post(bookId, income("2026-10-02", "1.25"))
      yield* assignNumbers(bookId)
      const { folder, manifest, problems } = yield* exported("PARTS", { kind: "all" }, ["xero-statement"])
      expect(problems).toEqual([])
      expect(manifest.files.map(({ account, name, rows }) => [name, account, rows])).toEqual([
        [`xero-statement-USD-${partner.usd}-01.csv`, partner.usd, 1000],
        [`xero-statement-USD-${partner.usd}-02.csv`, partner.usd, 1],
        ["statement.csv", undefined, 1001],
      ])
      expect(readFileSync(join(folder, `xero-statement-USD-${partner.usd}-02.csv`), "utf8")).toBe(
        "Date,Amount,Payee,Description,Reference,Cheque Number\n2026-10-02,1.25,,Income,PARTS-2026-10-001001,\n",
      )
    }),
  )
})
