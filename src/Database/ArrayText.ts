/** A Postgres array as JS has it: items, nulls and further arrays. */
export type Items<A> = ReadonlyArray<A | null | Items<A>>

const writeItem = (item: unknown): string => {
  if (item === null || item === undefined) return "NULL"
  if (Array.isArray(item)) return writeArray(item)
  return `"${String(item).replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`
}

/** The text of an array, as Postgres reads it. */
export const writeArray = (items: ReadonlyArray<unknown>): string => `{${items.map(writeItem).join(",")}}`

/** One item: quoted with escapes, or bare up to the next separator. */
const token = /"((?:[^"\\]|\\.)*)"|[^{},"]+/sy

/**
 * Reads the text of an array as Postgres writes it. The driver's own reader takes an unquoted NULL for the text "NULL".
 * Explicit lower bounds (`[2:3]={…}`) are dropped.
 */
export const readArray = <A>(text: string, read: (item: string) => A): Items<A> => {
  let at = text.indexOf("{")
  const list = (): Items<A> => {
    const items: Array<A | null | Items<A>> = []
    at += 1
    while (at < text.length && text[at] !== "}") {
      if (text[at] === ",") at += 1
      else if (text[at] === "{") items.push(list())
      else {
        token.lastIndex = at
        const found = token.exec(text)
        if (found === null) throw new TypeError("not the text of a Postgres array")
        at = token.lastIndex
        const [bare, inQuotes] = found
        if (inQuotes !== undefined) items.push(read(inQuotes.replace(/\\(.)/gs, "$1")))
        else items.push(bare === "NULL" ? null : read(bare))
      }
    }
    at += 1
    return items
  }
  return list()
}
