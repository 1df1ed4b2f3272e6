/**
 * Tries a book's quarantined rows again with today's decoders and settings, and absorbs what can be understood now: as the
 * page that brought the row would have been. A row that still cannot be is asked for by its identifier where it has one.
 */
import { Effect, Either, Option } from "effect"
import type { Book } from "../../Book.ts"
import { nowByUs } from "../../Common/Time.ts"
import { MirrorAccounts } from "../../Mirror/MirroredAccounts.ts"
import { Quarantine } from "../../Mirror/Quarantine.ts"
import type { QuarantinedRow } from "../../Mirror/QuarantinedRow.ts"
import { ReferenceItems } from "../../Mirror/ReferenceItems.ts"
import { isReferenceKind, type KeptRows } from "../../Partner/KeptRows.ts"
import type { Malformed, Row } from "../../Partner/Lists/Page.ts"
import { Partner, type ReferenceItem } from "../../Partner.ts"
import { Run } from "../../Run.ts"
import { allAbsorbed, allWait, type Tries, waitsFor } from "../Runs/ReplayResult.ts"
import { PostingFacts } from "../Statements/PostingFacts.ts"
import { ReplayedResources, resourceTypeOf } from "./ReplayedResources.ts"
import { ReplayedStatements, statementOf } from "./ReplayedStatements.ts"

/** What a quarantined row is about. Several rows of one item are several readings of it. */
const itemOf = ({ itemId, quarantineId, stream }: QuarantinedRow): string =>
  `${stream}|${itemId ?? `Q${quarantineId}`}`

/** The latest row of each item; older rows of the item are settled with it. */
const newestOfEach = (rows: ReadonlyArray<QuarantinedRow>): ReadonlyMap<string, Tries> => {
  const items = new Map<string, { newest: QuarantinedRow; all: Array<QuarantinedRow> }>()
  for (const row of rows) {
    const item = items.get(itemOf(row)) ?? { newest: row, all: [] }
    item.all.push(row)
    if (row.lastSeenAt > item.newest.lastSeenAt) item.newest = row
    items.set(itemOf(row), item)
  }
  return items
}

const receivableWaits =
  "can be understood now; a receivable is dated by the service's answer, so the next tieout sync reads it again"

export class Replay extends Effect.Service<Replay>()("tieout/Sync/Replay", {
  effect: Effect.gen(function* () {
    const partner = yield* Partner
    const accounts = yield* MirrorAccounts
    const reference = yield* ReferenceItems
    const quarantine = yield* Quarantine
    const facts = yield* PostingFacts
    const resources = yield* ReplayedResources
    const statements = yield* ReplayedStatements

    /** Stores the item as it was at `readAt`, unless the mirror holds it from a later reading. */
    const keep = <E, R>(tries: Tries, id: string, put: Effect.Effect<unknown, E, R>) =>
      Effect.gen(function* () {
        const run = yield* Run
        const known = yield* quarantine.overtaken(tries.newest, id)
        yield* run.commit(
          Effect.zipRight(
            known ? Effect.void : put,
            quarantine.resolveRows(tries.all.map(({ quarantineId }) => quarantineId)),
          ),
        )
        return allAbsorbed(tries)
      })

    const keepReference = (book: Book, tries: Tries, readAt: string, read: Row<ReferenceItem>) =>
      Either.match(read, {
        onLeft: (malformed) => Effect.succeed(waitsFor(tries, malformed)),
        onRight: (item) =>
          Effect.flatMap(Run, ({ runId }) =>
            keep(tries, item.id, reference.put(book, runId, tries.newest.stream, readAt, [item])),
          ),
      })

    /** No list shows deposit instructions, and a sync asks for them only once, so they are asked for here. */
    const askInstruction = (tries: Tries, accountId: string, malformed: Malformed, book: Book) =>
      Effect.gen(function* () {
        const ask = partner.depositInstructions
        if (ask === null) return waitsFor(tries, malformed)
        const askedAt = yield* nowByUs
        const answer = yield* Effect.either(ask(accountId))
        if (Either.isLeft(answer)) return waitsFor(tries, malformed, answer.left)
        return yield* Option.match(answer.right, {
          onNone: () => Effect.succeed(waitsFor(tries, malformed)),
          onSome: (row) => keepReference(book, tries, askedAt, row),
        })
      })

    const instruction = (book: Book, tries: Tries, kept: KeptRows, raw: string) => {
      const { itemId, lastSeenAt } = tries.newest
      if (itemId === null)
        return Effect.succeed(allWait(tries, "does not say which account it belongs to", "$.accountId"))
      const read = kept.depositInstruction(itemId, raw)
      return Either.isLeft(read)
        ? askInstruction(tries, itemId, read.left, book)
        : keepReference(book, tries, lastSeenAt, read)
    }

    const account = (book: Book, tries: Tries, kept: KeptRows, raw: string) =>
      Either.match(kept.account(raw), {
        onLeft: (malformed) => Effect.succeed(waitsFor(tries, malformed)),
        onRight: (found) =>
          Effect.flatMap(Run, ({ runId }) =>
            keep(tries, found.accountId, accounts.put(book, runId, tries.newest.lastSeenAt, [found])),
          ),
      })

    /** A row that stands for itself: an account, reference data. */
    const single = Effect.fn("Sync.Replay.single")(function* (book: Book, tries: Tries, kept: KeptRows) {
      const { lastSeenAt, stream } = tries.newest
      const raw = yield* quarantine.raw(tries.newest.quarantineId)
      if (stream === "accounts") return yield* account(book, tries, kept, raw)
      if (stream === "deposit_instruction") return yield* instruction(book, tries, kept, raw)
      if (isReferenceKind(stream))
        return yield* keepReference(book, tries, lastSeenAt, kept.reference(stream, raw))
      if (stream !== "receivable")
        return allWait(tries, "comes from a list that this version does not know", "$")
      return Either.match(kept.receivable(raw), {
        onLeft: (malformed) => waitsFor(tries, malformed),
        onRight: () => allWait(tries, receivableWaits, "$"),
      })
    })

    /** `open` is everything that waits in the book; only items of which a row is among `wanted` are tried. */
    const replay = Effect.fn("Sync.Replay.book")(function* (
      book: Book,
      open: ReadonlyArray<QuarantinedRow>,
      wanted: ReadonlySet<bigint>,
      kept: KeptRows,
    ) {
      const items = [...newestOfEach(open).values()].filter(({ all }) =>
        all.some(({ quarantineId }) => wanted.has(quarantineId)),
      )
      const isSingle = ({ newest: { stream } }: Tries) =>
        resourceTypeOf(stream) === undefined && statementOf(stream) === undefined
      // First the rows that name and place movements: the address book, then the accounts.
      const singles = yield* Effect.forEach(items.filter(isSingle), (tries) => single(book, tries, kept))
      yield* facts.refresh(book)
      const movements = items.filter(({ newest }) => resourceTypeOf(newest.stream) !== undefined)
      const triedMovements = yield* resources.replay(book, movements, kept)
      const entries = items.filter(({ newest }) => statementOf(newest.stream) !== undefined)
      const triedEntries = yield* statements.replay(book, entries, kept)
      const tried = [...singles.flat(), ...triedMovements, ...triedEntries]
      return tried.filter(({ row }) => wanted.has(row.quarantineId))
    })

    return { replay }
  }),
}) {}
