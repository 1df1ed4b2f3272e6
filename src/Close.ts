/**
 * Closing a month: only a month that is proved complete is locked. A close keeps the month's balances, a hash chained to the
 * previous close, and who closed it, when and why.
 */
import { Effect, Option } from "effect"
import { chooseBooks } from "./Book/ChosenBooks.ts"
import { type Book, heldBooks } from "./Book.ts"
import { type Agreement, agreementOf } from "./Close/Agreement.ts"
import { type Bridge, bridgeOf } from "./Close/Bridge.ts"
import { closeError } from "./Close/CloseError.ts"
import { digestOf } from "./Close/Digest.ts"
import { type Blocker, gateOf } from "./Close/Gate.ts"
import {
  type Accepted,
  closesOf,
  type Doing,
  keepClose,
  keepReopening,
  lastAccepted,
  lastHash,
  standing,
} from "./Close/Kept.ts"
import { lockedWith } from "./Close/Locked.ts"
import { isClosed, type Month, readMonth, refusalOf } from "./Close/Month.ts"
import { Database } from "./Database.ts"
import { Ledger } from "./Ledger.ts"
import { Reconcile } from "./Reconcile.ts"
import { methodAtClose } from "./Valuation/KeptSettings.ts"

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

/** The named book, or all books with accounts. */
const chosenBooks = Effect.fn("Close.chosenBooks")(function* (wanted: Option.Option<string>) {
  const chosen = yield* chooseBooks(Option.none(), wanted)
  if (Option.isSome(wanted) || (yield* heldBooks(chosen)).length > 0) return chosen
  return yield* closeError(
    "Usage",
    "No book holds an account yet: there is nothing to close. Run tieout sync first.",
  )
})

/** Why a month cannot be closed, whatever its content; of a month that a later close locked, that too. */
const refusalIn = Effect.fn("Close.refusalIn")(function* (month: Month) {
  const refusal = refusalOf(month)
  const locked = refusal?.reason === "AlreadyClosed" ? yield* lockedWith(month) : null
  return locked === null ? refusal : closeError("AlreadyClosed", `${locked} There is nothing to close.`)
})

/** The months of the books, if each can be closed or is closed already; reports all refusals at once. */
const closableMonths = Effect.fn("Close.closableMonths")(function* ({ book, period }: CloseRequest) {
  const months = yield* Effect.forEach(yield* chosenBooks(book), (each) => readMonth(each, period))
  const refusals = (yield* Effect.forEach(months, refusalIn)).filter((refusal) => refusal !== null)
  const open = months.filter((month) => !isClosed(month))
  const grave = refusals.filter(({ reason }) => reason !== "AlreadyClosed")
  const reported = open.length === 0 ? refusals : grave
  const [first] = reported
  if (first === undefined) return months
  return yield* closeError(first.reason, reported.map(({ message }) => message).join("\n"))
})

/**
 * Numbers the entries that wait, unless a sync of the connection runs: it numbers its own when it ends. Returns whether no sync
 * runs.
 */
const numberUnlessSyncing = Effect.fn("Close.number")(function* (book: Book, dryRun: boolean) {
  const database = yield* Database
  const ledger = yield* Ledger
  return yield* database
    .withSessionLock(`sync:${book.connection}`, dryRun ? Effect.void : ledger.assignNumbers([book]))
    .pipe(
      Effect.as(true),
      Effect.catchTag("LockBusy", () => Effect.succeed(false)),
    )
})

const acceptedOf = (
  blockers: ReadonlyArray<Blocker>,
  accept: CloseRequest["accept"],
  before: ReadonlyArray<Accepted>,
): ReadonlyArray<Accepted> =>
  blockers.flatMap(({ evidence, id, what }) => {
    const acceptance =
      accept.find((given) => given.id.toLowerCase() === id?.toLowerCase()) ??
      before.find((kept) => kept.id === id && kept.evidence !== undefined && kept.evidence === evidence)
    if (id === null || acceptance === undefined) return []
    return [{ id, what, reason: acceptance.reason, ...(evidence === undefined ? {} : { evidence }) }]
  })

const examine = Effect.fn("Close.examine")(function* (month: Month, request: CloseRequest, free: boolean) {
  yield* (yield* Reconcile).month([month.book], month.period)
  const gate = yield* gateOf(month, { syncing: !free, willNumber: free && request.dryRun })
  const before = lastAccepted(yield* closesOf(month.book))
  const accepted = acceptedOf(gate.blockers, request.accept, before)
  return {
    ...gate,
    accepted,
    blockers: gate.blockers.filter(({ id }) => !accepted.some((acceptance) => acceptance.id === id)),
  }
})

