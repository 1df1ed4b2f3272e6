/**
 * The last proof of a history that lies around the turn of a year: its months are closed and the first year is moved out of the
 * database. All that is asked of what came later must be answered as before, and no check may find anything new.
 */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer, Option } from "effect"
import { archive } from "../../src/Archive.ts"
import type { Book } from "../../src/Book.ts"
import { Database } from "../../src/Database.ts"
import * as Export from "../../src/Export.ts"
import { Reconcile } from "../../src/Reconcile.ts"
import { report } from "../../src/Report.ts"
import { Settings } from "../../src/Settings.ts"
import { afterArchive } from "./AfterArchive.ts"
import { idsOf } from "./BookIds.ts"
import { day, monthStart } from "./Calendar.ts"
import { turnsTheYear } from "./Generator.ts"
import { closeBooks } from "./Operations/Closing.ts"
import { books, operate } from "./Operations.ts"
import { lastDayOf } from "./Oracle/Base.ts"
import { correctRate, rateOf } from "./RateTable.ts"
import { type Site, within } from "./Site.ts"

/** The years of a history: a month that is over at the real clock can be closed, however late the history's own is. */
const lastYear = 2025

interface Months {
  readonly book: number
  readonly first: string
  readonly last: string
}

const monthsOf = (all: ReadonlyArray<Book>) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.yearsOf",
      (sql) => sql<Array<Months>>`
        select book_id as book, to_char(min(period), 'YYYY-MM') as first, to_char(max(period), 'YYYY-MM') as last
        from ledger.periods where book_id = any (${idsOf(all)}::integer[]) group by 1 order by 1`,
    ),
  ).pipe(Effect.orDie)

const lastOf = (months: ReadonlyArray<Months>): string =>
  months
    .map(({ last }) => last)
    .sort()
    .at(-1) ?? ""

/** What stands open or in balance, and the findings, as lines. */
const standing = (all: ReadonlyArray<Book>) =>
  Effect.flatMap(Database, (database) =>
    database.query("Campaign.standingLines", (sql) => {
      const ids = idsOf(all)
      return sql<Array<{ readonly line: string }>>`
        select concat_ws(' ', 'balance of', book_id, account_id, period, debit, credit) as line
        from ledger.balances where book_id = any (${ids}::integer[])
        union all
        select concat_ws(' ', 'item', i.*) from unnest(${ids}::integer[]) b cross join lateral ledger.open_items(b) i
        union all
        select concat_ws(' ', 'finding', book_id, check_name, subject_id, severity, message)
        from reconcile.findings where book_id = any (${ids}::integer[]) and closed_at is null
        union all
        select concat_ws(' ', 'close', book_id, sequence, period, hash) from ledger.closes where book_id = any (${ids}::integer[])`
    }),
  ).pipe(
    Effect.orDie,
    Effect.map((rows) => rows.map(({ line }) => line.replaceAll(passing, ""))),
  )

const temporary = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "tieout-archived-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true })),
)

/** Pages and workbooks say when they were made, manifests the batch's number. */
const isDated = (name: string): boolean => /manifest|[.](xlsx|html)$/.test(name)

/** How often the service was asked for what it does not have, and when an entry of the base-currency journal was made. */
const passing = /, \d+ times|\d{4}-\d\d-\d\dT[\d:.]+Z/g

/** The lines of all files below a folder, each with its file. */
const linesBelow = (folder: string) =>
  Effect.promise(async () => {
    const lines: Array<string> = []
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || isDated(entry.name)) continue
      const text = await readFile(join(entry.parentPath, entry.name), "utf8")
      const of = `${entry.parentPath.slice(folder.length + 1).split("/")[0] ?? ""}/${entry.name}`
      lines.push(...text.split(/\r?\n/).map((line) => `${of}: ${line.replaceAll(passing, "")}`))
    }
    return lines
  })

/** The journals of the days from a month on, in the books' own currencies and in the base currency. */
const exported = (site: Site, from: string, to: string) =>
  Effect.gen(function* () {
    const { accounting, chart, formats } = yield* Settings
    const { baseCurrency, valuation } = accounting
    const out = yield* temporary
    for (const base of [undefined, { baseCurrency, settings: valuation, chart }]) {
      const tables = { settings: formats, baseCurrency }
      yield* Export.run({
        ...{
          formats: ["journal", "trial-balance"],
          connection: Option.some(site.connection),
          book: Option.none(),
        },
        ...{ out: join(out, base === undefined ? "native" : "base"), scope: { kind: "range", from, to } },
        ...{ who: "jane", keepFiles: false, preview: true, again: true, tables },
        ...(base === undefined ? {} : { base }),
      })
    }
    return yield* linesBelow(out)
  }).pipe(Effect.scoped)

