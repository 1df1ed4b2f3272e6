import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { isEcbHistory, readEcbHistory } from "../../../src/Valuation/Rates/EcbHistory.ts"
import { printedRates, readRates } from "../../../src/Valuation/Rates/RatesCsv.ts"
import { fromConversions, fromRows, type RateRow } from "../../../src/Valuation/Rates/RateTable.ts"

const read = (text: string) => readRates(Buffer.from(text))
const header = "date,from,to,rate,source\n"

describe("a rates file", () => {
  it("is read row by row, with a repeated rate once, and is exported again as it was", () => {
    const text = `${header}2026-10-01,EUR,USD,1.0870,ECB\n2026-10-01,EUR,USD,1.087,other\n2026-10-02,USDT,EUR,0.92,"a, b"\n`
    const rows = read(text)
    expect(rows).toEqual(
      Either.right([
        { date: "2026-10-01", from: "EUR", to: "USD", rate: "1.0870", source: "ECB" },
        { date: "2026-10-02", from: "USDT", to: "EUR", rate: "0.92", source: "a, b" },
      ]),
    )
    expect(Either.map(rows, (found) => read(`${printedRates(found).join("\n")}\n`))).toEqual(
      Either.right(rows),
    )
  })

  it("is refused as a whole, with every mistake and its line", () => {
    const text = [
      "date,from,to,rate,source",
      "2026-10-01,EUR,USD,,ECB",
      "2026-10-02,EUR,USD,1,087,ECB",
      "2026-02-30,EUR,USD,1.087,ECB",
      "2026-10-03,eur,XXX,1e3,=1+1",
      "2026-10-04,EUR,EUR,1,ECB",
      "2026-10-05,EUR,USD,1.08,ECB",
      "2026-10-05,EUR,USD,1.09,ECB",
      "2026-10-06,EUR,USD,0.00,ECB",
      "2026-10-06,USD,EUR,-0.9,",
      "0000-10-06,USD,EUR,0.9,ECB",
    ].join("\n")
    expect(read(text)).toEqual(
      Either.left([
        { line: 2, text: "rate: is empty, expected a positive number with a decimal point, such as 0.9123" },
        { line: 3, text: "has 6 cells, the header has 5" },
        { line: 4, text: 'date: found "2026-02-30", expected a day as YYYY-MM-DD' },
        { line: 5, text: 'from: found "eur", expected a currency such as USD' },
        { line: 5, text: 'to: found "XXX", expected a currency such as EUR' },
        {
          line: 5,
          text: 'rate: found "1e3", expected a positive number with a decimal point, such as 0.9123',
        },
        { line: 5, text: 'source: found "=1+1", expected at most 100 characters and no formula' },
        { line: 6, text: "from and to are both EUR" },
        { line: 8, text: "2026-10-05 EUR USD is 1.09 here and 1.08 on line 7" },
        {
          line: 9,
          text: 'rate: found "0.00", expected a positive number with a decimal point, such as 0.9123',
        },
        {
          line: 10,
          text: 'rate: found "-0.9", expected a positive number with a decimal point, such as 0.9123',
        },
        { line: 10, text: "source: is empty, expected at most 100 characters and no formula" },
        { line: 11, text: 'date: found "0000-10-06", expected a day as YYYY-MM-DD' },
      ]),
    )
  })

  it.each([
    ["1.1", "0.5", true],
    ["1.25", "0.808", false],
    ["1.25", "0.80800001", true],
    ["1.25", "0.792", false],
    ["1.25", "0.79199999", true],
    ["100", "0.01", false],
  ])("with both directions of a pair on a day, %s and %s, contradicts itself: %s", (there, back, refused) => {
    const text = `${header}2026-10-01,EUR,USD,${there},ECB\n2026-10-02,USD,EUR,0.5,ECB\n2026-10-01,USD,EUR,${back},ECB\n`
    const mistake = `2026-10-01 USD EUR is ${back} here and EUR USD is ${there} on line 2: one turned round, they are more than 1 % apart`
    expect(Either.flip(read(text))).toEqual(
      refused ? Either.right([{ line: 4, text: mistake }]) : Either.left(expect.any(Array)),
    )
  })

  it.each([
    ["", "the file is empty"],
    ["date,from,to,rate\n", "lacks the column source"],
  ])("that holds nothing is refused: %j", (text, message) => {
    expect(read(text)).toEqual(Either.left([{ line: 1, text: message }]))
  })

  it("with only a header has no rates", () => {
    expect(read(header)).toEqual(Either.right([]))
  })

  it.each([";", "\t", ","])("may name %j as its separator on the first line", (separator) => {
    const cells = (...all: ReadonlyArray<string>) => all.join(separator)
    const lines = [
      cells("date", "from", "to", "rate", "source"),
      cells("2026-10-01", "EUR", "USD", "1.08", "ECB"),
    ]
    const rates = Either.right([{ date: "2026-10-01", from: "EUR", to: "USD", rate: "1.08", source: "ECB" }])
    expect(read(lines.join("\r\n"))).toEqual(rates)
    for (const said of [`sep=${separator}`, `\uFEFFSEP=${separator}`, `"sep=${separator}"`]) {
      expect(read([said, ...lines].join("\r\n"))).toEqual(rates)
    }
    // The line of a mistake counts from the start of the file.
    expect(read([`sep=${separator}`, lines[0], cells("2026-10-01", "EUR")].join("\n"))).toEqual(
      Either.left([{ line: 3, text: "has 2 cells, the header has 5" }]),
    )
  })

  it("that names another separator is refused", () => {
    expect(read(`sep=|\n${header}`)).toEqual(
      Either.left([
        { line: 1, text: 'says that cells are separated by "|", expected a comma, a semicolon or a tab' },
      ]),
    )
  })

  it("in another encoding is refused with the line", () => {
    const bytes = Buffer.concat([Buffer.from(`${header}2026-10-01,EUR,USD,1.08,`), Buffer.from([0xe4, 0x0a])])
    expect(readRates(bytes)).toEqual(
      Either.left([{ line: 2, text: "is not in UTF-8: save the file as CSV UTF-8" }]),
    )
  })
})

