/** Files whose checksums were made to fit: only their content can reveal the forgery. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Export from "../../src/Export.ts"
import * as Verify from "../../src/Verify.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { openBook, postMonths } from "./Books.ts"
import { formatSettings } from "./Exporting.ts"
import { forge } from "./Forge.ts"

const formats = [
  "journal",
  "xero",
  "xero-statement",
  "qbo",
  "netsuite",
  "intacct",
  "sage50",
  "business-central",
  "datev",
  "gl-detail",
]

const usd = "xero-statement-USD-11111111-0000-4000-8000-000000000001.csv"

/** The file, the replaced text, its replacement, and the beginning of the first problem. */
const cases: ReadonlyArray<readonly [file: string, from: string, to: string, problem: string]> = [
  [
    "xero-USD.csv",
    ",995.00,",
    ",995.01,",
    "xero-USD.csv:2: the journal 2026-10-000001 (USD) does not balance",
  ],
  ["xero-USD.csv", ",01 Oct 2026,", ",01 Okt 2026,", 'xero-USD.csv:2: "01 Okt 2026" is no date'],
  [
    "qbo-USD.csv",
    "10/01/2026",
    "11/01/2026",
    "qbo-USD.csv:2: the date 2026-11-01 is outside the scope 2026-10",
  ],
  ["qbo-USD.csv", ",5.00,,", ",,5.00,", "qbo-USD.csv:2: the journal 2026-10-000001 (USD) does not balance"],
  [
    "netsuite-USD.csv",
    ",6850,",
    ",6851,",
    "netsuite-USD.csv:3: the account 6851 (USD) is not in the manifest",
  ],
  ["intacct-USD.csv", ",2,6850,", ",3,6850,", "intacct-USD.csv:3: LINE_NO is 3, not 2"],
  [
    "sage50-USD.csv",
    "JD,,1010,0,01/10/2026",
    "JC,,1010,0,01/10/2026",
    "sage50-USD.csv:1: the journal 2026-10-000001",
  ],
  [
    "business-central-USD.csv",
    ",,995.00,",
    ",EUR,995.00,",
    'business-central-USD.csv:2: the currency is "EUR"',
  ],
  [
    "EXTF_2026-10_USD.csv",
    '995,00;"S"',
    '995,00;"H"',
    "datev: USD 1010 does not add up to the manifest's totals",
  ],
  [
    "EXTF_2026-10_USD.csv",
    ";1010;1020;",
    ";1010;1010;",
    "EXTF_2026-10_USD.csv:3: 1010 is booked against itself",
  ],
  ["EXTF_2026-10_USD.csv", "20261031", "20261130", "EXTF_2026-10_USD.csv:1: the period is no month"],
  ["GL_Detail_20261001_20261031.csv", ",D,USD", ",C,USD", "GL_Detail_20261001_20261031.csv:2: the journal"],
  [
    "Trial_Balance_20261001_20261031.csv",
    ",500.00,475.01,",
    ",500.00,475.02,",
    "Trial_Balance_20261001_20261031.csv:3: 475.02 is not the closing balance",
  ],
  [
    "Chart_Of_Accounts_20261001_20261031.csv",
    "6850-USD,",
    "6851-USD,",
    "Chart_Of_Accounts_20261001_20261031.csv:14: 6851-USD is no account of the manifest",
  ],
  [usd, "995.00", "995.01", "xero-statement: USD 11111111-0000-4000-8000-000000000001 does not add up to"],
  [
    "statement.csv",
    ",995.00,1495.00,",
    ",995.00,1495.01,",
    "statement.csv:3: the balance is not the one before",
  ],
  [
    "statement.csv",
    "-000001\n",
    "-000002\n",
    "statement.csv:2: FORGED-2026-10-000002 differs from journal.csv by 995",
  ],
]

layer(TestDatabase.layer)("a forged file", (it) => {
  const exported = Effect.runSync(
    Effect.cached(
      Effect.gen(function* () {
        yield* postMonths(yield* openBook("FORGED"))
        const { batches } = yield* Export.run({
          formats,
          scope: { kind: "period", period: "2026-10" },
          connection: Option.none(),
          book: Option.some("FORGED"),
          out: temporaryFolder(),
          tables: { settings: formatSettings, baseCurrency: "USD" },
        })
        return batches[0]?.folder ?? ""
      }),
    ),
  )

  const problemsOf = Effect.fnUntraced(function* (file: string, change: (text: string) => string) {
    const { problems } = yield* Verify.run(forge(yield* exported, file, change))
    return problems.map(({ file, line, message }) => `${file}${line === null ? "" : `:${line}`}: ${message}`)
  })

  it.effect("is found in every format, with the line", () =>
    Effect.gen(function* () {
      for (const [file, from, to, problem] of cases) {
        const problems = yield* problemsOf(file, (text) => text.replace(from, to))
        expect([file, from, problems[0]?.slice(0, problem.length)]).toEqual([file, from, problem])
      }
    }),
  )

  it.effect("is found where all totals stay what they were, by the journal beside it", () =>
    Effect.gen(function* () {
      // A journal moves to another day of the month.
      const moved = yield* problemsOf("qbo-USD.csv", (text) => text.replaceAll("10/03/2026", "10/04/2026"))
      expect(moved.filter((line) => line.startsWith("qbo-USD.csv:7: "))).toEqual([
        "qbo-USD.csv:7: 2026-10-000006 of 2026-10-04 differs from journal.csv by -20 in USD Assets:Partner:USD:SWIFT:11111111",
      ])
      expect(moved).toContain(
        "qbo: lacks what journal.csv has of 2026-10-000006 of 2026-10-03, by 20 in USD Assets:Partner:USD:SWIFT:11111111",
      )
    }),
  )

  it.effect("is found where a row is missing or doubled", () =>
    Effect.gen(function* () {
      for (const file of [
        "xero-USD.csv",
        "EXTF_2026-10_USD.csv",
        "GL_Detail_20261001_20261031.csv",
        "statement.csv",
      ]) {
        const last = (text: string) => text.slice(text.lastIndexOf("\n", text.length - 2) + 1)
        const without = yield* problemsOf(file, (text) => text.slice(0, -last(text).length))
        const doubled = yield* problemsOf(file, (text) => text + last(text))
        expect(without.length).toBeGreaterThan(1)
        expect(doubled.length).toBeGreaterThan(1)
      }
    }),
  )
})
