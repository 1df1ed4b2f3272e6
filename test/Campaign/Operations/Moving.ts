/** A person moves lines in suspense, in clearing or in transit to an account of their choice. */
import { Effect, Layer, Option } from "effect"
import type { Book } from "../../../src/Book.ts"
import { Database } from "../../../src/Database.ts"
import { Resources } from "../../../src/Mirror/Resources.ts"
import { reclassify } from "../../../src/Reclassify.ts"
import { PostingFacts } from "../../../src/Sync/Statements/PostingFacts.ts"
import { idsOf } from "../BookIds.ts"
import { units } from "../Decimals.ts"
import type { MovedFrom, Operation } from "../History.ts"
import type { Site } from "../Site.ts"
import { asBooked, bookedIn } from "./Booked.ts"

const mirrored = Layer.merge(Resources.Default, PostingFacts.Default)

interface Standing {
  readonly book: number
  readonly entry: string
}

const rolesOf: Readonly<Record<MovedFrom, ReadonlyArray<string>>> = {
  suspense: ["suspense"],
  clearing: ["deposits_clearing", "withdrawals_clearing", "payouts_clearing"],
  transit: ["conversions_in_transit"],
  fee: ["fees"],
}

const list = (items: ReadonlyArray<string | number>): string => `{${items.join(",")}}`

/** Entries with a line in such an account and no fee elsewhere. */
const standingIn = (books: ReadonlyArray<Book>, from: MovedFrom) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.standingIn",
      (sql) => sql<Array<Standing>>`
        select e.book_id as book, e.source_id as entry
        from ledger.journal_entries e
        join ledger.postings p on p.book_id = e.book_id and p.entry_id = e.entry_id
        join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
          and (a.role = any (${list(rolesOf[from])}::text[]) or ${from === "fee"} and a.role <> 'cash')
        where e.book_id = any (${idsOf(books)}::integer[]) and e.source_type in ('statement_entry', 'manual')
        group by 1, 2
        having sum(p.amount) <> 0 and bool_and(a.role = any (${list(rolesOf[from])}::text[]))
        order by min(e.occurred_at), 2`,
    ),
  )

/** The cash of loans is left alone, for receivables explain it. */
const isLoan = ({ history, world }: Site, entryId: string): boolean => {
  const named = new Set(
    history.steps.flatMap((step) => {
      if (!("event" in step) || step.event.what !== "receivable") return []
      const { disbursed, repayments } = step.event
      return [...(disbursed === null ? [] : [disbursed]), ...repayments].map(({ of }) => world.idOf(of))
    }),
  )
  const entry = [...world.accounts.values()]
    .flatMap(({ entries }) => entries)
    .find(({ id }) => id === entryId)
  if (entry === undefined) return false
  const of = entry.related === null ? entryId : world.idOf(entry.related.of)
  const siblings = [...world.accounts.values()]
    .flatMap(({ entries }) => entries)
    .filter(({ related }) => related !== null && world.idOf(related.of) === of)
  return [entryId, of, ...siblings.map(({ id }) => id)].some((id) => named.has(id))
}

/**
 * An entry of just the fee may have been on top of the withdrawal or within it: the balances are the same, but the lines of each
 * entry are not. A move takes the line as it stands at that moment, which the oracle does not know.
 */
const hasFeeApart = ({ history, world }: Site, entryId: string): boolean => {
  const all = [...world.accounts.values()].flatMap(({ currency, entries }) =>
    entries.map((entry) => ({ ...entry, currency })),
  )
  const moved = all.find(({ id }) => id === entryId)
  const of = moved?.related?.of
  const content = of === undefined ? undefined : world.resources.get(of)?.content
  if (moved === undefined || content?.type !== "WITHDRAWAL" || content.fee === null) return false
  const fee = units(content.fee, moved.currency)
  // An entry may also be named before it comes.
  return history.steps.some(
    (step) =>
      "event" in step &&
      step.event.what === "entry" &&
      step.event.related?.of === of &&
      units(step.event.amount, moved.currency) === fee,
  )
}

interface Moved extends Standing {
  readonly times: number
}

const movedByHand = (books: ReadonlyArray<Book>) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.moved",
      (sql) => sql<Array<Moved>>`
        select book_id as book, source_id as entry, count(*)::integer as times from ledger.journal_entries
        where book_id = any (${idsOf(books)}::integer[]) and source_type = 'manual'
        group by 1, 2`,
    ),
  ).pipe(Effect.orDie)

type Move = Extract<Operation, { readonly do: "reclassify" }>

const note = (site: Site, { book: bookId, entry: entryId }: Standing, { code, from = "suspense" }: Move) =>
  Effect.map(bookedIn(bookId), (entries) => {
    const after = site.ruled.filter((one) => one.bookId === bookId).length
    const move = { bookId, entryId, code, fromSuspense: from === "suspense", after }
    site.reclassified.push({ ...move, booked: asBooked(entries) })
  })

export const move = (site: Site, books: ReadonlyArray<Book>, operation: Move) =>
  Effect.gen(function* () {
    const { code, from = "suspense", nth } = operation
    const found = (yield* standingIn(books, from)).filter(
      ({ entry }) => from === "suspense" || !(isLoan(site, entry) || hasFeeApart(site, entry)),
    )
    const one = found[found.length === 0 ? 0 : nth % found.length]
    if (one === undefined) return `nothing stands in ${from}`
    yield* reclassify({ id: one.entry, to: code, name: Option.some("Moved"), reason: "known", who: "jane" })
    yield* note(site, one, operation)
    return `${one.entry} to ${code} from ${from}`
  }).pipe(Effect.provide(Layer.merge(mirrored, site.services)))

/** The moves that an operation makes, alone or beside another operation. */
const movesOf = (operation: Operation): ReadonlyArray<Move> => {
  if (operation.do === "both") return [...movesOf(operation.one), ...movesOf(operation.other)]
  return operation.do === "reclassify" ? [operation] : []
}

/** Whether a killed process made its moves is not known from outside: the books show it. */
export const noteMoved = (site: Site, books: ReadonlyArray<Book>, operation: Operation) =>
  Effect.gen(function* () {
    for (const made of movesOf(operation)) {
      for (const one of yield* movedByHand(books)) {
        const { length } = site.reclassified.filter(
          ({ bookId, entryId }) => bookId === one.book && entryId === one.entry,
        )
        if (length < one.times) yield* note(site, one, made)
      }
    }
  }).pipe(Effect.orDie)
