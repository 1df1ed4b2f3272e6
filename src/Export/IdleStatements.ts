/** Bank statements that would say nothing are not written. */
import { Effect } from "effect"
import { inSentence } from "../Book/InSentence.ts"
import { settingsOf } from "../Format/FormatSettings.ts"
import { bankStatementsOf } from "../Format/Formats.ts"
import type { AskedBook } from "./BookExport.ts"
import { exportError } from "./ExportError.ts"
import type { Selection } from "./Request/ExportScope.ts"
import type { RequestPart } from "./Request.ts"
import { booksWithBankDays } from "./Source/BankStatements.ts"

/**
 * Without the bank statements of books of which they would say nothing: such a batch would take a number and hold no file. A book of which
 * nothing else is asked for is left out.
 */
export const withoutIdleStatements = Effect.fn("Export.withoutIdleStatements")(function* (
  asked: ReadonlyArray<AskedBook>,
  selection: Selection | null,
  perFormat: boolean,
) {
  const othersOf = new Map<RequestPart, RequestPart>()
  for (const part of new Set(asked.flatMap(({ parts }) => parts))) {
    const banks = bankStatementsOf(part.formats).map(({ name }) => name)
    const formats = part.formats.filter((name) => !banks.some((bank) => bank === name))
    // Several formats in one batch: it has the files of the others.
    if (banks.length > 0 && (perFormat || formats.length === 0)) othersOf.set(part, { ...part, formats })
  }
  const concerned = asked.filter(({ parts }) => parts.some((part) => othersOf.has(part)))
  if (selection === null || concerned.length === 0) return { asked, idle: [] }
  const [settings] = [...othersOf.keys()].map(({ options }) => options.settings)
  const speaking = yield* booksWithBankDays(
    concerned.map(({ book: { bookId, code } }) => ({
      bookId,
      leaveOut: settings === undefined ? [] : settingsOf(settings, code).leaveOut,
    })),
    selection,
  )
  const idle = new Set(concerned.filter(({ book }) => !speaking.has(book.bookId)))
  const left = asked.flatMap((one) => {
    if (!idle.has(one)) return [one]
    const parts = one.parts
      .map((part) => othersOf.get(part) ?? part)
      .filter(({ formats }) => formats.length > 0)
    return parts.length === 0 ? [] : [{ ...one, parts }]
  })
  const codes = [...idle].map(({ book: { code } }) => code)
  const what = `no complete day with entries in ${selection.text}`
  if (left.length === 0) {
    return yield* exportError(
      "Usage",
      `The statements of ${inSentence(codes)} have ${what}. Nothing was written.`,
    )
  }
  for (const code of codes)
    yield* Effect.logWarning(`${code} has ${what}: no bank statement is written of it.`)
  const kept = new Set(left.map(({ book }) => book.code))
  return { asked: left, idle: codes.filter((code) => !kept.has(code)) }
})
