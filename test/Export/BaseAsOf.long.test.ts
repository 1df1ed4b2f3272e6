/** The base-currency journal as of a time is the one that an export wrote then, whatever came later. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { decodeSync } from "effect/Schema"
import { allBooks } from "../../src/Book.ts"
import { Database } from "../../src/Database.ts"
import { listBatches } from "../../src/Export/Batch/Kept/KnownBatch.ts"
import type { ExportRequest } from "../../src/Export/Request.ts"
import * as Export from "../../src/Export.ts"
import type { AsOf } from "../../src/Ledger/AsOf.ts"
import type { Valuation } from "../../src/Settings/Accounting.ts"
import { Content } from "../../src/Settings/Content.ts"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import * as Verify from "../../src/Verify.ts"
import { clock } from "../support/clock.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import {
  addConversionAccounts,
  assignNumbers,
  closeMonth,
  leg,
  type Movement,
  openBook,
  post,
  reopenMonth,
  whole,
} from "./Books.ts"
import { exact, rowsOf } from "./Cells.ts"
import { all, client, deposit, everything, exporting, failureOf, october, range } from "./Exporting.ts"

const { accounting, chart } = decodeSync(Content)({})
const inBase = (baseCurrency: string, settings: Partial<Valuation> = {}) => ({
  base: { baseCurrency, settings: { ...accounting.valuation, ...settings }, chart },
})
const formats = ["journal", "hledger", "trial-balance", "qbo"]

const rate = (date: string, price: string, from = "USD") => ({
  date,
  from,
  to: "EUR",
  rate: price,
  source: "ECB",
})

const converted = "44444444-0000-4000-8000-000000000001"

const numbered = Effect.fnUntraced(function* (bookId: number, ...movements: ReadonlyArray<Movement>) {
  for (const movement of movements) yield* post(bookId, movement)
  yield* assignNumbers(bookId)
})

const sold = leg(converted, "2026-10-07", ["USD", "-400.00"])
const bought = leg(converted, "2026-10-08", ["USDT", "380"])
const completed = (kind?: "conversion_reversal", date = "2026-10-08") =>
  whole(converted, date, ["USD", "400.00"], ["USDT", "380"], kind)

/** The files without what may differ: the time of a month's valuation, and the scope's name in plain text. */
const textsOf = (folder: string) => {
  const text = (name: string) => readFileSync(join(folder, name), "utf8")
  const [header = [], ...rows] = rowsOf(join(folder, "journal.csv"))
  const kept = header.indexOf("source_type")
  const recorded = header.indexOf("recorded_at")
  return {
    journal: rows.map((row) => (row[kept] === "valuation" ? row.with(recorded, "") : row).join("|")),
    hledger: text("books.journal").replaceAll(/(2026-10|all)@\d{8}T\d{6}Z/g, "$1"),
    balances: text("trial-balance.csv"),
    movements: text("native_movements.csv"),
  }
}

/** The lines of `difference.csv` must add up to the difference of each account. */
const expectExplained = (folder: string) => {
  const [header = [], ...rows] = rowsOf(join(folder, "difference.csv"))
  const at = (row: ReadonlyArray<string>, name: string) => row[header.indexOf(name)] ?? ""
  const sums = new Map<string, bigint>()
  const add = (row: ReadonlyArray<string>, minor: bigint) => {
    const key = `${at(row, "account_code")} ${at(row, "account_name")}`
    sums.set(key, (sums.get(key) ?? 0n) + minor)
  }
  for (const row of rows) {
    const minor = exact(at(row, "difference"))
    if (at(row, "record") === "account") add(row, minor)
    else {
      add(row, -minor)
      expect(exact(at(row, "now")) - exact(at(row, "then"))).toBe(minor)
    }
  }
  expect([...sums].filter(([, minor]) => minor !== 0n)).toEqual([])
}

/** Runs a statement without the triggers, which would refuse it. */
const past = <A, E, R>(change: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Database, (database) =>
    database.transaction(
      Effect.zipRight(
        database.query("Test.past", (sql) => sql`set local session_replication_role = replica`),
        change,
      ),
    ),
  )

/** Dates the recording of a book's entries to noon (UTC) of the given days, in the order of their numbers. */
const recordedOn = Effect.fnUntraced(function* (bookId: number, days: ReadonlyArray<string>) {
  const database = yield* Database
  const change = database.query(
    "Test.recordedOn",
    (sql) => sql`
      update ledger.journal_entries e set recorded_at = (d.day || 'T12:00:00Z')::timestamptz
      from ledger.journal_numbers n, unnest(${[...days]}::text[]) with ordinality as d (day, number)
      where e.book_id = ${bookId} and n.book_id = ${bookId} and n.entry_id = e.entry_id and n.number = d.number`,
  )
  yield* past(change)
})

