/** Identifiers of the service: UUIDs, in whatever case it spells them (RFC 9562, section 4). */

const grammar = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** A UUID in lower case, so that two spellings are one identifier; undefined: it is none. */
export const uuidOf = (text: string): string | undefined => {
  if (grammar.test(text)) return text
  const lower = text.toLowerCase()
  return grammar.test(lower) ? lower : undefined
}

/** As `uuidOf`; what is no UUID stays as it is. */
export const spelledOnce = (text: string): string => uuidOf(text) ?? text