/** Closes one book in one transaction, which keeps the findings whether the month closes or not. */
const closeBook = Effect.fn("Close.book")(function* (month: Month, request: CloseRequest) {
  const database = yield* Database
  const { book, period } = month
  const result = { ...emptyResult, book: book.code, period }
  if (isClosed(month)) {
    const locked = yield* lockedWith(month)
    return { ...result, notes: locked === null ? [] : [locked], state: "already closed" } satisfies BookClose
  }
  const free = yield* numberUnlessSyncing(book, request.dryRun)
  return yield* database.transaction(
    Effect.gen(function* () {
      // From here every posting of the book waits, until the month is closed, or stays open.
      const now = yield* readMonth(book, period, !request.dryRun)
      const refusal = refusalOf(now)
      if (refusal !== null) return yield* refusal
      const gate = yield* examine(now, request, free)
      if (gate.blockers.length > 0) return { ...result, ...gate, state: "blocked" } satisfies BookClose
      if (request.dryRun) return { ...result, ...gate, state: "closable" } satisfies BookClose
      const previousHash = lastHash(yield* closesOf(book))
      const digest = yield* digestOf(book, period, previousHash)
      const doing = { ...request, accepted: gate.accepted }
      const sequence = yield* keepClose(book, period, digest, doing, yield* methodAtClose(book))
      return { ...result, ...gate, ...digest, previousHash, sequence, state: "closed" } satisfies BookClose
    }),
  )
})

/**
 * Closes a month of one book or of all, each in a transaction of its own: a blocked book does not stop the others. Fails with
 * `CloseError` before anything is locked where the month cannot be closed, whatever its content.
 */
export const close = Effect.fn("Close.close")(function* (request: CloseRequest) {
  const months = yield* closableMonths(request)
  const results: Array<BookClose> = yield* Effect.forEach(months, (month) => closeBook(month, request))
  return results
})

/** The closed months of the books; fails where there is none. */
const closedMonths = Effect.fn("Close.closedMonths")(function* (book: Option.Option<string>, period: string) {
  const months = yield* Effect.forEach(yield* chosenBooks(book), (each) => readMonth(each, period))
  const closed = months.filter(isClosed)
  if (closed.length > 0) return closed
  const codes = months.map((month) => month.book.code).join(", ")
  return yield* closeError(
    "NotClosed",
    `${period} is not closed in ${codes === "" ? "any book" : codes}. To close it: tieout close ${period}`,
  )
})

/** Reopens the latest closed month. Fails with `CloseError` where `period` is another month. */
export const reopen = Effect.fn("Close.reopen")(function* (
  period: string,
  book: Option.Option<string>,
  doing: Doing,
) {
  const database = yield* Database
  const months = yield* closedMonths(book, period)
  const later = months.filter(({ closedThrough }) => closedThrough !== period)
  if (later.length > 0) {
    const reasons = later.map((month) => `${month.book.code} is closed through ${month.closedThrough}`)
    return yield* closeError(
      "OutOfOrder",
      `${period} cannot be reopened: ${reasons.join(", ")}, and only the latest closed month can be.`,
    )
  }
  return yield* database.transaction(
    Effect.forEach(months, (month) =>
      Effect.gen(function* () {
        const now = yield* readMonth(month.book, period, true)
        if (now.closedThrough !== period) {
          return yield* closeError("NotClosed", `${period} of ${month.book.code} was reopened meanwhile.`)
        }
        const undone = standing(yield* closesOf(month.book), period)
        const sequence = yield* keepReopening(month.book, undone ?? { period, hash: null }, doing)
        return { book: month.book.code, period, sequence, undone: undone?.hash ?? null }
      }),
    ),
  )
})

const inOneSnapshot = { isolation: "repeatable read", readOnly: true } as const

/** Compares closed months with what they were closed with. */
export const check = Effect.fn("Close.check")(function* (period: string, book: Option.Option<string>) {
  const database = yield* Database
  const months = yield* closedMonths(book, period)
  const agreements: Array<Agreement> = yield* Effect.forEach(months, (month) =>
    database.transaction(agreementOf(month), inOneSnapshot),
  )
  return agreements
})

/** The bridge from the provider's statement to the books, for a month, closed or not. */
export const bridge = Effect.fn("Close.bridge")(function* (period: string, book: Option.Option<string>) {
  const database = yield* Database
  const months = yield* Effect.forEach(yield* chosenBooks(book), (each) => readMonth(each, period))
  return yield* Effect.forEach(months, (month) => database.transaction(bridgeOf(month), inOneSnapshot))
})
