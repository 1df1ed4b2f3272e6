/** The formats' settings of each book, and the check that no two books are exported into one legal entity's system. */
import { Array as Arr, Effect } from "effect"
import type { Book } from "../../Book.ts"
import { int4, nullable, text } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import { entityOf, type FormatSettings, settingsOf } from "../../Format/FormatSettings.ts"
import { tablesOf } from "../../Format/Formats.ts"
import { exportError } from "../ExportError.ts"

/** The newest standing batch of each book that has one of the format: an accounting system has it. */
const newestOf = Effect.fn("Export.newestOf")(function* (format: string) {
  const database = yield* Database
  return yield* database.rows(
    "Export.newestOf",
    // The legal entity that it was written for; null where its version did not keep it.
    { code: text, batch: int4, entity: nullable(text) },
    (sql) => sql`
      select k.code, s.batch, b.manifest #>> array['tables', 'entities', ${format}::text] as entity
      from (
        select book_id, max(batch) as batch from export.standing_batches
        where ${format} = any (formats) group by book_id) s
      join export.batches b on b.book_id = s.book_id and b.batch = s.batch
      join mirror.books k on k.book_id = s.book_id
      order by k.code`,
  )
})

/**
 * Refuses settings for a book that does not exist, and a legal entity (DATEV's Mandant) that two books would share. Returns what to
 * warn of where a book's next batch is for another entity than its newest: that one's system has nothing of the batches before.
 */
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
  const chosen = new Set(books.map(({ code }) => code))
  const moved: Array<string> = []
  for (const format of tablesOf(formats)) {
    if (format.entity === null) continue
    const standing = yield* newestOf(format.name)
    const first = new Map<string, string>()
    for (const code of new Set([...chosen, ...standing.map((one) => one.code)])) {
      const entity = entityOf(format, settingsOf(settings, code))
      const other = entity === null ? undefined : first.get(entity)
      if (entity !== null && other === undefined) first.set(entity, code)
      if (other !== undefined && (chosen.has(code) || chosen.has(other))) {
        return yield* exportError(
          "Refused",
          `${format.name}: ${other} and ${code} are two legal entities and would share ${entity}. Give each its own: formats.books.${code}.${format.name} in the settings. Nothing was written.`,
        )
      }
    }
    const newest = new Map(standing.map((one) => [one.code, one]))
    // Batches of versions that did not keep it are for none.
    const writtenFor = Arr.groupBy(standing, ({ entity }) => entity ?? "")
    for (const code of chosen) {
      const entity = entityOf(format, settingsOf(settings, code))
      if (entity === null) continue
      const other = writtenFor[entity]?.find((one) => one.code !== code)
      if (other !== undefined) {
        const batch = `${other.code}/${other.batch}`
        return yield* exportError(
          "Refused",
          `${format.name}: ${code} would be written for ${entity}, for which ${batch} stands: ${other.code} and ${code} are two legal entities. Give ${code} its own: formats.books.${code}.${format.name} in the settings. If ${batch} is in no system, or was taken out of it: tieout batches supersede ${batch} --reason "…". Nothing was written.`,
        )
      }
      const before = newest.get(code)
      if (before === undefined || before.entity === null || before.entity === entity) continue
      moved.push(
        `${format.name}: ${code} is written for ${entity}, and ${code}/${before.batch} was for ${before.entity}: what earlier batches hold is not written again. Set formats.books.${code}.${format.name} back, or write everything for the new one with --all --again.`,
      )
    }
  }
  return moved
})
