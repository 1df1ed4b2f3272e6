/** The formats' settings of each book, and the check that no two books are exported into one legal entity's system. */
import { Effect } from "effect"
import type { Book } from "../../Book.ts"
import { text } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import { entityOf, type FormatSettings, settingsOf } from "../../Format/FormatSettings.ts"
import { tablesOf } from "../../Format/Formats.ts"
import { exportError } from "../ExportError.ts"

/** Books with a standing batch of the format: an accounting system has them. */
const booksWith = Effect.fn("Export.booksWith")(function* (format: string) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Export.booksWith",
    { code: text },
    (sql) => sql`
      select distinct b.code from export.standing_batches s join mirror.books b on b.book_id = s.book_id
      where ${format} = any (s.formats) order by b.code`,
  )
  return rows.map(({ code }) => code)
})

/** Refuses settings for a book that does not exist, and a legal entity (DATEV's Mandant) that two books would share. */
export const checkBookSettings = Effect.fn("Export.checkBookSettings")(function* (
  settings: FormatSettings,
  books: ReadonlyArray<Book>,
  known: ReadonlyArray<Book>,
  formats: ReadonlyArray<string>,
) {
  const unknown = Object.keys(settings.books).filter((code) => !known.some((book) => book.code === code))
  if (unknown.length > 0) {
    return yield* exportError(
      "Usage",
      `formats.books names ${unknown.join(", ")}, which is no book: known are ${known.map(({ code }) => code).join(", ")}. Nothing was written.`,
    )
  }
  for (const format of tablesOf(formats)) {
    const chosen = books.map(({ code }) => code)
    if (format.entity === null) continue
    const first = new Map<string, string>()
    for (const code of new Set([...chosen, ...(yield* booksWith(format.name))])) {
      const entity = entityOf(format, settingsOf(settings, code))
      const other = entity === null ? undefined : first.get(entity)
      if (entity !== null && other === undefined) first.set(entity, code)
      if (other !== undefined && (chosen.includes(code) || chosen.includes(other))) {
        return yield* exportError(
          "Refused",
          `${format.name}: ${other} and ${code} are two legal entities and would share ${entity}. Give each its own: formats.books.${code}.${format.name} in the settings. Nothing was written.`,
        )
      }
    }
  }
})
