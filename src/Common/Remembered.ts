/** The results of a function of text, kept while the same texts come again: for one entry in every format, a counterparty in many entries. */

/** Beyond as many texts all are forgotten, so that memory does not grow with what is read. */
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