const reported = (all: ReadonlyArray<Months>, named: ReadonlyArray<Book>, year: number) =>
  Effect.gen(function* () {
    const out = yield* temporary
    for (const { book: id, last } of all) {
      const book = named.find(({ bookId }) => bookId === id)
      if (book === undefined || last <= `${year}-12`) continue
      yield* report({ period: last, book: Option.some(book.code), out, asOf: Option.none() })
    }
    return yield* linesBelow(out)
  }).pipe(Effect.scoped)

const answers = (site: Site, all: ReadonlyArray<Book>, months: ReadonlyArray<Months>, year: number) =>
  Effect.gen(function* () {
    const last = lastOf(months)
    return [
      ...(yield* standing(all)),
      ...(yield* exported(site, `${year + 1}-01-01`, lastDayOf(last))),
      ...(yield* reported(months, all, year)),
    ]
  }).pipe(Effect.provide(Layer.merge(site.services, site.settings)))

/** Lines of one list that another one lacks. */
const lacking = (lines: ReadonlyArray<string>, others: ReadonlyArray<string>): ReadonlyArray<string> => {
  const has = new Set(others)
  return lines.filter((line) => !has.has(line))
}

/** Closes the months of a year, until none is left or something stands in the way, and values all months. */
const closeYear = (site: Site, overHttp: boolean, all: ReadonlyArray<Book>, year: number) =>
  Effect.gen(function* () {
    for (let month = 0; month < 3; month++) {
      yield* within(site, overHttp)(closeBooks(site, all, true, `${year}-12`))
    }
    return (yield* operate(site, overHttp, { do: "export", kind: "base", format: "journal" })).done
  })

/** Changes a rate of a month that is open, and changes it back: the month and those after it are valued again. */
const valuedAgain = (site: Site, overHttp: boolean, date: string) =>
  Effect.gen(function* () {
    if (site.corrected.some((one) => one.date === date)) return
    for (const rate of ["0.1234", rateOf("USD", date)]) {
      site.corrected.push({ do: "rates", date, currency: "USD", rate })
      yield* correctRate(date, "USD", rate)
      yield* operate(site, overHttp, { do: "export", kind: "base", format: "journal" })
    }
  })

const archived = (site: Site, overHttp: boolean, year: number) =>
  within(
    site,
    overHttp,
  )(
    archive({
      ...{ year, connection: Option.some(site.connection), book: Option.none(), who: "owner" },
      ...{ file: join(site.out, `archive-${year}.gz`), dryRun: false, neverValued: true },
    }),
  )

export const archiveProblems = (site: Site, overHttp: boolean, told: Array<string>) =>
  Effect.gen(function* () {
    if (!turnsTheYear(site.history.seed)) return []
    const all = yield* books(site)
    const months = yield* monthsOf(all)
    const years = months.flatMap(({ first, last }) => [Number(first.slice(0, 4)), Number(last.slice(0, 4))])
    const year = Math.max(...years) - 1
    if (years.length === 0 || year < Math.min(...years) || year > lastYear) return []
    const { timeZone } = site.world.settings
    // Every month with entries is over for a day.
    site.world.now = Math.max(site.world.now, monthStart(timeZone, (year + 1 - 2025) * 12 + 4) + day)
    const readAll = operate(site, overHttp, { do: "sync", full: true })
    if (!((yield* readAll).done && (yield* closeYear(site, overHttp, all, year)))) return []
    // A close ends findings that only an open month has.
    if (!(yield* readAll).done) return []
    const last = lastOf(months)
    const before = yield* answers(site, all, months, year)
    const { books: states } = yield* archived(site, overHttp, year)
    told.push(...states.map((one) => `archive of ${one.book}: ${one.state} ${one.refusals.join(", ")}`))
    const backfilled = yield* operate(site, overHttp, {
      ...{ do: "backfill", from: `${year}-12-01`, to: `${last}-28` },
    })
    yield* valuedAgain(site, overHttp, `${last}-20`)
    const now = yield* answers(site, all, months, year)
    const [gone, come] = [lacking(before, now), lacking(now, before)]
    const again = yield* operate(site, overHttp, { do: "sync" })
    const { closed, opened } = yield* Effect.flatMap(Reconcile, ({ run }) =>
      run({ connection: Option.some(site.connection), period: Option.none(), full: true }),
    ).pipe(Effect.provide(site.services))
    const problems = [
      ...gone.slice(0, 3).map((line) => `after the archive of ${year} lacks: ${line}`),
      ...come.slice(0, 3).map((line) => `after the archive of ${year} there is: ${line}`),
      ...[backfilled, again].flatMap(({ done, told: what }) =>
        done ? [] : [`after the archive of ${year} not read: ${what}`],
      ),
      ...(opened + closed === 0 ? [] : [`after the archive ${opened} findings open and ${closed} close`]),
    ]
    return problems.length > 0 ? problems : yield* afterArchive(site, overHttp, { all, told, year })
  }).pipe(Effect.orDie)
