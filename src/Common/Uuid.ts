/** A UUID's text. Written out, since it is matched for every row of the service: repeated groups take longer. */
export const uuidPattern = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

const whole = new RegExp(`^${uuidPattern}$`)
const wholeInAnyCase = new RegExp(`^${uuidPattern}$`, "i")

/** In lower case, as it is kept: two spellings are one identifier. `mirror.uuid_or_null` in `drizzle/rules.sql` is the same. */
export const isUuid = (text: string): boolean => whole.test(text)

export const isUuidInAnyCase = (text: string): boolean => wholeInAnyCase.test(text)

export const withoutUuids = (text: string): string => text.replaceAll(new RegExp(uuidPattern, "gi"), "…")

/** Each by its first eight digits. */
export const withShortUuids = (text: string): string =>
  text.replaceAll(new RegExp(uuidPattern, "gi"), (id) => id.slice(0, 8))
