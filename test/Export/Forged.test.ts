/** Files whose checksums were made to fit: only their content can reveal the forgery. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Verify from "../../src/Verify.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { forge, toForge } from "./Forge.ts"

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

/** The file, the replaced text, its replacement, and the problems, each of which a check of its own finds. */
type Check = readonly [file: string, from: string, to: string, problems: ReadonlyArray<string>]

const balances = "Trial_Balance_20261001_20261031.csv"
const chart = "Chart_Of_Accounts_20261001_20261031.csv"

/** The files of the accounts beside the general ledger detail. */
const accountFiles: ReadonlyArray<Check> = [
  ...[",2025,10,2026-10-31,500.00", ",2026,9,2026-10-31,500.00", ",2026,10,2026-09-30,500.00"].map(
    (to): Check => [
      balances,
      ",2026,10,2026-10-31,500.00",
      to,
      [`${balances}:3: the period is not the date's`],
    ],
  ),
  [balances, ",500.00,475.01,", ",499.00,475.01,", [`${balances}:3: 499.00 is not the opening balance`]],
  [balances, ",475.01,USD,", ",475.01,EUR,", [`${balances}:3: the currency is "EUR"`]],
  [balances, ",475.01,USD,FORGED", ",475.01,USD,OTHER", [`${balances}:3: the business unit is "OTHER"`]],
  [
    balances,
    "Amount_Beginning,Amount_Ending",
    "Amount_Ending,Amount_Beginning",
    [`${balances}:1: the header is not the standard's`],
  ],
  [
    chart,
    "6850-USD,",
    "6851-USD,",
    [
      `${chart}:14: 6851-USD is no account of the manifest, or a second one`,
      `${chart}: lacks the account 6850-USD`,
    ],
  ],
  ...["1010 EUR 11111111-", "1020 USD 11111111-", "1010 USD 21111111-"].map(
    (to): Check => [chart, "1010 USD 11111111-", to, [`${chart}:3: the description is another account's`]],
  ),
  [chart, "000001,Assets,", "000001,Asset,", [`${chart}:3: the account type is "Asset"`]],
  [chart, "000001,Assets,", "000001,Revenue,", [`${chart}:3: the account type is "Revenue"`]],
  [chart, "000001,Assets,cash", "000001,Assets,fees", [`${chart}:3: the account subtype is "fees"`]],
  [chart, ",cash,FORGED", ",cash,OTHER", [`${chart}:2: the business unit is "OTHER"`]],
  ...[12, 14].map(
    (rows): Check => [
      "manifest.json",
      '"chart-of-accounts",\n      "rows": 13',
      `"chart-of-accounts",\n      "rows": ${rows}`,
      [`${chart}: has 13 rows, the manifest says ${rows}`],
    ],
  ),
]

