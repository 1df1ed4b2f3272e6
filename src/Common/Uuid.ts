/** A UUID's text. Written out, since it is matched for every row of the service: repeated groups take longer. */
export const uuidPattern = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

const whole = new RegExp(`^${uuidPattern}$`)
const wholeInAnyCase = new RegExp(`^${uuidPattern}$`, "i")

/** In lower case, as it is kept: two spellings are one identifier. `mirror.uuid_or_null` in `drizzle/rules.sql` is the same. */
export const isUuid = (text: string): boolean => whole.test(text)

export const isUuidInAnyCase = (text: string): boolean => wholeInAnyCase.test(text)

export const withoutUuids = (text: string): string => text.replaceAll(new RegExp(uuidPattern, "gi"), "…")

/** Each UUID by its first eight digits. */
export const withShortUuids = (text: string): string =>
  text.replaceAll(new RegExp(uuidPattern, "gi"), (id) => id.slice(0, 8))

/** A UUID in lower case, in whatever case it is spelled (RFC 9562, section 4), so that two spellings are one identifier; undefined: it is none. */
export const uuidOf = (text: string): string | undefined => {
  if (isUuid(text)) return text
  const lower = text.toLowerCase()
  return isUuid(lower) ? lower : undefined
}

/** As `uuidOf`; what is no UUID stays as it is. */
export const spelledOnce = (text: string): string => uuidOf(text) ?? text
