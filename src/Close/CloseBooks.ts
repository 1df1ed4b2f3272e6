/** Closes months of several books in one transaction. */
import { Effect, type Option } from "effect"
import { patience, unlessBusy } from "../Book/Moment.ts"
import type { Book } from "../Book.ts"
import { Database } from "../Database.ts"
import { Ledger } from "../Ledger.ts"
import { Reconcile } from "../Reconcile.ts"
import { methodsAtClose } from "../Valuation/KeptSettings.ts"
import type { Bridge } from "./Bridge.ts"
import {
  type Accepted,
  type Closing,
  closesOfBooks,
  type Doing,
  keepCloses,
  lastAccepted,
  lastHash,
} from "./CloseRecords.ts"
import { type Digest, digestsOf } from "./Digest.ts"
import { type Blocker, gatesOf } from "./Gate.ts"
import { lockedWith } from "./Locked.ts"
import { earlierFirst, isClosed, type Month, readMonths, refusalOf } from "./Month.ts"

export interface CloseRequest extends Doing {
  /** `2026-10` */
  readonly period: string
  /** A book's code or its client's id; none: all books with accounts. */
  readonly book: Option.Option<string>
  /** Lists what would block, and locks nothing. */
  readonly dryRun: boolean
  /** The accepted findings by `Blocker.id`, in upper or lower case. */
  readonly accept: ReadonlyArray<{ readonly id: string; readonly reason: string }>
}

export type CloseState = "closed" | "blocked" | "closable" | "already closed"

/** The result for one book. */
export interface BookClose {
  readonly book: string
  readonly period: string
  readonly state: CloseState
  readonly blockers: ReadonlyArray<Blocker>
  readonly accepted: ReadonlyArray<Accepted>
  readonly notes: ReadonlyArray<string>
  readonly bridge: Bridge | null
  readonly sequence: number | null
  readonly hash: string | null
  readonly previousHash: string | null
  readonly entries: bigint | null
}

const emptyResult = {
  blockers: [],
  accepted: [],
  notes: [],
  bridge: null,
  sequence: null,
  hash: null,
  previousHash: null,
  entries: null,
}

const acceptedOf = (
  blockers: ReadonlyArray<Blocker>,
  accept: CloseRequest["accept"],
  before: ReadonlyArray<Accepted>,
): ReadonlyArray<Accepted> => {
  // The first of two reasons for one finding.
  const given = new Map(accept.toReversed().map(({ id, reason }) => [id.toLowerCase(), reason]))
  const kept = new Map(before.map((one) => [one.id, one]))
  return blockers.flatMap(({ evidence, id, what }) => {
    if (id === null) return []
    const last = kept.get(id)
    const stands = last?.evidence !== undefined && last.evidence === evidence
    const reason = given.get(id.toLowerCase()) ?? (stands ? last.reason : undefined)
    return reason === undefined ? [] : [{ id, what, reason, ...(evidence === undefined ? {} : { evidence }) }]
  })
}

const resultOf = ({ book, period }: Month) => ({ ...emptyResult, book: book.code, period })

export const closedAlready = Effect.fn("Close.closedAlready")(function* (month: Month) {
  const locked = yield* lockedWith(month)
  const notes = locked === null ? [] : [locked]
  return { ...resultOf(month), notes, state: "already closed" } satisfies BookClose
})

/** The month of a book that has an earlier one open. */
export const waitsForEarlier = (month: Month): BookClose | null => {
  const earlier = earlierFirst(month)
  return earlier === null
    ? null
    : { ...resultOf(month), state: "blocked", blockers: [{ id: null, ...earlier }] }
}

interface Kept extends Digest {
  readonly previousHash: string | null
  readonly sequence: number
}