/** Dates the import of all rates to that time. */
const importedBefore = Effect.fnUntraced(function* (day: string) {
  const database = yield* Database
  const change = database.query(
    "Test.importedBefore",
    (sql) => sql`update valuation.rate_imports set imported_at = ${day}::text::timestamptz`,
  )
  yield* past(change)
})

const moment = (text: string) => ({ kind: "moment", text }) as const

const justNow = Effect.map(clock, moment)

layer(TestDatabase.layer, { excludeTestServices: true })("the base-currency journal at a time", (it) => {
  it.effect.each([
    { code: "EUROS", last: 11, ...inBase("EUR") },
    // The second leg of the conversion brings the rate and the price.
    { code: "DOLLARS", last: 13, ...inBase("USD", { method: "fifo", rates: "conversions" }) },
  ])("is what was exported then, through late entries, new rates, closes and a reopening: $code", (variant) =>
    Effect.gen(function* () {
      const { base, code, last } = variant
      const bookId = yield* openBook(code, client(last))
      yield* addConversionAccounts(bookId)
      const run = exporting(code, temporaryFolder())
      const book = (yield* allBooks(Option.none())).find((one) => one.code === code)
      if (book === undefined) return yield* Effect.dieMessage("no book")
      const reopening = Effect.zipRight(
        reopenMonth(book.bookId, "2026-10"),
        reopenMonth(book.bookId, "2026-09"),
      )
      const steps = [
        Effect.all([
          addRates([
            rate("2026-09-01", "0.80"),
            rate("2026-09-02", "0.80"),
            rate("2026-09-15", "0.81"),
            rate("2026-09-30", "0.82"),
            rate("2026-10-05", "0.90"),
            rate("2026-10-07", "0.90"),
            rate("2026-10-20", "0.94"),
            rate("2026-10-31", "0.95"),
            rate("2026-10-08", "0.91", "USDT"),
            rate("2026-10-31", "0.93", "USDT"),
          ]),
          deposit(bookId, "2026-09-01", "1000.00"),
          deposit(bookId, "2026-10-05", "500.00"),
        ]),
        // One leg of a conversion, and the leg that completes it.
        numbered(bookId, sold),
        numbered(bookId, bought, completed()),
        addRates([rate("2026-10-31", "0.97")]),
        deposit(bookId, "2026-09-15", "50.00"),
        closeMonth(book.bookId, "2026-09"),
        // The closed month keeps its rate.
        addRates([rate("2026-09-30", "0.70")]),
        deposit(bookId, "2026-10-20", "300.00"),
        closeMonth(book.bookId, "2026-10"),
        reopening,
        deposit(bookId, "2026-09-02", "8.00"),
        addRates([rate("2026-10-31", "0.99")]),
        Effect.zipRight(closeMonth(book.bookId, "2026-09"), closeMonth(book.bookId, "2026-10")),
      ]
      const exported = Effect.fnUntraced(function* (...[scope, names, more]: Parameters<typeof run>) {
        const [batch] = (yield* run(scope, names, { ...more, base })).batches
        return batch ?? (yield* Effect.dieMessage("no batch"))
      })
      const then: Array<{ asOf: AsOf; texts: ReturnType<typeof textsOf> }> = []
      for (const step of steps) {
        yield* step
        const { folder } = yield* exported(october, formats, { again: true })
        then.push({ asOf: yield* justNow, texts: textsOf(folder) })
      }
      // The steps must have changed something, or they would prove nothing.
      expect(new Set(then.map(({ texts }) => JSON.stringify(texts))).size).toBeGreaterThan(5)
      for (const { asOf, texts } of then) {
        const { folder } = yield* exported(october, formats, { asOf })
        expect(textsOf(folder)).toEqual(texts)
        expectExplained(folder)
        expect((yield* Verify.run(folder)).problems).toEqual([])
      }
      const [first = { asOf: yield* justNow }] = then
      for (const scope of [all, range("2026-09-10", "2026-10-06")]) {
        const { difference, folder } = yield* exported(scope, formats, first)
        expectExplained(folder)
        expect(difference?.entries).toBeGreaterThan(1)
        expect((yield* Verify.run(folder)).problems).toEqual([])
      }
      // The stored journal is unchanged.
      const now = yield* exported(october, formats, { asOf: yield* justNow })
      expect(now.difference?.entries).toBe(0)
      expect(textsOf((yield* exported(october, formats, { again: true })).folder)).toEqual(then.at(-1)?.texts)
      // An export as of a time is never reported as out of date.
      yield* reopening
      yield* deposit(bookId, "2026-10-20", "1.00")
      yield* exported(october, formats, { again: true })
      const listed = (yield* listBatches(Option.some(code))).filter(({ scope }) => scope.includes("@"))
      expect(listed.length).toBeGreaterThan(steps.length)
      expect(listed.flatMap(({ outdated }) => outdated)).toEqual([])
    }),
  )

  it.effect("is the stored one for a closed month, whatever the settings are now", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("KEPT", client(14))
      const run = exporting("KEPT", temporaryFolder())
      const book = (yield* allBooks(Option.none())).find(({ code }) => code === "KEPT")
      if (book === undefined) return yield* Effect.dieMessage("no book")
      yield* addRates([rate("2026-10-05", "0.90"), rate("2026-10-31", "0.95")])
      yield* addRates([rate("2026-10-06", "0.92")])
      yield* deposit(bookId, "2026-10-05", "100.00")
      yield* deposit(bookId, "2026-10-06", "100.00")
      const method = Effect.fnUntraced(function* (of: "average" | "fifo", asOf?: AsOf) {
        const settings = inBase("EUR", { method: of })
        const { batches } = yield* run(october, formats, {
          ...settings,
          ...(asOf && { asOf }),
          again: asOf === undefined,
        })
        return batches[0]?.manifest.base?.months[0]?.method
      })
      yield* closeMonth(book.bookId, "2026-10")
      expect(yield* method("average")).toBe("average")
      const first = yield* justNow
      expect(yield* method("fifo", first)).toBe("average")
      // After a reopening the new method applies; as of that time it does not.
      yield* reopenMonth(book.bookId, "2026-10")
      expect(yield* method("fifo")).toBe("fifo")
      yield* closeMonth(book.bookId, "2026-10")
      expect(yield* method("fifo", first)).toBe("average")
      expect(yield* method("average", yield* justNow)).toBe("fifo")
    }),
  )

  it.effect("has no month's end of a month that was not over, and nothing that was recorded later", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("COURSE", client(15))
      yield* importedBefore("2026-10-01")
      yield* deposit(bookId, "2026-10-05", "100.00")
      yield* deposit(bookId, "2026-10-06", "10.00")
      // The smaller number was not assigned first.
      yield* recordedOn(bookId, ["2026-11-05", "2026-10-06"])
      const run = exporting("COURSE", temporaryFolder())
      const at = (text: string) =>
        Effect.map(
          run(october, formats, { ...inBase("EUR"), asOf: moment(text) }),
          ({ batches: [batch] }) => {
            const [, ...rows] = rowsOf(join(batch?.folder ?? "", "journal.csv"))
            const over = batch?.manifest.base?.months.map((month) => month.over)
            return { over, numbers: rows.map(([number = ""]) => number.replace(/^COURSE-/, "")) }
          },
        )
      const first = ["2026-10-000001", "2026-10-000001"]
      const second = ["2026-10-000002", "2026-10-000002"]
      // Cash is revalued, clearing is not.
      const revalued = ["FX-2026-10-000001", "FX-2026-10-000001"]
      expect(yield* at("2026-10-20T00:00:00Z")).toEqual({ over: [false], numbers: second })
      expect(yield* at("2026-11-02T00:00:00Z")).toEqual({ over: [true], numbers: [...second, ...revalued] })
      expect(yield* at("2026-11-06T00:00:00Z")).toEqual({
        over: [true],
        numbers: [...first, ...second, ...revalued],
      })
    }),
  )

  it.effect("does not use the price and the rate of a conversion whose other leg was recorded later", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("LEGS", client(18))
      yield* addConversionAccounts(bookId)
      yield* numbered(bookId, sold, bought, completed())
      yield* recordedOn(bookId, ["2026-10-12", "2026-10-09", "2026-10-12"])
      yield* addRates([{ ...rate("2026-10-08", "1.01", "USDT"), to: "USD" }])
      yield* addRates([{ ...rate("2026-10-31", "1.02", "USDT"), to: "USD" }])
      yield* importedBefore("2026-10-01")
      const run = exporting("LEGS", temporaryFolder())
      const asOf = moment("2026-10-10T00:00:00Z")
      const cost = Effect.fnUntraced(function* (more: Partial<ExportRequest>) {
        const { batches } = yield* run(october, formats, { ...inBase("USD"), ...more })
        const [header = [], ...rows] = rowsOf(join(batches[0]?.folder ?? "", "journal.csv"))
        return rows.find((row) => row.includes("LEGS-2026-10-000002"))?.[header.indexOf("debit")]
      })
      expect(yield* cost({})).toBe("400.00")
      expect(yield* cost({ asOf })).toBe("383.80")
      const conversions = inBase("USD", { rates: "conversions" })
      expect((yield* failureOf(run(october, formats, { ...conversions, asOf }))).message).toContain(
        "2026-10 USDT/USD",
      )
    }),
  )

  it.effect("leaves the stored journal alone, and gives the same whatever came since", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const bookId = yield* openBook("APART", client(20))
      const run = exporting("APART", temporaryFolder())
      yield* addRates([rate("2026-10-05", "0.90"), rate("2026-10-31", "0.95"), rate("2026-10-06", "0.91")])
      yield* deposit(bookId, "2026-10-05", "100.00")
      const never = yield* justNow
      const files = (folder: string) => {
        const { "difference.csv": _, "manifest.json": __, ...rest } = everything(folder)
        return rest
      }
      const at = (asOf: AsOf, more = inBase("EUR")) =>
        Effect.map(run(all, formats, { ...more, asOf }), ({ batches: [batch] }) => ({
          ...{ files: files(batch?.folder ?? ""), lackingRates: batch?.lackingRates },
          ...{ difference: batch?.difference, method: batch?.manifest.base?.months[0]?.method },
        }))
      const kept = database.query(
        "Test.kept",
        (sql) =>
          sql`select period, method, fingerprint, valued_at from valuation.months where book_id = ${bookId}`,
      )
      // Before the first valuation: by today's settings, and nothing of it is stored.
      const unvalued = yield* at(never)
      expect([unvalued.method, unvalued.difference?.entries]).toEqual(["average", 0])
      expect(yield* kept).toHaveLength(0)
      yield* run(all, formats, inBase("EUR"))
      const asOf = yield* justNow
      const before = yield* kept
      expect(before.length).toBeGreaterThan(0)
      const said = yield* at(asOf)

      // Another method, and then days without rates.
      yield* deposit(bookId, "2026-10-06", "5.00")
      const other = yield* at(asOf, inBase("EUR", { method: "fifo" }))
      expect([other.method, other.files]).toEqual(["average", said.files])
      expect(other.difference?.entries).toBeGreaterThan(0)
      yield* deposit(bookId, "2026-11-09", "5.00")
      const lacking = yield* at(asOf)
      expect(lacking.files).toEqual(said.files)
      expect(lacking.difference).toBe(null)
      expect(lacking.lackingRates).toBeGreaterThan(0)
      expect(yield* kept).toEqual(before)
    }),
  )

  it.effect("is refused where rates had not been imported by then, and no book is written", () =>
    Effect.gen(function* () {
      for (const [code, last] of [
        ["EARLY", 16],
        ["LATER", 17],
      ] as const) {
        yield* deposit(yield* openBook(code, client(last)), "2026-07-10", "100.00")
      }
      const asOf = yield* justNow
      yield* addRates([rate("2026-07-10", "0.90"), rate("2026-07-31", "0.90")])
      const out = temporaryFolder()
      const july = { kind: "period", period: "2026-07" } as const
      const refused = yield* failureOf(
        Export.run({
          ...{ formats, scope: july, out, connection: Option.none(), book: Option.none(), asOf },
          ...inBase("EUR"),
        }),
      )
      expect(refused).toMatchObject({ _tag: "ValuationError", reason: "MissingRates" })
      expect(refused.message).toMatch(
        /^2 rates are missing for the base-currency journal as of 2\S+Z\. Nothing was written\.\n {2}2026-07-10 USD\/EUR\n {2}2026-07-31 USD\/EUR\nThey had not been imported by then: choose a later time\.$/,
      )
      expect(readdirSync(out)).toEqual([])
    }),
  )

  it.effect("is refused where a month was valued, once closed, with rates that came later", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("LACKED", client(19))
      const run = exporting("LACKED", temporaryFolder())
      const book = (yield* allBooks(Option.none())).find(({ code }) => code === "LACKED")
      if (book === undefined) return yield* Effect.dieMessage("no book")
      const march = { kind: "period", period: "2026-03" } as const
      yield* deposit(bookId, "2026-03-10", "100.00")
      const asOf = yield* justNow
      yield* closeMonth(book.bookId, "2026-03")
      yield* addRates([rate("2026-03-10", "0.90"), rate("2026-03-31", "0.95")])
      yield* run(march, ["journal"], inBase("EUR"))
      expect(yield* failureOf(run(march, ["journal"], { ...inBase("EUR"), asOf }))).toMatchObject({
        _tag: "ValuationError",
        reason: "MissingRates",
      })
    }),
  )
})
