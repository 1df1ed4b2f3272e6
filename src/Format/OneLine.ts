/** Free text that breaks no line and hides nothing. */
import { remembered } from "../Common/Remembered.ts"

// Controls, line and paragraph separators become spaces; what changes the direction of text or has no width goes.
const breaking = /[\p{Cc}\u2028\u2029\s]+/gu
const invisible = /[\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF]|\p{Cs}/gu

/** Printable ASCII in which single spaces part the words: it stays as it is. */
const clean = /^[!-~]+(?: [!-~]+)*$/

const cleaned = remembered((text) => text.replace(invisible, "").replace(breaking, " ").trim())

/** One line without controls, bidi overrides or runs of spaces; letters of every script are kept. */
export const oneLine = (text: string): string => (clean.test(text) ? text : cleaned(text))