const row = (date: string, from: string, to: string, rate: string): RateRow => ({
  date,
  from,
  to,
  rate,
  source: "ECB",
})

describe("the rate of a day", () => {
  const rows = [
    row("2026-10-01", "USD", "EUR", "0.9"),
    row("2026-10-01", "EUR", "USD", "1.5"),
    row("2026-10-03", "EUR", "USD", "1.25"),
  ]

  it("is that of the pair, else the exact inverse of the reversed pair", () => {
    const lookup = fromRows(rows, "EUR", 0)
    expect(lookup("USD", "2026-10-01")).toMatchObject({ numerator: 9n, denominator: 10n, text: "0.9" })
    expect(lookup("USD", "2026-10-03")).toMatchObject({
      numerator: 100n,
      denominator: 125n,
      text: "1/1.25",
    })
    expect(lookup("USD", "2026-10-02")).toBeUndefined()
  })

  it("may be as old as the settings allow, and names its day", () => {
    const lookup = fromRows(rows, "EUR", 2)
    expect(lookup("USD", "2026-10-02")).toMatchObject({ date: "2026-10-01" })
    expect(lookup("USD", "2026-10-05")).toMatchObject({ date: "2026-10-03" })
    expect(lookup("USD", "2026-10-06")).toBeUndefined()
  })

  it("is the quotient of what a month's conversions bought and sold, for every day of the month", () => {
    const lookup = fromConversions(
      [{ currency: "USDT", scale: 8, foreign: 200_000_000n, base: 183n }],
      "2026-10-31",
    )
    expect(lookup("USDT", "2026-10-01")).toEqual({
      numerator: 18_300_000_000n,
      denominator: 20_000_000_000n,
      text: "1.83/2.00000000",
      date: "2026-10-31",
      source: "conversions of 2026-10",
    })
    expect(lookup("USD", "2026-10-01")).toBeUndefined()
  })
})

describe("the history of the European Central Bank", () => {
  const history = [
    "Date,USD,JPY,GBP,CYP,",
    "2026-10-02,1.0870,163.12,0.8345,N/A,",
    "2026-10-01,1.0855,162.9,N/A,N/A,",
  ].join("\n")
  const rowsOf = (text: string) => Either.getOrThrow(readEcbHistory(Buffer.from(text)))

  it("is read as it is published: units for one euro, without missing values", () => {
    expect(isEcbHistory(Buffer.from(history))).toBe(true)
    expect(isEcbHistory(Buffer.from(header))).toBe(false)
    expect(rowsOf(history).map(({ date, from, rate, source, to }) => [date, from, to, rate, source])).toEqual(
      [
        ["2026-10-02", "EUR", "USD", "1.0870", "ECB"],
        ["2026-10-02", "EUR", "JPY", "163.12", "ECB"],
        ["2026-10-02", "EUR", "GBP", "0.8345", "ECB"],
        ["2026-10-01", "EUR", "USD", "1.0855", "ECB"],
        ["2026-10-01", "EUR", "JPY", "162.9", "ECB"],
      ],
    )
  })

  it("is inverted, and crossed for another base currency, as exact fractions", () => {
    const inEuro = fromRows(rowsOf(history), "EUR", 4)("USD", "2026-10-04")
    expect(inEuro).toMatchObject({
      numerator: 10000n,
      denominator: 10870n,
      text: "1/1.0870",
      date: "2026-10-02",
    })
    const inDollars = fromRows(rowsOf(history), "USD", 4)
    const pounds = inDollars("GBP", "2026-10-04")
    expect(pounds).toMatchObject({ text: "1.0870*1/0.8345", date: "2026-10-02", source: "ECB" })
    // 1.0870 / 0.8345, exactly.
    expect((pounds?.numerator ?? 0n) * 8345n).toBe((pounds?.denominator ?? 0n) * 10870n)
    expect(inDollars("EUR", "2026-10-02")?.text).toBe("1.0870")
    // Both rates must be of the same day: the pound has none on the first.
    expect(inDollars("GBP", "2026-10-01")).toBeUndefined()
  })

  it("in a regional number format, or changed by a spreadsheet, is refused with the cell and its line", () => {
    const mistakes = (text: string) => Either.getOrThrow(Either.flip(readEcbHistory(Buffer.from(text))))
    expect(mistakes("Date;USD;JPY\n2026-10-02;1,0870;163,12\n")).toEqual([
      { line: 2, text: 'USD: found "1,0870", expected a positive number with a decimal point, or N/A' },
      { line: 2, text: 'JPY: found "163,12", expected a positive number with a decimal point, or N/A' },
    ])
    expect(
      mistakes("Date,USD\n02.10.2026,1.0870\n2026-10-01,1.08,7\n2026-10-01,1.08\n2026-10-01,1.09\n"),
    ).toEqual([
      { line: 2, text: 'Date: found "02.10.2026", expected a day as YYYY-MM-DD' },
      { line: 3, text: "has 3 cells, the header has 2" },
      { line: 5, text: "2026-10-01 stands on line 4 already" },
    ])
    expect(mistakes("Date,USD,Dollar\n")).toEqual([
      { line: 1, text: 'has the column "Dollar", which is no currency' },
    ])
  })
})
