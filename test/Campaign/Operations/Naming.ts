/**
 * An accountant names the books' accounts in a file and hands it in: what stands in it is what the next file shows, the same file
 * changes nothing, and one with a mistake stores nothing.
 */
import { mkdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Either, Option } from "effect"
import type { Book } from "../../../src/Book.ts"
import { current, importFrom, writeTo } from "../../../src/Export/Mapping.ts"
import type { Operation } from "../History.ts"
import { asideOf, type Site } from "../Site.ts"

/** A defect of the import. */
class Misnamed extends Error {}

type Rows = Effect.Effect.Success<ReturnType<typeof current>>

/** The columns of accounting systems that the campaign exports to. */
const columns = ["xero_code", "qbo_name", "datev_konto"]

const rowsOf = (books: ReadonlyArray<Book>) =>
  Effect.map(
    Effect.forEach(books, ({ code }) => current(Option.some(code))),
    (all) => all.flat(),
  )

/** A number for each account, which another file gives to another account. */
const named = (rows: Rows, { gap, nth }: Extract<Operation, { readonly do: "accounts" }>): Rows =>
  rows.map((row, index) => ({
    ...row,
    ...Object.fromEntries(
      columns.map((column) => [
        column,
        gap && index === 0 ? "" : String(4000 + ((index + nth) % rows.length)),
      ]),
    ),
  }))

const written = (rows: Rows): ReadonlyArray<string> =>
  rows.map((row) => JSON.stringify(Object.entries(row).sort()))

const handedIn = (site: Site, rows: Rows) => {
  const file = join(asideOf(site), `accounts-${performance.now()}.${rows.length % 2 === 0 ? "csv" : "xlsx"}`)
  return Effect.acquireUseRelease(
    Effect.zipRight(
      Effect.promise(() => mkdir(asideOf(site), { recursive: true })),
      writeTo(file, rows),
    ),
    () => importFrom(file),
    () => Effect.promise(() => rm(file, { force: true })),
  )
}

export const nameAccounts = (
  site: Site,
  books: ReadonlyArray<Book>,
  operation: Extract<Operation, { readonly do: "accounts" }>,
) =>
  Effect.gen(function* () {
    const rows = named(yield* rowsOf(books), operation)
    const [first, ...more] = rows
    if (first === undefined) return "no accounts"
    const imported = yield* handedIn(site, rows)
    const wrong = yield* Effect.either(handedIn(site, [...more, { ...first, xero_code: "=1+1" }]))
    if (Either.isRight(wrong)) return yield* Effect.die(new Misnamed("a formula was taken for a code"))
    const again = yield* handedIn(site, rows)
    const moved = again.filter(
      ({ book, changes, version }) =>
        changes.length > 0 || version !== imported.find((one) => one.book === book)?.version,
    )
    const shown = new Set(written(yield* rowsOf(books)))
    const lost = written(rows).filter((row) => !shown.has(row))
    if (moved.length + lost.length > 0) {
      const text = `${moved.length} books changed by the same file, rows not shown: ${lost.slice(0, 3).join("; ")}`
      return yield* Effect.die(new Misnamed(text))
    }
    return `${rows.length} accounts named`
  })
