/** The moves of a reclassification by hand, as the books stand now: from where, to where, and by which journal entry. */
import { Array as Arr, Effect, Either, Option } from "effect"
import { printedSum } from "../Common/AmountText.ts"
import * as Money from "../Common/Money.ts"
import { text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import type { JournalEntry, RuleAccount } from "../Ledger/JournalEntry.ts"
import { debitsFirst } from "../Ledger/Posting.ts"
import type { ChosenEntry } from "./Chosen.ts"
import { notBooked, type ReclassifiableItem, type StandingLine, standingOf } from "./Reclassifiable.ts"
import { type ReclassifyError, reclassifyError } from "./ReclassifyError.ts"
import { type KnownAccounts, movableLine, targetOf } from "./Target.ts"

/** The account that entries are moved to, and why. */
export interface Destination {
  /** Its code. */
  readonly to: string
  /** The account's name, required for a new code. */
  readonly name: Option.Option<string>
  /** At most 150 characters. */
  readonly reason: string
}

const entryOf = (
  standing: ReclassifiableItem,
  from: StandingLine,
  to: RuleAccount,
  reason: string,
): JournalEntry => {
  const amount = Money.fromTrusted(from.amount)
  const line = { currency: from.currency, partnerAccountId: null }
  // By the code that a rule gave it, placeholders and all: filled in, it would be another account.
  const rule = from.ruleCode === "" ? null : { code: from.ruleCode, name: from.name }
  return {
    sourceType: "manual",
    sourceId: standing.entryId,
    kind: "reclassification",
    sequence: standing.made + 1,
    occurredAt: standing.at,
    partnerAccountId: standing.partnerAccountId,
    position: standing.position,
    resourceType: standing.resourceType,
    resourceId: standing.resourceId,
    description: `Reclassification by hand: ${reason}`,
    externalReference: Option.fromNullable(standing.externalReference),
    counterparty: Option.fromNullable(standing.counterparty),
    lines: debitsFirst([
      { ...line, role: from.role, amount: Money.negate(amount), rule },
      { ...line, role: "other", amount, rule: to },
    ]),
  }
}

/** Entries whose amounts are asked for in one statement. */
const entriesAtOnce = 1_000

const keyOf = ({ book, entryId }: ChosenEntry): string => `${book.bookId} ${entryId.toLowerCase()}`

/** What stands against each of the entries now. */
const standings = Effect.fn("Reclassify.standings")(function* (entries: ReadonlyArray<ChosenEntry>) {
  const found = new Map<string, ReclassifiableItem>()
  for (const own of Object.values(Arr.groupBy(entries, ({ book }) => String(book.bookId)))) {
    for (const some of Arr.chunksOf(own, entriesAtOnce)) {
      const [{ book }] = some
      const rows = yield* standingOf(
        book,
        some.map(({ entryId }) => entryId),
      )
      for (const row of rows) found.set(keyOf({ book, entryId: row.entryId }), row)
    }
  }
  return found
})

/** The amount of an entry that is to be moved, as the books stand now. */
const moveOf = Effect.fn("Reclassify.moveOf")(function* (
  destination: Destination,
  { book, entryId }: ChosenEntry,
  standing: ReclassifiableItem | undefined,
  known: KnownAccounts,
) {
  if (standing === undefined) return yield* notBooked(entryId)
  const from = yield* movableLine(standing)
  const to = yield* targetOf(book, entryId, from, destination.to, Option.getOrNull(destination.name), known)
  return { book, standing, from, to, entry: entryOf(standing, from, to, destination.reason) }
})

export type Move = Effect.Effect.Success<ReturnType<typeof moveOf>>

/** Entries of one loan's cash: what was not due of it, or is missing, stands behind each of them, and is moved once. */
const ofOneLoan = (moves: ReadonlyArray<Move>): ReadonlyArray<ReclassifyError> => {
  const loans = new Map<string, Array<Move>>()
  for (const move of moves) {
    const { book, from, standing } = move
    if (from.role !== "loan_clearing" || standing.loan === null) continue
    const key = `${book.bookId} ${standing.loan} ${from.currency}`
    loans.set(key, [...(loans.get(key) ?? []), move])
  }
  return [...loans.values()].flatMap((some) => {
    const [first] = some
    if (first === undefined || some.length < 2) return []
    const { from, standing } = first
    const ids = some.map((move) => move.standing.entryId).join(", ")
    return [
      reclassifyError(
        "Usage",
        `Statement entries ${ids} are cash of one receivable, ${standing.loan}, and the ${printedSum(from.amount, from.currency)} of it in ${from.code} ${from.name} can be moved from one of them: name that one.`,
      ),
    ]
  })
}

/** The moves, or all reasons against them. */
export const movesOf = Effect.fn("Reclassify.movesOf")(function* (
  destination: Destination,
  entries: ReadonlyArray<ChosenEntry>,
) {
  const moves: Array<Move> = []
  const wrong: Array<ReclassifyError> = []
  const standing = yield* standings(entries)
  const known: KnownAccounts = new Map()
  for (const entry of entries) {
    const found = yield* Effect.either(moveOf(destination, entry, standing.get(keyOf(entry)), known))
    if (Either.isRight(found)) moves.push(found.right)
    else if (found.left._tag === "ReclassifyError") wrong.push(found.left)
    else return yield* found.left
  }
  wrong.push(...ofOneLoan(moves))
  const [first] = wrong
  if (first === undefined) return moves
  const messages = [...new Set(wrong.map(({ message }) => message))]
  const nothing = entries.length === 1 ? [] : ["Nothing was moved."]
  return yield* reclassifyError(first.reason, [...messages, ...nothing].join("\n"))
})

/** The accounts that are moved to as their books call them. */
export const filledOf = Effect.fn("Reclassify.filledOf")(function* (moves: ReadonlyArray<Move>) {
  const database = yield* Database
  const filled = new Map<string, RuleAccount>()
  const nameOf = ({ book, from: { currency }, to }: Move): string =>
    JSON.stringify([book.code, currency, to.code, to.name])
  for (const move of moves) {
    const name = nameOf(move)
    if (filled.has(name)) continue
    const { book, from, to } = move
    const account = yield* database.row(
      "Reclassify.filled",
      { code: text, name: text },
      (sql) => sql`
        select ledger.filled(${to.code}, ${from.currency}, null, null, ${book.code}) as code,
          ledger.filled(${to.name}, ${from.currency}, null, null, ${book.code}) as name`,
    )
    filled.set(name, account)
  }
  return (move: Move): RuleAccount => filled.get(nameOf(move)) ?? move.to
})