const checks: ReadonlyArray<Check> = [
  [
    "journal.csv",
    "FORGED-2026-10-000001,2,",
    "FORGED-2026-10-000001,3,",
    ["journal.csv:3: line 3 of FORGED-2026-10-000001 comes where line 2 belongs"],
  ],
  [
    "journal.csv",
    ",5.00,,deposit,Deposit from Acme",
    ",5.00,,deposit,Deposit from Acmy",
    ["journal.csv:3: the lines of FORGED-2026-10-000001 differ in what they must share"],
  ],
  ["journal.csv", ",0.01,,deposit", ",0.00,,deposit", ["journal.csv:5: the amount is zero"]],
  ["journal.csv", ",1,FORGED,", ",1,OTHER,", ['journal.csv:2: the book is "OTHER", not FORGED']],
  [
    "journal.csv",
    ",2026-10-01,",
    ",2026-10-00,",
    ["journal.csv:2: the effective date 2026-10-00 is outside the scope 2026-10"],
  ],
  [
    "journal.csv",
    ",2026-10-01,",
    ",2026-10-32,",
    ["journal.csv:2: the effective date 2026-10-32 is outside the scope 2026-10"],
  ],
  [
    "journal.csv",
    "FORGED-2026-10-000001",
    "FORGED-2026-09-000001",
    ['journal.csv:2: "FORGED-2026-09-000001" is not a journal number of FORGED-2026-10-…'],
  ],
  ...accountFiles,
  ["statement.csv", ",USD,3,", ",EUR,3,", ["statement.csv:3: the currency is EUR"]],
  ["statement.csv", ",USD,3,", ",USD,2,", ["statement.csv:3: the position 2 is out of order"]],
  [
    "statement.csv",
    ",USD,5,",
    ",USD,6,",
    ["statement.csv: 11111111-0000-4000-8000-000000000001: has 1 gaps, the manifest says 0"],
  ],
  [
    "statement.csv",
    "11111111-0000-4000-8000-000000000002,",
    "11111111-0000-4000-8000-000000000000,",
    [
      "statement.csv:6: the account 11111111-0000-4000-8000-000000000000 is out of order",
      "statement.csv: the manifest has no account 11111111-0000-4000-8000-000000000000",
      "statement.csv: 11111111-0000-4000-8000-000000000002: its entries are not those that the manifest counts (1, 994.20310000)",
    ],
  ],
  [
    "manifest.json",
    '"opening": "500.00"',
    '"opening": "500.01"',
    [
      "manifest.json: 1010 Assets:Partner:USD:SWIFT:11111111 (USD): opening and turnovers do not lead to the closing balance",
      "manifest.json: the opening balances of USD do not add up to zero",
    ],
  ],
  [
    "statement.csv",
    "2026-10-01T09",
    "2026-10-01 09",
    ['statement.csv:2: "2026-10-01 09:30:00.123000Z" is no time'],
  ],
  ["statement.csv", ",2222", ",222", ["statement.csv:2: an identifier cannot be read"]],
  [
    "manifest.json",
    '"entries": 4,\n      "amount": "-24.99"',
    '"entries": 5,\n      "amount": "-24.99"',
    [
      "statement.csv: 11111111-0000-4000-8000-000000000001: its entries are not those that the manifest counts (5, -24.99)",
    ],
  ],
  [
    "manifest.json",
    '"gaps": 0',
    '"gaps": 1',
    ["statement.csv: 11111111-0000-4000-8000-000000000001: has 0 gaps, the manifest says 1"],
  ],
  [
    "manifest.json",
    '"opening": "500.00"',
    '"opening": "499.99"',
    ["manifest.json: the opening balances of USD do not add up to zero"],
  ],
  [
    "manifest.json",
    '"credit": "2020.01"',
    '"credit": "2020.02"',
    [
      "manifest.json: the totals of USD are not those of its accounts",
      "manifest.json: USD: debits of 2020.01 and credits of 2020.02 differ",
    ],
  ],
  [
    "manifest.json",
    '"debit": "2020.01"',
    '"debit": "2020.02"',
    [
      "manifest.json: the totals of USD are not those of its accounts",
      "manifest.json: USD: debits of 2020.02 and credits of 2020.01 differ",
    ],
  ],
  [
    "manifest.json",
    '"debit": "995.01",\n      "credit": "1020.00"',
    '"debit": "996.01",\n      "credit": "1021.00"',
    [
      "journal.csv: 1010 Assets:Partner:USD:SWIFT:11111111 (USD): debit / credit are 995.01 / 1020.00, the manifest says 996.01 / 1021.00",
      "xero: USD 1010 does not add up to the manifest's totals",
    ],
  ],
  [
    "manifest.json",
    '"entries": 6,\n  "p',
    '"entries": 7,\n  "p',
    ["manifest.json: 7 entries in all, but 6 in its periods"],
  ],
  [
    "manifest.json",
    '"postings": 16',
    '"postings": 17',
    ["manifest.json: 17 postings in all, but 16 in its currencies"],
  ],
  [
    "manifest.json",
    '"entries": 4,\n      "postings": 12',
    '"entries": 5,\n      "postings": 12',
    ["journal.csv: USD: 4 entries and 12 postings, the manifest says 5 and 12"],
  ],
  [
    "manifest.json",
    '"entries": 4,\n      "postings": 12',
    '"entries": 4,\n      "postings": 13',
    ["journal.csv: USD: 4 entries and 12 postings, the manifest says 4 and 13"],
  ],
  [
    "manifest.json",
    '"first": "FORGED-2026-10-000001",\n      "last": "FORGED-2026-10-000006"',
    '"first": "FORGED-2026-10-000002",\n      "last": "FORGED-2026-10-000007"',
    [
      "manifest.json: the journal numbers of 2026-10 (FORGED-2026-10-000002 to FORGED-2026-10-000007) are not gapless",
      "journal.csv: entries of 2026-10: 6, FORGED-2026-10-000001 to FORGED-2026-10-000006; the manifest says 2026-10: 6, FORGED-2026-10-000002 to FORGED-2026-10-000007",
    ],
  ],
  [
    "manifest.json",
    '"last": "FORGED-2026-10-000006"',
    '"last": "FORGED-2026-10-000007"',
    [
      "manifest.json: the journal numbers of 2026-10 (FORGED-2026-10-000001 to FORGED-2026-10-000007) are not gapless",
    ],
  ],
  ["manifest.json", '"batch": 1', '"batch": 2', ["manifest.json: batch 2 follows batch none"]],
  [
    "manifest.json",
    '"delta": false',
    '"delta": true',
    ["manifest.json: the batches that it follows or supersedes make no sense"],
  ],
  [
    "manifest.json",
    '"supersedes": []',
    '"supersedes": [1]',
    ["manifest.json: the batches that it follows or supersedes make no sense"],
  ],
  [
    "manifest.json",
    '"rowsPerFile": 300',
    '"rowsPerFile": 11',
    ["xero-USD.csv: has 12 rows, the format takes 11"],
  ],
  [
    "manifest.json",
    '"before": "500.00"',
    '"before": "500.01"',
    [
      "statement.csv: 11111111-0000-4000-8000-000000000001: does not begin at the manifest's balance 500.01",
      "statement.csv: 11111111-0000-4000-8000-000000000001: its balances are not those of the books' cash",
    ],
  ],
  [
    "manifest.json",
    '"after": "475.01"',
    '"after": "475.02"',
    ["statement.csv: 11111111-0000-4000-8000-000000000001: does not end at the manifest's balance 475.02"],
  ],
  [
    "manifest.json",
    '"outside": "0.00"',
    '"outside": "0.01"',
    ["statement.csv: 11111111-0000-4000-8000-000000000001: its balances are not those of the books' cash"],
  ],
  [
    "manifest.json",
    '"amount": "-24.99"',
    '"amount": "-24.98"',
    [
      "statement.csv: 11111111-0000-4000-8000-000000000001: its entries are not those that the manifest counts (4, -24.98)",
    ],
  ],
]

layer(TestDatabase.layer)("a forged file", (it) => {
  const exported = Effect.runSync(Effect.cached(toForge(formats)))

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

  it.effect("is found by every check, the manifest among the files", () =>
    Effect.gen(function* () {
      for (const [file, from, to, problems] of checks) {
        const found = yield* problemsOf(file, (text) => text.replace(from, to))
        expect([file, to, found]).toEqual([file, to, expect.arrayContaining([...problems])])
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
