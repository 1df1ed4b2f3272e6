/** Batches of a small book's base-currency journal: none is imported twice, and none goes out of date unnoticed. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { allBooks } from "../../src/Book.ts"
import { overtakenLines } from "../../src/Cli/Commands/Exporting/RatesCommand.ts"
import { batchLines } from "../../src/Cli/Tables/BatchTable.ts"
import { exportLines } from "../../src/Cli/Tables/ExportTable.ts"
import { lastDayOf } from "../../src/Common/Time.ts"
import { int4 } from "../../src/Database/Columns.ts"
import { Database } from "../../src/Database.ts"
import { listBatches } from "../../src/Export/Batch/Kept/KnownBatch.ts"
import * as Batches from "../../src/Export/Batches.ts"
import type { ExportScope } from "../../src/Export/Request/ExportScope.ts"
import type * as Export from "../../src/Export.ts"
import { kept, overtaken } from "../../src/Rates.ts"
import { Reconcile } from "../../src/Reconcile.ts"
import { Settings } from "../../src/Settings.ts"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import { asRun, startRun } from "../Reconcile/Books.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { closeMonth, openBook } from "./Books.ts"
import {
  all,
  base,
  client,
  deposit,
  ecbRate,
  exporting,
  failureOf,
  formatSettings,
  october,
  range,
  september,
  states,
} from "./Exporting.ts"

/** Exports of one book in EUR, into one folder. */
const inBase =
  (code: string, out = temporaryFolder()) =>
  (...[scope, formats, more]: Parameters<ReturnType<typeof exporting>>) =>
    exporting(code, out)(scope, formats, { ...more, base })

const autumn = [
  ...[ecbRate("2026-09-10", "0.90"), ecbRate("2026-09-30", "0.95")],
  ...[ecbRate("2026-10-05", "0.91"), ecbRate("2026-10-31", "0.92")],
]

/** Months since that autumn, the one under way as the last. */
const monthsSince = (): ReadonlyArray<string> => {
  const now = new Date()
  const count = 12 * (now.getUTCFullYear() - 2026) + now.getUTCMonth() - 9
  return Array.from({ length: count }, (_, month) =>
    new Date(Date.UTC(2026, 10 + month)).toISOString().slice(0, 7),
  )
}

const screen = { interactive: false, width: 120, color: false }

const numbersOf = ({ batches }: Export.ExportSummary) =>
  batches.flatMap(({ manifest }) => manifest.periods.map(({ entries, first }) => `${first} ${entries}`))

