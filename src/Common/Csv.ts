/** RFC 4180 through csv-stringify, with text that a spreadsheet would run as a formula neutralised by a leading quote. */
import { stringify } from "csv-stringify/sync"

/** Postgres text never holds a NUL, so it parts cells that are quoted for a line feed. */
const partition = "\0"

/** Text that is its own cell whatever the rules; most is, and csv-stringify is the slowest step of a large export. */
const harmless = /^[A-Za-z0-9][\w ./:()#-]*$/

const stringified = (texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  stringify(
    texts.map((text) => [text]),
    { record_delimiter: partition, quote_record_delimiter: true, escape_formulas: true },
  ).split(partition)

/** Each text as a CSV cell: quoted where RFC 4180 wants it, and never a formula. Amounts do not come here. */
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

/** The cells of texts that come again and again, such as kinds: each is made once. Not for free text. */
export const cellCache = (): ((text: string | null) => string) => {
  const known = new Map<string, string>()
  return (text) => {
    if (text === null || text === "") return ""
    const cell = known.get(text) ?? textCell(text)
    known.set(text, cell)
    return cell
  }
}

/** What a text reads as once it has been through a cell: the formula guard is part of the content. */
export const guarded = (text: string): string =>
  /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/.test(text) ? `'${text}` : text
