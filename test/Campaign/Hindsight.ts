/**
 * What the books said at a moment: the close package as of it, written soon after it and again in the end, must say the same
 * whatever happened between.
 */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer, Option } from "effect"
import type { Book } from "../../src/Book.ts"
import { Database } from "../../src/Database.ts"
import { report } from "../../src/Report.ts"
import { idsOf } from "./BookIds.ts"
import type { Site } from "./Site.ts"

/** Files whose figures depend on nothing but what was recorded by then. States of movements go by the connector's clock, which is the history's. */
const settled = [
  "trial-balance.csv",
  "gl-detail.csv",
  "roll-forward.csv",
  "comparison.csv",
  "fees.csv",
  "late-entries.csv",
  "receivables-ageing.csv",
]

/** Journal numbers are the current ones, and a receivable's state and the time of its reading go by the connector's clock. */
const current = /\b[A-Z0-9-]+-\d{4}-\d{2}-\d{6}\b|[A-Z]+,\d{4}-\d{2}-\d{2}T[^,]*/g

/** A receivable's client. Its name is the current one, and its identifier where the service did not list it then. */
const clientNames = /^([0-9a-f-]{36}),[^,\n]*/gm

/** A month of a book, what is asked of it, and the files as they were written first. */
export interface Remembered {
  readonly moment: string
  readonly book: Book
  readonly month: string
  readonly files: ReadonlyMap<string, string>
}

const packageOf = (site: Site, { book, month, moment }: Omit<Remembered, "files">) =>
  Effect.gen(function* () {
    const out = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "tieout-hindsight-"))),
      (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true })),
    )
    const [written] = yield* report({
      ...{ period: month, book: Option.some(book.code), out },
      asOf: Option.some({ kind: "moment", text: moment }),
    })
    const folder = written?.folder ?? out
    const files = new Map<string, string>()
    for (const name of yield* Effect.promise(() => readdir(folder))) {
      if (!settled.includes(name)) continue
      files.set(
        name,
        (yield* Effect.promise(() => readFile(join(folder, name), "utf8")))
          .replaceAll(current, "")
          .replaceAll(clientNames, "$1,"),
      )
    }
    return files
  }).pipe(Effect.scoped, Effect.provide(Layer.merge(site.services, site.settings)))

/** The last month of each book that has postings, and the database's clock. */
const lastMonths = (books: ReadonlyArray<Book>) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.lastMonths",
      (sql) => sql<Array<{ readonly book: number; readonly month: string; readonly moment: string }>>`
        select book_id as book, to_char(max(period), 'YYYY-MM') as month,
          to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as moment
        from ledger.periods where book_id = any (${idsOf(books)}::integer[]) group by book_id order by 1`,
    ),
  ).pipe(Effect.orDie)

/** What the last month of every book says now. Nothing of it is kept where somebody is writing right now. */
export const remember = (site: Site, books: ReadonlyArray<Book>) =>
  Effect.gen(function* () {
    const kept: Array<Remembered> = []
    for (const { book: bookId, moment, month } of yield* lastMonths(books)) {
      const book = books.find((one) => one.bookId === bookId)
      if (book === undefined) continue
      const asked = { moment, book, month }
      const files = yield* packageOf(site, asked).pipe(
        Effect.asSome,
        Effect.catchTag("AsOfError", () => Effect.succeedNone),
        Effect.orDie,
      )
      if (Option.isSome(files)) kept.push({ ...asked, files: files.value })
    }
    return kept
  })

/** Lines of a file that another one lacks. */
const lacking = (file: string, other: string): ReadonlyArray<string> => {
  const has = new Set(other.split("\r\n"))
  return file.split("\r\n").filter((line) => !has.has(line))
}

export const hindsightProblems = (site: Site, all: ReadonlyArray<Remembered>) =>
  Effect.forEach(all, (one) =>
    Effect.map(Effect.orDie(packageOf(site, one)), (files) =>
      [...new Set([...files.keys(), ...one.files.keys()])].flatMap((name) => {
        const [before, now] = [one.files.get(name) ?? "", files.get(name) ?? ""]
        const [gone, come] = [lacking(before, now), lacking(now, before)]
        if (gone.length + come.length === 0) return []
        const lines = [
          ...gone.slice(0, 2).map((line) => `- ${line}`),
          ...come.slice(0, 2).map((line) => `+ ${line}`),
        ]
        return [`${name} of ${one.book.code} ${one.month} as of ${one.moment} changed: ${lines.join(" ")}`]
      }),
    ),
  ).pipe(Effect.map((found) => found.flat()))