layer(TestDatabase.layer, { excludeTestServices: true })("an accounting system", (it) => {
  it.effect("gets all months that were valued with everything again, the last one without entries, too", () =>
    Effect.gen(function* () {
      yield* addRates(autumn)
      const bookId = yield* openBook("QUIET", client(43))
      yield* deposit(bookId, "2026-09-10", "1000.00")
      const run = inBase("QUIET")
      // October has no entries: September's revaluation is reversed, and the same money is revalued.
      const months = [
        ...numbersOf(yield* run(september, ["qbo"])),
        ...numbersOf(yield* run(october, ["qbo"])),
      ]
      expect(months).toEqual([
        "QUIET-2026-09-000001 1",
        "QUIET-FX-2026-09-000001 1",
        "QUIET-FX-2026-10-000001 2",
      ])
      expect(numbersOf(yield* run(all, ["qbo"], { again: true }))).toEqual(months)
      expect(yield* states(bookId)).toEqual(["1 superseded", "2 superseded", "3 committed"])
      // What a correction changed in October is in it, too.
      yield* addRates([ecbRate("2026-10-31", "0.93")])
      yield* run(all, ["qbo"], { again: true })
      expect(yield* failureOf(run(october, ["qbo"]))).toMatchObject({ reason: "Usage" })
    }),
  )

  it.effect(
    "gets a book's entries either in EUR or in their own currencies: in both they would be imported twice",
    () =>
      Effect.gen(function* () {
        yield* addRates(autumn)
        const bookId = yield* openBook("TWOWAYS", client(7))
        yield* deposit(bookId, "2026-09-10", "1000.00")
        yield* deposit(bookId, "2026-10-05", "10.00")
        const out = temporaryFolder()
        const native = exporting("TWOWAYS", out)
        const run = inBase("TWOWAYS", out)
        yield* native(october, ["qbo"])
        const twice = yield* failureOf(run(october, ["qbo"]))
        expect(twice).toMatchObject({ reason: "Usage" })
        expect(twice.message).toBe(
          "Batch TWOWAYS/1 has days of 2026-10 for qbo in the books' own currencies. Written in EUR they would come a second time: go on without --base, or write them in the other way with --again, to be imported in the batch's place. Nothing was written.",
        )
        // Whatever is exported beside it.
        expect((yield* failureOf(run(october, ["journal", "qbo"]))).message).toBe(twice.message)
        // Another system has had nothing so far; and a batch with `--again` takes the place of the first.
        expect((yield* run(october, ["sage50"])).batches).toHaveLength(1)
        yield* run(october, ["qbo"], { again: true })
        expect(yield* states(bookId)).toEqual(["1 superseded", "2 committed", "3 committed"])
        const sinceLast = yield* failureOf(native({ kind: "since-last" }, ["qbo"]))
        expect(sinceLast.message).toContain("Batch TWOWAYS/3 has days of since-0 for qbo in EUR.")
        expect(sinceLast.message).toContain(
          "--since-last goes with neither: name a month with --period, or --all.",
        )
      }),
  )

  it.effect("is not left with a revaluation without its reversal, nor with a reversal alone", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("BORDERS", client(8))
      yield* deposit(bookId, "2026-09-10", "1000.00")
      yield* deposit(bookId, "2026-10-05", "10.00")
      const out = temporaryFolder()
      const run = inBase("BORDERS", out)
      yield* run(september, ["qbo"])
      const torn = yield* failureOf(exporting("BORDERS", out)(october, ["qbo"]))
      expect(torn.message).toBe(
        "Batch BORDERS/1 has 2026-09-30 for qbo in EUR. Written in the books' own currencies, 2026-10 would leave the revaluation at that border without its reversal, or reverse one that qbo does not have: go on with --base, or write all of it at once without --base: --from 2026-09-01 --to 2026-10-31 --again. Nothing was written.",
      )
      // Within a month there is no revaluation.
      const within = exporting("BORDERS", out)(range("2026-10-06", "2026-10-31"), ["qbo"])
      expect((yield* failureOf(within)).message).toContain("has no entries")
      yield* run(october, ["qbo"])
      expect(yield* states(bookId)).toEqual(["1 committed", "2 committed"])
    }),
  )

  it.effect("is told of the setting where its batches are in another base currency", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("TWOBASES", client(59))
      yield* deposit(bookId, "2026-09-10", "1000.00")
      yield* deposit(bookId, "2026-10-05", "10.00")
      const out = temporaryFolder()
      yield* inBase("TWOBASES", out)(september, ["qbo"])
      const dollars = (scope: ExportScope) =>
        failureOf(exporting("TWOBASES", out)(scope, ["qbo"], { base: { ...base, baseCurrency: "USD" } }))
      const again = "go on with --base and accounting.baseCurrency EUR again, or write"
      expect((yield* dollars(september)).message).toContain(`second time: ${again} them in the other way`)
      expect((yield* dollars(october)).message).toContain(`${again} all of it at once with --base: --from`)
    }),
  )

  it.effect(
    "has a file of everything in the base currency of now alone: the one in the former can never be up to date",
    () =>
      Effect.gen(function* () {
        yield* addRates(autumn)
        const bookId = yield* openBook("NEWBASE", client(71))
        yield* deposit(bookId, "2026-09-10", "1000.00")
        const out = temporaryFolder()
        yield* exporting("NEWBASE", out)(september, ["hledger"])
        yield* inBase("NEWBASE", out)(september, ["hledger"])
        yield* inBase("NEWBASE", out)(september, ["gl-detail"])
        const run = exporting("NEWBASE", out)
        const { outdated } = yield* run(september, ["hledger"], { base: { ...base, baseCurrency: "USD" } })
        expect(outdated.map(({ formats }) => formats)).toEqual([["gl-detail"]])
        yield* run(september, ["gl-detail"], { base: { ...base, baseCurrency: "USD" } })
        expect(yield* states(bookId)).toEqual([
          ...["1 committed", "2 superseded", "3 superseded", "4 committed", "5 committed"],
        ])
      }),
  )

  it.effect("is told of the option that it had, where its batches are in the books' own currencies", () =>
    Effect.gen(function* () {
      yield* deposit(yield* openBook("RATED", client(62)), "2026-10-05", "10.00")
      const out = temporaryFolder()
      yield* exporting("RATED", out)(october, ["netsuite"])
      const rated = yield* failureOf(inBase("RATED", out)(october, ["netsuite"], { rated: true }))
      expect(rated.message).toContain("second time: go on without --with-rates, or write them")
    }),
  )

  it.effect("gets exchange results with rates from the first month on, or not at all", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("RESULTS", client(60))
      yield* deposit(bookId, "2026-09-10", "1000.00")
      yield* deposit(bookId, "2026-10-05", "10.00")
      const out = temporaryFolder()
      const write = (scope: ExportScope, exchangeResults: boolean, again = false) =>
        inBase("RESULTS", out)(scope, ["netsuite"], {
          ...{ rated: true, again },
          tables: { settings: { ...formatSettings, exchangeResults }, baseCurrency: "EUR" },
        })
      yield* write(september, false)
      // October begins with the reversal of a revaluation that the system has never had.
      const torn = yield* failureOf(write(october, true))
      expect(torn.message).toBe(
        "Batch RESULTS/1 has 2026-09-30 for netsuite in EUR with rates and without exchange results. Written in EUR with rates and with exchange results, 2026-10 would leave the revaluation at that border without its reversal, or reverse one that netsuite does not have: go on with --with-rates and formats.exchangeResults false, or write all of it at once with --with-rates: --from 2026-09-01 --to 2026-10-31 --again. Nothing was written.",
      )
      expect((yield* failureOf(write(september, true))).message).toContain("come a second time: go on")
      yield* write(october, false)
      yield* write(range("2026-09-01", "2026-10-31"), true, true)
      expect(yield* states(bookId)).toEqual(["1 superseded", "2 superseded", "3 committed"])
    }),
  )

  it.effect("goes over to the base currency with all days at once, as the refusal says", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("GOESOVER", client(17))
      for (const day of ["2026-08-10", "2026-09-10", "2026-10-05"]) yield* deposit(bookId, day, "1000.00")
      yield* addRates([ecbRate("2026-08-10", "0.90"), ecbRate("2026-08-31", "0.93")])
      const out = temporaryFolder()
      const run = inBase("GOESOVER", out)
      const august = { kind: "period", period: "2026-08" } as const
      for (const month of [august, september]) yield* exporting("GOESOVER", out)(month, ["qbo"])
      const torn = yield* failureOf(run(october, ["qbo"]))
      expect(torn.message).toContain("with --base: --from 2026-08-01 --to 2026-10-31 --again.")
      for (const month of [august, september])
        expect((yield* failureOf(run(month, ["qbo"], { again: true }))).message).toContain(
          "--from 2026-08-01 --to 2026-09-30 --again",
        )
      yield* run(range("2026-08-01", "2026-10-31"), ["qbo"], { again: true })
      expect(yield* states(bookId)).toEqual(["1 superseded", "2 superseded", "3 committed"])
    }),
  )

  it.effect("is told that its batches stand in the way before anything is valued", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("UNVALUED", client(18))
      yield* deposit(bookId, "2026-09-10", "1000.00")
      yield* exporting("UNVALUED", temporaryFolder())(september, ["qbo"])
      yield* closeMonth(bookId, "2026-09")
      const refused = yield* failureOf(inBase("UNVALUED")(september, ["qbo"]))
      expect(refused.message).toContain("in the books' own currencies")
      const database = yield* Database
      const valued = yield* database.rows(
        "Test.valued",
        { months: int4 },
        (sql) => sql`select count(*)::integer as months from valuation.months where book_id = ${bookId}`,
      )
      expect(valued).toEqual([{ months: 0 }])
    }),
  )

  it.effect("gets no empty batch in the base currency", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("NOTHING", client(9))
      yield* deposit(bookId, "2026-09-10", "1000.00")
      const run = inBase("NOTHING")
      const ahead = yield* failureOf(run({ kind: "period", period: "2999-12" }, ["qbo"]))
      expect(ahead.message).toBe("2999-12 lies ahead in NOTHING. Nothing was written.")
      const before = yield* failureOf(run({ kind: "period", period: "2025-01" }, ["qbo"]))
      expect(before.message).toBe("2025-01 has no entries in NOTHING. Nothing was written.")
      expect(yield* states(bookId)).toEqual([])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("batches in the base currency", (it) => {
  it.effect("are refused where their days overlap, whether or not the books have entries on these days", () =>
    Effect.gen(function* () {
      const months = monthsSince()
      const over = months.slice(0, -1)
      const current = months.at(-1) ?? ""
      yield* addRates([...autumn, ...over.map((month) => ecbRate(lastDayOf(month), "0.92"))])
      const bookId = yield* openBook("QUIET", client(1))
      yield* deposit(bookId, "2026-09-10", "1000.00")
      const run = inBase("QUIET")
      const first = yield* run(october, ["qbo"])
      // Only the reversal of September and the revaluation of October; no entry of the books.
      expect(numbersOf(first)).toEqual(["QUIET-FX-2026-10-000001 2"])
      const twice = yield* failureOf(run(october, ["qbo"]))
      expect(twice).toMatchObject({ reason: "Usage" })
      expect(twice.message).toContain("Batch QUIET/1 has days of 2026-10 for qbo in EUR already.")
      expect(numbersOf(yield* run(october, ["qbo"], { again: true }))).toEqual(numbersOf(first))
      expect(yield* states(bookId)).toEqual(["1 superseded", "2 committed"])

      yield* run(range("2026-09-30", "2026-09-30"), ["qbo"])
      expect((yield* failureOf(run(september, ["qbo"]))).message).toContain("Batch QUIET/3 has")
      expect((yield* failureOf(run(all, ["qbo"]))).message).toContain("Batch QUIET/2, QUIET/3 has")
      // Another format has had nothing yet, and days that no batch covers are free.
      expect((yield* run(september, ["sage50"])).batches[0]?.manifest.lineage?.supersedes).toEqual([])
      expect((yield* run(range("2026-09-01", "2026-09-29"), ["qbo"])).batches).toHaveLength(1)
      yield* run(all, ["qbo", "sage50"], { again: true })
      expect(yield* states(bookId)).toEqual([
        ...[1, 2, 3, 4, 5].map((batch) => `${batch} superseded`),
        "6 committed",
      ])
      expect((yield* failureOf(run(september, ["qbo"]))).message).toContain("Batch QUIET/6 has")
      // `--all` ended with the last valued month: the reversals of the one under way are still to come.
      expect((yield* run(range(`${current}-01`, `${current}-01`), ["qbo"])).batches).toHaveLength(1)
    }),
  )

  it.effect("are committed after a preview only as an export would write them now", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("STALE", client(2))
      yield* addRates([ecbRate("2026-08-10", "0.90"), ecbRate("2026-08-31", "0.90")])
      yield* deposit(bookId, "2026-08-10", "1000.00")
      const out = temporaryFolder()
      const run = inBase("STALE", out)
      const august = { kind: "period", period: "2026-08" } as const
      const previewed = (scope: ExportScope = august) =>
        Effect.map(run(scope, ["qbo"], { preview: true }), ({ batches }) => batches[0]?.manifest.batch ?? 0)
      const commit = (batch: number, options = base) =>
        Batches.commit(`STALE/${batch}`, out, "jane", false, options)

      const first = yield* previewed()
      yield* addRates([ecbRate("2026-08-10", "0.80")])
      const stale = yield* failureOf(commit(first))
      expect(stale).toMatchObject({ reason: "Stale" })
      expect(stale.message).toContain("its months have been valued anew")
      const dollars = yield* failureOf(commit(first, { ...base, baseCurrency: "USD" }))
      expect(dollars.message).toContain("the base currency is USD now")
      const second = yield* previewed()
      const third = yield* previewed()
      yield* commit(second)
      expect((yield* failureOf(commit(third))).message).toContain(
        "other batches of the book have been committed",
      )

      // A late entry in an earlier open month changes the opening balances of this one.
      const later = yield* previewed(september)
      yield* deposit(bookId, "2026-08-10", "5.00")
      expect((yield* failureOf(commit(later))).message).toContain("its months have been valued anew")
    }),
  )

  it.effect("have a finding once they are out of date, until they are exported again", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("OUTDATED", client(3))
      yield* deposit(bookId, "2026-09-10", "1000.00")
      const out = temporaryFolder()
      const run = inBase("OUTDATED", out)
      const listed = Effect.map(listBatches(Option.some("OUTDATED")), (rows) =>
        rows.map(({ batch, outdated }) => `${batch} ${outdated}`),
      )
      const findings = Effect.gen(function* () {
        const database = yield* Database
        const reconcile = yield* Reconcile
        yield* reconcile.run({ connection: Option.none(), period: Option.none(), full: false })
        return yield* database.query(
          "Test.findings",
          (sql) => sql<Array<{ subject_id: string; severity: string; message: string }>>`
            select subject_id, severity, message from reconcile.findings
            where book_id = ${bookId} and check_name = 'base-exports' and closed_at is null order by subject_id`,
        )
      }).pipe(Effect.provide(Reconcile.Default.pipe(Layer.provide(Settings.from({ variables: {} })))))
      yield* run(september, ["qbo"])
      yield* run(october, ["qbo"])
      expect([yield* listed, yield* findings]).toEqual([["2 ", "1 "], []])

      // Numbered, and not valued yet.
      yield* deposit(bookId, "2026-09-10", "5.00")
      expect(yield* listed).toEqual(["2 2026-09", "1 2026-09"])
      expect((yield* Batches.show("OUTDATED/1", out)).outdated).toEqual(["2026-09"])
      expect((yield* findings).map((one) => [one.subject_id, one.severity])).toEqual([
        ["1", "warning"],
        ["2", "warning"],
      ])
      const anew = yield* run(september, ["qbo"], { again: true })
      expect(anew.outdated).toEqual([
        { book: "OUTDATED", batch: 2, scope: "2026-10", formats: ["qbo"], months: ["2026-10"], rated: false },
      ])
      expect((yield* findings).map(({ message }) => message)).toEqual([
        "Export batch OUTDATED/2 (qbo of 2026-10, EUR) is out of date, 2026-10 changed since: export it again with --base --again.",
      ])
      expect((yield* run(october, ["qbo"], { again: true })).outdated).toEqual([])
      expect([yield* listed, yield* findings]).toEqual([["4 ", "3 ", "2 ", "1 "], []])
    }),
  )

  it.effect("have it after a nightly run, too, however long ago their months were valued", () =>
    Effect.gen(function* () {
      yield* addRates(autumn)
      const bookId = yield* openBook("NIGHTLY", client(6))
      yield* deposit(bookId, "2026-09-10", "1000.00")
      yield* inBase("NIGHTLY")(september, ["qbo"])
      const book = (yield* allBooks(Option.none())).find(({ code }) => code === "NIGHTLY")
      if (book === undefined) return yield* Effect.dieMessage("no book")
      const found = Effect.gen(function* () {
        const database = yield* Database
        const reconcile = yield* Reconcile
        yield* reconcile.afterRun([book], { ...(yield* asRun(yield* startRun(book))), full: false })
        return yield* database.query(
          "Test.found",
          (sql) => sql<Array<{ subject_id: string }>>`
            select subject_id from reconcile.findings
            where book_id = ${bookId} and check_name = 'base-exports' and closed_at is null`,
        )
      }).pipe(Effect.provide(Reconcile.Default.pipe(Layer.provide(Settings.from({ variables: {} })))))
      yield* found
      const database = yield* Database
      yield* database.query(
        "Test.later",
        (sql) =>
          sql`update reconcile.progress set reconciled_at = now() + interval '2 days' where book_id = ${bookId}`,
      )
      yield* deposit(bookId, "2026-09-10", "5.00")
      expect(yield* found).toEqual([{ subject_id: "1" }])
    }),
  )

  it.effect("are named as soon as an import of rates changes the valuation of their months", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("OVERTAKEN", client(4))
      const own = Effect.map(overtaken(base), (all) => all.filter(({ book }) => book === "OVERTAKEN"))
      yield* deposit(bookId, "2026-09-10", "1000.00")
      const run = inBase("OVERTAKEN")
      yield* run(october, ["qbo", "sage50"])
      expect(yield* own).toEqual([])
      yield* addRates([ecbRate("2026-09-30", "0.96")])
      expect(yield* own).toEqual([
        {
          book: "OVERTAKEN",
          months: ["2026-09", "2026-10"],
          batches: [{ batch: 1, scope: "2026-10", formats: ["qbo", "sage50"], rated: false }],
        },
      ])
      yield* run(october, ["qbo", "sage50"], { again: true })
      expect(yield* own).toEqual([])
      // Rates for days before everything that was valued, or of a currency that the book never had.
      yield* addRates([ecbRate("2026-08-27", "0.96"), { ...ecbRate("2026-09-30", "0.6"), from: "CAD" }])
      expect(yield* own).toEqual([])

      const book = (yield* allBooks(Option.none())).find(({ code }) => code === "OVERTAKEN")
      if (book === undefined) return yield* Effect.dieMessage("no book")
      yield* closeMonth(book.bookId, "2026-09")
      const keptBy = (rates: ReadonlyArray<ReturnType<typeof ecbRate>>) =>
        Effect.map(
          Effect.flatMap(addRates(rates), (version) => kept(version, base)),
          (all) => all.filter(({ book: code }) => code === "OVERTAKEN"),
        )
      // What is corrected for a closed month changes nothing, which is said; once.
      const corrected = [{ book: "OVERTAKEN", months: ["2026-09"], archived: [] }]
      expect(yield* keptBy([ecbRate("2026-09-30", "0.97")])).toEqual(corrected)
      expect(yield* keptBy([ecbRate("2026-09-30", "0.97"), ecbRate("2026-10-20", "0.97")])).toEqual([])
      expect(yield* keptBy([{ ...ecbRate("2026-09-30", "0.61"), from: "CAD" }])).toEqual([])
      expect((yield* own).map(({ months }) => months)).toEqual([["2026-10"]])
      // A month that was closed in another base currency stays as it is.
      expect(yield* overtaken({ ...base, baseCurrency: "USD" })).not.toContainEqual(
        expect.objectContaining({ book: "OVERTAKEN" }),
      )
    }),
  )

  it.effect(
    "are said to keep a rate that an import corrects, also where a month was locked with a later one",
    () =>
      Effect.gen(function* () {
        const bookId = yield* openBook("LOCKEDRATE", client(78))
        yield* deposit(bookId, "2026-07-10", "1000.00")
        yield* addRates(["2026-07-10", "2026-07-31", "2026-08-20"].map((date) => ecbRate(date, "0.91")))
        yield* closeMonth(bookId, "2026-06")
        yield* closeMonth(bookId, "2026-07")
        yield* closeMonth(bookId, "2026-09")
        const version = yield* addRates([ecbRate("2026-08-20", "0.92")])
        const all = yield* kept(version, base)
        expect(all.filter(({ book }) => book === "LOCKEDRATE")).toEqual([
          { book: "LOCKEDRATE", months: ["2026-08"], archived: [] },
        ])
      }),
  )

  it.effect("are said to keep the first rate that was imported after their close", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("FIRSTRATE", client(79))
      yield* deposit(bookId, "2025-03-10", "1000.00")
      yield* closeMonth(bookId, "2025-03")
      yield* addRates(["2025-03-10", "2025-03-31"].map((date) => ecbRate(date, "0.91")))
      const version = yield* addRates([ecbRate("2025-03-31", "0.5")])
      const all = yield* kept(version, base)
      expect(all.filter(({ book }) => book === "FIRSTRATE")).toEqual([
        { book: "FIRSTRATE", months: ["2025-03"], archived: [] },
      ])
    }),
  )

  it.effect(
    "are written again in the way in which they were written, as every place says that names them",
    () =>
      Effect.gen(function* () {
        const bookId = yield* openBook("SAMEWAY", client(77))
        yield* deposit(bookId, "2026-09-10", "1000.00")
        const out = temporaryFolder()
        const run = inBase("SAMEWAY", out)
        yield* run(september, ["datev"], {
          rated: true,
          tables: { settings: formatSettings, baseCurrency: "EUR" },
        })
        yield* run(september, ["qbo"])
        yield* addRates([ecbRate("2026-09-30", "0.955")])
        const all = yield* overtaken(base)
        const own = all.filter(({ book }) => book === "SAMEWAY")
        expect(own.flatMap(overtakenLines)).toEqual([
          "SAMEWAY: 2026-09 will be valued again.",
          "  SAMEWAY/1 2026-09 datev is out of date then: export it again with --with-rates --again.",
          "  SAMEWAY/2 2026-09 qbo is out of date then: export it again with --base --again.",
        ])
        const valued = yield* run(september, ["journal"])
        expect(exportLines(valued, screen).filter((line) => line.startsWith("OUT OF DATE"))).toEqual([
          "OUT OF DATE: SAMEWAY/1 2026-09 datev: 2026-09 changed since. Export it again with --with-rates --again.",
          "OUT OF DATE: SAMEWAY/2 2026-09 qbo: 2026-09 changed since. Export it again with --base --again.",
        ])
        const shown = Effect.map(Batches.show("SAMEWAY/1", out), (one) => batchLines(one, screen)[1])
        expect(yield* shown).toBe(
          "  OUT OF DATE: 2026-09 changed since. Export it again: tieout export --with-rates --again",
        )
      }),
  )

  it.effect("are named once an entry comes that is older than everything that was valued", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("BEGINS", client(5))
      const own = Effect.map(overtaken(base), (all) => all.filter(({ book }) => book === "BEGINS"))
      yield* deposit(bookId, "2026-09-10", "1000.00")
      yield* inBase("BEGINS")(october, ["qbo"])
      expect(yield* own).toEqual([])
      yield* deposit(bookId, "2026-07-10", "1.00")
      expect((yield* own).map(({ months }) => months)).toEqual([["2026-09", "2026-10"]])
    }),
  )
})
