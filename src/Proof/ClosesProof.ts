/** Every record of a close or a reopening, and every close that stands: its chain, its journal's hash and its balances. */
import { Effect, Option } from "effect"
import { allBooks, type Book } from "../Book.ts"
import { agreementOf } from "../Close/Agreement.ts"
import { approvalsOf } from "../Close/Approval.ts"
import { closesOf, recordHashesOf, standingClose } from "../Close/CloseRecords.ts"
import { readMonth } from "../Close/Month.ts"
import type { Wrong } from "./ProofQuery.ts"
import { provable } from "./Provable.ts"

const bookProblems = Effect.fn("Proof.closes.book")(function* (book: Book) {
  const wrong: Array<Wrong> = []
  const name = (row: string, message: string) => wrong.push({ book: book.code, row, message })
  const kept = yield* closesOf(book)
  const hashes = yield* recordHashesOf(book)
  // Records of earlier versions have no hash, up to the first that has one.
  const hashed = kept.findIndex(({ recordHash }) => recordHash !== null)
  kept.forEach(({ recordHash, sequence }, at) => {
    if (sequence !== at + 1) name(`close ${sequence}`, `stands where close ${at + 1} belongs`)
    if (hashed >= 0 && at >= hashed && recordHash !== hashes.get(sequence)) {
      const before = at === hashed && at > 0 ? ", or one before it," : ""
      name(
        `close ${sequence}`,
        `is not what was written: who, when, why or what was accepted${before} is another than its hash says`,
      )
    }
  })
  for (const { closeHash, expected, hash, sequence } of yield* approvalsOf(book)) {
    // A reopening has no hash, which no approval names.
    const own = kept.find((close) => close.sequence === sequence)
    if (hash !== expected || own?.hash !== closeHash) {
      name(
        `approval of close ${sequence}`,
        "is not what was signed: its hash, or that of the close, is another one",
      )
    }
  }
  const periods = [...new Set(kept.map(({ period }) => period))].filter((period) =>
    standingClose(kept, period),
  )
  for (const period of periods) {
    const differences = yield* provable(
      Effect.map(Effect.flatMap(readMonth(book, period), agreementOf), (agreement) => agreement.differences),
      (why) => [`cannot be proved: ${why}`],
    )
    for (const message of differences) name(`close of ${period}`, message)
  }
  return { count: periods.length, wrong }
})

export const closes = Effect.fn("Proof.closes")(function* () {
  const proofs = yield* Effect.forEach(yield* allBooks(Option.none()), (book) =>
    provable(bookProblems(book), (why) => ({
      count: 0,
      wrong: [{ book: book.code, row: "its closes", message: `cannot be proved: ${why}` } satisfies Wrong],
    })),
  )
  return {
    count: proofs.reduce((sum, { count }) => sum + count, 0),
    wrong: proofs.flatMap(({ wrong }) => wrong),
  }
})
