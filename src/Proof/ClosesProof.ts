/** Every close that stands: its chain, its journal's hash and its balances. */
import { Effect, Option } from "effect"
import { allBooks } from "../Book.ts"
import { agreementOf } from "../Close/Agreement.ts"
import { approvalsOf } from "../Close/Approval.ts"
import { closesOf, standingClose } from "../Close/CloseRecords.ts"
import { readMonth } from "../Close/Month.ts"
import type { Wrong } from "./ProofQuery.ts"

export const closes = Effect.fn("Proof.closes")(function* () {
  const wrong: Array<Wrong> = []
  let count = 0
  for (const book of yield* allBooks(Option.none())) {
    const kept = yield* closesOf(book)
    kept.forEach(({ sequence }, at) => {
      if (sequence !== at + 1) {
        wrong.push({
          book: book.code,
          row: `close ${sequence}`,
          message: `stands where close ${at + 1} belongs`,
        })
      }
    })
    for (const { closeHash, expected, hash, sequence } of yield* approvalsOf(book)) {
      const own = kept.find((close) => close.sequence === sequence && close.action === "close")
      if (hash !== expected || own?.hash !== closeHash) {
        wrong.push({
          book: book.code,
          row: `approval of close ${sequence}`,
          message: "is not what was signed: its hash, or that of the close, is another one",
        })
      }
    }
    const periods = [...new Set(kept.map(({ period }) => period))].filter((period) =>
      standingClose(kept, period),
    )
    for (const period of periods) {
      const { differences } = yield* agreementOf(yield* readMonth(book, period))
      count += 1
      for (const message of differences) wrong.push({ book: book.code, row: `close of ${period}`, message })
    }
  }
  return { count, wrong }
})
