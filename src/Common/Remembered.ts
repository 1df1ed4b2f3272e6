/** Caches the results of a function of text. The same texts come again and again: an entry's in every format, a counterparty's in many entries. */

/** With more texts than these the cache is emptied, so that memory does not grow with what is read. */
const rememberedKeys = 4096

/** `make` must be a function of its text alone. */
export const remembered = (make: (text: string) => string): ((text: string) => string) => {
  const known = new Map<string, string>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    if (known.size >= rememberedKeys) known.clear()
    const made = make(text)
    known.set(text, made)
    return made
  }
}