/** Part of the caller's transaction. By `bookId`. */
const keepClosed = Effect.fn("Close.keepClosed")(function* (
  passed: ReadonlyArray<Pick<Closing, "book" | "closes" | "accepted">>,
  request: CloseRequest,
) {
  const kept = new Map<number, Kept>()
  if (passed.length === 0) return kept
  const preceded = passed.map((one) => ({ ...one, previousHash: lastHash(one.closes) }))
  const digests = yield* digestsOf(preceded, request.period)
  const methodOf = yield* methodsAtClose(passed.map(({ book }) => book))
  const closings = preceded.flatMap((one): ReadonlyArray<Closing> => {
    const digest = digests.get(one.book.bookId)
    return digest === undefined ? [] : [{ ...one, digest, valuationMethod: methodOf(one.book) }]
  })
  const sequences = yield* keepCloses(closings, request.period, request)
  closings.forEach(({ book, digest, previousHash }, at) => {
    const sequence = sequences[at]
    if (sequence !== undefined) kept.set(book.bookId, { ...digest, previousHash, sequence })
  })
  return kept
})

/** Closes the books in one transaction, which keeps the findings whether or not a month closes. */
const closeTogether = Effect.fn("Close.together")(function* (
  connection: string,
  books: ReadonlyArray<Book>,
  request: CloseRequest,
  { syncing }: { readonly syncing: boolean },
) {
  const database = yield* Database
  const reconcile = yield* Reconcile
  const { dryRun, period } = request
  return yield* database.transaction(
    Effect.gen(function* () {
      // From here on every posting of the books waits until this transaction has closed the month or left it open.
      const all = yield* readMonths(books, period, !dryRun)
      // Somebody else may have closed a month since it was found open: that is no reason to leave the others open.
      const closed = yield* Effect.forEach(all.filter(isClosed), closedAlready)
      const months = all.filter((month) => !isClosed(month))
      if (months.length === 0) return closed
      for (const month of months) {
        const refusal = refusalOf(month)
        if (refusal !== null) return yield* refusal
      }
      const open = months.map(({ book }) => book)
      yield* reconcile.monthForClose(open, period)
      const gates = yield* gatesOf(
        months,
        { connection, period },
        { syncing, willNumber: dryRun && !syncing },
      )
      const history = yield* closesOfBooks(open)
      const examined = months.flatMap((month) => {
        const gate = gates.get(month.book.bookId)
        if (gate === undefined) return []
        const closes = history.of(month.book)
        const accepted = acceptedOf(gate.blockers, request.accept, lastAccepted(closes))
        const answered = new Set<string | null>(accepted.map(({ id }) => id))
        const blockers = gate.blockers.filter(({ id }) => !answered.has(id))
        return [{ month, book: month.book, gate: { ...gate, accepted, blockers }, closes, accepted }]
      })
      const passed = examined.filter(({ gate }) => gate.blockers.length === 0)
      const kept = dryRun ? new Map<number, Kept>() : yield* keepClosed(passed, request)
      const results = examined.map(({ gate, month }): BookClose => {
        const result = { ...resultOf(month), ...gate }
        const close = kept.get(month.book.bookId)
        if (close !== undefined) return { ...result, ...close, state: "closed" }
        return { ...result, state: gate.blockers.length > 0 ? "blocked" : "closable" }
      })
      return [...closed, ...results]
    }),
  )
})

/**
 * Closes books of one connection. Everything that does not depend on a single book is read and written for all of them at once. It has
 * the connection meanwhile: a round of events stores balances before it has read the statements that belong to them. While a sync runs
 * it goes without, and without numbering what waits for numbers: the sync numbers its own entries when it ends.
 */
export const closeBooks = Effect.fn("Close.books")(function* (
  connection: string,
  books: ReadonlyArray<Book>,
  request: CloseRequest,
) {
  const database = yield* Database
  const ledger = yield* Ledger
  const numbering = request.dryRun ? Effect.void : ledger.assignNumbers(books)
  const closing = closeTogether(connection, books, request, { syncing: false })
  return yield* unlessBusy(database, connection, Effect.zipRight(numbering, closing), patience).pipe(
    Effect.catchTag("LockBusy", () => closeTogether(connection, books, request, { syncing: true })),
  )
})
