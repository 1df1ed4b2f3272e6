/** Free text on one line, without invisible characters. */
import { remembered } from "../Common/Remembered.ts"

// Control characters, line and paragraph separators become spaces; direction overrides and zero-width characters are dropped.
const breaking = /[\p{Cc}\u2028\u2029\s]+/gu
const invisible = /[\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF]|\p{Cs}/gu

/** Printable ASCII with single spaces between the words: it needs no cleaning. */
const clean = /^[!-~]+(?: [!-~]+)*$/

const cleaned = remembered((text) => text.replace(invisible, "").replace(breaking, " ").trim())

/** One line without control characters, bidi overrides or repeated spaces; letters of every script stay. */
export const oneLine = (text: string): string => (clean.test(text) ? text : cleaned(text))
