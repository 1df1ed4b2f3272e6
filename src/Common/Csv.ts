/** CSV by RFC 4180, through csv-stringify. A leading quote keeps a spreadsheet from running a text as a formula. */
import { stringify } from "csv-stringify/sync"

/** Separates cells whose text may hold line feeds: Postgres text never holds a NUL. */
const partition = "\0"

/** Text that needs no quotes: most of it, and csv-stringify is the slowest step of a large export. */
const harmless = /^[A-Za-z0-9][\w ./:()#-]*$/

const stringified = (texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  stringify(
    texts.map((text) => [text]),
    { record_delimiter: partition, quote_record_delimiter: true, escape_formulas: true },
  ).split(partition)

/** Each text as a CSV cell: quoted where RFC 4180 asks for it, never a formula. Not for amounts. */
export const textCells = (texts: ReadonlyArray<string>): ReadonlyArray<string> => {
  const cells = [...texts]
  const places: Array<number> = []
  texts.forEach((text, place) => {
    if (!harmless.test(text)) places.push(place)
  })
  if (places.length === 0) return cells
  const made = stringified(places.map((place) => texts[place] ?? ""))
  places.forEach((place, at) => {
    cells[place] = made[at] ?? ""
  })
  return cells
}

export const textCell = (text: string): string => textCells([text])[0] ?? ""

/** Caches the cells of repeated texts such as kinds. Not for free text. */
export const cellCache = (): ((text: string | null) => string) => {
  const known = new Map<string, string>()
  return (text) => {
    if (text === null || text === "") return ""
    const cell = known.get(text) ?? textCell(text)
    known.set(text, cell)
    return cell
  }
}

/** A text as it reads back from its cell: the formula guard is part of the content. */
export const guarded = (text: string): string =>
  /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/.test(text) ? `'${text}` : text
